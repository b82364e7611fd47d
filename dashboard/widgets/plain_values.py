"""Traditional and tied scores, shown instead of a page for measures without best and worst case."""

import streamlit as st

from dashboard import choices, controls
from dashboard.choices import MEASURE_KEYS, View
from dashboard.escaping import escape_markdown
from dashboard.widgets.components import section, table
from metrics import parse
from metrics.support.shown_columns import shown_columns

_KEYS = {"ties": MEASURE_KEYS[1:]} | dict.fromkeys(
    ("leaderboard", "rerankers", "query", "compare", "share", "present"), MEASURE_KEYS[:1]
)
"""Page → keys of its choices of a measure."""


def plain_measure_key(page: str) -> str:
    """Return the key of a page's measure that has no best and worst case, or an empty text."""
    asked = set(choices.other_measures())
    for key in _KEYS.get(page, ()):
        name = controls.get_value(key)
        if name in asked and parse(name).measure.family.no_extremes:
            return key
    return ""


@section("Traditional and tied scores")
def show_plain_values(view: View, title: str, key: str) -> None:
    """Show the traditional and tied means of the measure, and why it has no best and worst case."""
    st.title(title, anchor=False)
    name = choices.measure(key=key)
    family = parse(name).measure.family
    st.info(escape_markdown(family.no_extremes), icon=":material/info:")
    means = view.score(name, ("expected", view.traditional)).means(name)
    rows = means[[view.traditional, "expected"]].set_axis(["traditional", "tied"], axis=1)
    rows["gap"] = rows["traditional"] - rows["tied"]
    rows = rows.sort_values("tied", ascending=False).rename_axis("reranker").reset_index()
    table(rows, f"Mean {name}", "values", shown_columns("reranker", "traditional", "tied", "gap"))
