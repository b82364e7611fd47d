"""The list that the Query explorer looks at: which it is, and all that is exact about it."""

from dataclasses import dataclass, replace
from textwrap import shorten

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.widgets.list_panel import orderings_text
from metrics import parse
from metrics.studies.one_list import orderings
from metrics.studies.one_list.query import first_rank_chances, ladder, text_column
from metrics.ties import Ranking

LETTERS = 240
"""Letters of an ordering or a text that a table shows."""
PLACED = 1_000_000
"""Documents placed by all draws together."""
ALONE = "no other"


@dataclass(frozen=True, eq=False)
class ListInView:
    """The list that is looked at.

    Attributes:
        view: what the sidebar says.
        reranker, query, measure: which list, and by what.
        ranking: the list alone.
        rows: its ladder, with text where the run has it.
        chances: of each rank of its first relevant document.
        counts: its orderings and relevance patterns.
        scores: index measure, columns treatments and std.
        beside: reranker whose list of the same query stands beside it, None for none.
    """

    view: session.View
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
        """How many orderings, in words."""
        return orderings_text(self.counts.log10_orderings, self.counts.orderings)

    @property
    def columns(self) -> list[str]:
        """Measures of a table of orderings."""
        return list(dict.fromkeys([*([] if self.own_rule else [self.measure]), "RR", "Hits@3"]))

    @property
    def treatments(self) -> dict[str, str]:
        """What each value of a measure is called, and the treatment that gives it."""
        traditional = self.view.traditional
        return {"traditional": traditional, "tied": "expected", "worst": "pessimistic", "best": "optimistic"}

    @property
    def own_rule(self) -> bool:
        """Whether the measure has its own rule for ties, so that it is no mean over orderings."""
        return parse(self.measure).measure.family.own_rule


def choose_list(view: session.View) -> ListInView:
    """The controls of the page, and the list they name."""
    asked = st.container()
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        first = st.empty()
        reranker = session.select("Reranker", view.rerankers, "reranker", width=240)
        second = st.empty()
    measure = session.measure()
    values = view.evaluation.scores.loc[reranker][measure]
    gap = (values[view.traditional] - values["expected"]).abs()
    names = list(gap.sort_values(ascending=False, kind="stable").index)
    with first:
        query = session.select("Query, largest gap first", names, "query", width=240)
    asking = view.evaluation.scores.xs(query, level="query_id").index
    others = [name for name in view.rerankers if name != reranker and name in asking]
    with second:
        beside = session.select("Beside", [ALONE, *others], "beside", width=240)
    one = load_list(view, reranker, query, measure)
    with asked:
        _words(one)
    return replace(one, beside=None if beside == ALONE else beside)


def load_list(view: session.View, reranker: str, query: str, measure: str) -> ListInView:
    """One list, with all that is exact about it."""
    how = view.scoring
    ranking = Ranking.of_query(view.board.runs, reranker, query, how.relevant_from, how.precision)
    documents, rows = ranking.documents_of(query), ladder(ranking, query)
    text = text_column(view.board.runs, reranker, ranking.rows[documents], "doc_text")
    ties = [view.traditional, "expected", "pessimistic", "optimistic"]
    return ListInView(
        view=view,
        reranker=reranker,
        query=query,
        measure=measure,
        ranking=ranking,
        rows=rows if text is None else rows.assign(text=text),
        chances=first_rank_chances(ranking, query),
        counts=orderings.count_orderings(ranking, query),
        scores=orderings.list_values(ranking, query, view.evaluation.measures, ties),
    )


def _words(one: ListInView) -> None:
    """What the query says, where the run tells."""
    documents = one.ranking.documents_of(one.query)[:1]
    text = text_column(one.view.board.runs, one.reranker, one.ranking.rows[documents], "query_text")
    if text and text[0].strip():
        st.markdown(f":material/search: **{escape_markdown(shorten(text[0], 2 * LETTERS, placeholder=' …'))}**")


def affordable_draws(one: ListInView, measure: str, asked: int) -> int:
    """Draws a list can bear: the more of its documents count, the fewer."""
    counted = one.ranking.judged if orderings.counts_judged(measure) else one.ranking.grades > 0
    return min(asked, max(20, PLACED // max(1, int(counted.sum()))))


def value_text(value: float) -> str:
    """A value to four decimals."""
    return f"{value:.4f}"


def counted_noun(count: str, noun: str) -> str:
    """So many of a thing, in words."""
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"
