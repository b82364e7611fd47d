"""Parts of a page that show one list; used by more than one page."""

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import controls
from dashboard.charts.one_list import MAX_DOCUMENTS, tie_ladder
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.widgets.components import chart
from metrics import parse
from metrics.evaluation import ScoringOptions
from metrics.studies.one_list import ladder
from metrics.studies.prose import decimal
from metrics.support.wording import count_of
from metrics.ties import Orderings
from metrics.ties.fronts import criteria_words

if TYPE_CHECKING:
    import pandas as pd

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def orderings_text(log10: float, exact: int | None = None) -> str:
    """Return how many orders there are: in full up to a billion, then as about a power of ten."""
    if exact is not None and exact < 10**9:
        return f"{exact:,}"
    return "about 10" + f"{log10:.0f}".translate(_RAISED)


def bracket_text(scoring: ScoringOptions) -> str:
    """Return what the brackets of a ladder are."""
    key = "tie" if scoring.precision.startswith("within") else "score"
    if scoring.criteria:
        group_word = "front" if len(scoring.criteria) > 1 else "value"
        key = f"{group_word} of {criteria_words(scoring.criteria)}"
    if not scoring.tiebreak_by:
        return f"a bracket, one {key}"
    columns = " and ".join(scoring.tiebreak_by)
    return f"a dotted frame, one {key}; a bracket, level in {columns} too"


def values_text(measure: str, value: "pd.Series[float]", traditional: str) -> str:
    """Return Markdown of what one list scores: by the sort, on average, at worst and at best, or by a rule."""
    before, tied, worst, best = (
        decimal(value[ties], 4) for ties in (traditional, "expected", "pessimistic", "optimistic")
    )
    if parse(measure).measure.answers:
        return f"{measure} :blue[**{tied}**] by its own rule for ties"
    return (
        f"{measure} :orange[traditional **{before}**], :blue[tied **{tied}**], worst to best {worst} – {best}"
    )


def list_panel(view: View, reranker: str, query: str, measures: tuple[str, ...]) -> None:
    """Show one list under a chart: its ladder, its values, and the way to Queries."""
    ranking = view.ranking(reranker)
    rows = ladder(ranking, query)
    values = view.evaluation.scores.loc[(reranker, query)]
    with st.container(border=True):
        st.markdown(f":material/my_location: **{escape_markdown(query)}** · {escape_markdown(reranker)}")
        st.caption(
            f"{count_of(len(rows), 'document')}, {int(rows['relevant'].sum())} relevant. "
            f"One box, one document; {escape_markdown(bracket_text(view.scoring))}; filled: relevant."
            + " Hatched: never judged." * (not rows["judged"].all())
            + (f" The first {MAX_DOCUMENTS} are drawn." if len(rows) > MAX_DOCUMENTS else "")
        )
        k = max((parse(name).k or 0 for name in measures), default=0) or None
        chart(tie_ladder(rows, view.palette, k), "list-ladder", f"The list of {query} with its ties.")
        for name in measures:
            st.markdown(values_text(name, values[name], view.traditional))
        count = Orderings.of(ranking, query).count if len(rows) <= MAX_DOCUMENTS else None
        lists = view.evaluation.lists.loc[(reranker, query)]
        st.caption(count_of(orderings_text(lists["log10_orderings"], count), "order"))
        st.page_link(
            "views/query/query.py",
            label="Open in Queries",
            icon=":material/arrow_forward:",
            query_params=controls.list_link_parameters(reranker, query),
        )
