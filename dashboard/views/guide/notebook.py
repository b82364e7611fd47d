"""The section of the Guide on the notebook: each of its tables and figures, and where it is here."""

import streamlit as st

from dashboard import cache, session
from dashboard.escaping import escape_markdown
from dashboard.widgets.components import heading
from metrics.studies.guide.notebook_map import NOTEBOOK, Shown

_TITLES = {
    "simulator": "Simulator",
    "rerankers": "Rerankers",
    "query": "Query explorer",
    "leaderboard": "Leaderboard",
}


def notebook() -> None:
    """What the notebook prints and draws, in its order."""
    heading(
        "The notebook, place by place",
        "Every table and figure of the notebook on MTRR and TMHits@K; drawn again, its figures come out.",
    )
    grid = st.grid(2, min_column_width=300)
    for one in NOTEBOOK:
        with grid.container(border=True, height="stretch"):
            figures = f"  \n:blue[{escape_markdown(', '.join(one.figures))}]" if one.figures else ""
            st.markdown(f"**{escape_markdown(one.printed)}**  \n{escape_markdown(one.says)}{figures}")
            st.page_link(
                f"views/{one.page}/{one.page}.py",
                label=f"{_TITLES[one.page]}, {one.place}",
                icon=":material/arrow_forward:",
                query_params=_link(one),
            )


def _link(one: Shown) -> dict[str, str]:
    """Choices of a place, beside those that are made."""
    choices = dict(one.link)
    if "data" in choices:
        choices["data"] = cache.SIMULATED_LABEL
    return session.link_parameters(choices)
