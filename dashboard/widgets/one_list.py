"""The list that the page Queries looks at: which it is, and all that is exact about it."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.cache import ShownBoard
from dashboard.charts.one_list import MAX_DOCUMENTS, tie_ladder
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import chart
from metrics import parse
from metrics.evaluation import ScoringOptions
from metrics.measures import question
from metrics.studies import orderings
from metrics.studies.one_list import first_rank_chances, ladder, text_column
from metrics.studies.prose import decimal
from metrics.support.wording import count_of
from metrics.ties import Orderings, Ranking
from metrics.ties.fronts import criteria_words, criterion
from metrics.ties.ranking import score_column

LETTERS = 240
"""Letters of an order or a text that a table shows."""
_MAX_PLACED = 1_000_000
"""Documents placed by all draws together."""


@dataclass(frozen=True, eq=False)
class ListInView:
    """The list that is looked at.

    Attributes:
        view: what the sidebar says.
        reranker, query, measure: which list, and by what.
        ranking: the list alone.
        rows: its ladder, with the criteria that rank, and text where the run has it.
        chances: of each rank of its first relevant document.
        counts: its orderings and relevance patterns.
        scores: index measure, columns treatments and std.
        beside: reranker whose list of the same query stands beside it, None for none.
    """

    view: View
    reranker: str
    query: str
    measure: str
    ranking: Ranking
    rows: pd.DataFrame
    chances: pd.DataFrame
    counts: orderings.OrderingCounts
    scores: pd.DataFrame
    beside: str | None = None

    @property
    def k(self) -> int | None:
        """Cut-off of the measure."""
        return parse(self.measure).k

    @property
    def value(self) -> pd.Series:
        """The measure under each treatment."""
        return self.scores.loc[self.measure]

    @property
    def written(self) -> str:
        """How many orders, in words."""
        return orderings_text(self.counts.log10_orderings, self.counts.orderings)

    @property
    def columns(self) -> list[str]:
        """Measures of a table of orderings."""
        return list(dict.fromkeys([self.in_question, "RR", "Hits@3"]))

    @property
    def treatments(self) -> dict[str, str]:
        """What each value of a measure is called, and the treatment that gives it."""
        traditional = self.view.traditional
        return {"traditional": traditional, "tied": "expected", "worst": "pessimistic", "best": "optimistic"}

    @property
    def own_rule(self) -> bool:
        """Whether the measure has its own rule for ties, so that it is no mean over orderings."""
        return bool(parse(self.measure).measure.answers)

    @property
    def in_question(self) -> str:
        """The measure whose orderings are drawn: the chosen one, or that whose ties it settles by its rule."""
        return str(question(parse(self.measure)))


def load_list(view: View, reranker: str, query: str, measure: str) -> ListInView:
    """Return one list, with all that is exact about it."""
    ranking = view.scoring.ranking(view.board.runs, reranker, query)
    documents, rows = ranking.documents_of(query), ladder(ranking, query)
    text = text_column(view.board.runs, reranker, ranking.rows[documents], "doc_text")
    rows = rows if text is None else rows.assign(text=text)
    for number, name in enumerate(view.scoring.criteria, 1):
        values = score_column(view.board.runs.tables[reranker], criterion(name)[0])
        rows[f"criterion_{number}"] = values[ranking.rows[documents]]
    counts, scores = _counts_and_scores(
        view, reranker, query, view.traditional, view.evaluation.measures, ranking
    )
    return ListInView(
        view=view,
        reranker=reranker,
        query=query,
        measure=measure,
        ranking=ranking,
        rows=rows,
        chances=first_rank_chances(ranking, query),
        counts=counts,
        scores=scores,
    )


@cached_by_key(show_spinner=False, max_entries=64)
def _counts_and_scores(
    view: ShownBoard,  # noqa: ARG001 what is shown, by which the results are told apart
    reranker: str,  # noqa: ARG001 likewise
    query: str,
    traditional: str,
    measures: tuple[str, ...],
    _ranking: Ranking,
) -> tuple[orderings.OrderingCounts, pd.DataFrame]:
    """Return the orderings of a list, counted, and its values, whatever measure it is looked at by."""
    ties = [traditional, "expected", "pessimistic", "optimistic"]
    return orderings.count_orderings(_ranking, query), orderings.list_values(_ranking, query, measures, ties)


def affordable_draws(list_in_view: ListInView, measure: str, n_wanted: int) -> int:
    """Return the draws that a list can bear: the more of its documents contribute, the fewer."""
    contributes = (
        list_in_view.ranking.judged if orderings.counts_judged(measure) else list_in_view.ranking.grades > 0
    )
    return min(n_wanted, max(20, _MAX_PLACED // max(1, int(contributes.sum()))))


def value_text(value: float) -> str:
    """Return a value to four decimals."""
    return decimal(value, 4)


def shorten_text(text: str) -> str:
    """Return as much of an order or a text as a table shows."""
    return text if len(text) <= LETTERS else text[:LETTERS] + " …"


def describe_values(scores: pd.DataFrame) -> None:
    """Draw the range and the mean of measures over all orderings of a list, listed or not."""
    st.caption(
        "  \n".join(
            f"{measure} over all orders: {value_text(row['pessimistic'])} to "
            f"{value_text(row['optimistic'])}, mean ({parse(str(measure)).tied}) {value_text(row['expected'])}."
            for measure, row in scores.iterrows()
        )
    )


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
            "views/query.py",
            label="Open in Queries",
            icon=":material/arrow_forward:",
            query_params=controls.list_link_parameters(reranker, query),
        )
