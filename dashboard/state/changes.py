"""Another board from what is loaded."""

import streamlit as st

from dashboard import cache
from dashboard.components import shown
from dashboard.library import Board, Recipe
from dashboard.state.data import show
from dashboard.state.view import view
from metrics.errors import TieScopeError
from metrics.runs import Source


def remake(recipe: Recipe) -> None:
    """Show what another recipe makes of the files loaded; where it makes nothing, say why."""
    sources = [cache.source(entry) for entry in recipe.entries]
    wrong = next((one for one in sources if isinstance(one, TieScopeError)), None)
    made = wrong or cache.joined(recipe.digest, recipe, [one for one in sources if isinstance(one, Source)])
    if isinstance(made, Board):
        show(made, amends=view().record)
    else:
        st.error(shown(f"{made} Nothing was changed."), icon=":material/error:")
