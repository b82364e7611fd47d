"""Load and describe one list: its documents, ties, orders and scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten

import pandas as pd
import streamlit as st

from dashboard import controls, pages
from dashboard.cache import ShownBoard, cached, drawn
from dashboard.charts.one_list import HEATMAP_ROWS, MAX_DOCUMENTS, tie_ladder
from dashboard.charts.palette import Palette
from dashboard.charts.permutations import orders_figure, permutations_figure
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.visitor import is_narrow
from dashboard.widgets.columns import measures_in_names
from dashboard.widgets.components import chart, section, section_finding, table
from metrics import parse
from metrics.evaluation import ScoringOptions
from metrics.measures import question
from metrics.studies.one_list import (
    MAX_LISTED,
    every_ordering,
    first_rank_chances,
    ladder,
    list_orderings,
    text_column,
)
from metrics.studies.orderings import list_values
from metrics.studies.permutations import PossibleValues, possible_values, sum_of_values
from metrics.studies.prose import decimal
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of
from metrics.ties import Ranking
from metrics.ties.fronts import criteria_words, criterion
from metrics.ties.permutations import OrderingCounts, count_orderings

LETTERS = 240
"""Characters of an order or a text shown in a table."""


@dataclass(frozen=True, eq=False)
class ListInView:
    """The list shown.

    Attributes:
        view: the board and settings shown.
        reranker, query, measure: names of the list and its measure.
        ranking: the ranking of this list alone.
        rows: documents with ties, criteria, and text if the run has it.
        chances: chance of each rank of the first relevant document.
        counts: number of orders and relevance patterns.
        scores: index measure, columns treatments and std.
    """

    view: View
    reranker: str
    query: str
    measure: str
    ranking: Ranking
    rows: pd.DataFrame
    chances: pd.DataFrame
    counts: OrderingCounts
    scores: pd.DataFrame

    @property
    def k(self) -> int | None:
        """Cut-off of the measure."""
        return parse(self.measure).k

    @property
    def value(self) -> pd.Series:
        """The measure under each treatment of ties."""
        return self.scores.loc[self.measure]

    @property
    def written(self) -> str:
        """The number of orders in words."""
        return orderings_text(self.counts.log10_orderings)

    @property
    def treatments(self) -> dict[str, str]:
        """Name of each value of a measure → its treatment of ties."""
        traditional = self.view.traditional
        return {"traditional": traditional, "tied": "expected", "worst": "pessimistic", "best": "optimistic"}

    @property
    def has_landing(self) -> bool:
        """Whether the ranks of single documents are worth a chart: grades count, and ties are small enough."""
        family, top = parse(self.in_question).measure.family, self.rows.head(HEATMAP_ROWS)
        return bool(not family.by_relevance and self.counts.tie_sizes and top["last"].max() <= 2 * HEATMAP_ROWS)

    @property
    def in_question(self) -> str:
        """The measure over orders: the chosen one, or the one that its rule for ties answers."""
        return str(question(parse(self.measure)))


def load_list(view: View, reranker: str, query: str, measure: str) -> ListInView:
    """Return one list with all its exact results."""
    exact_results = _exact_results(view, reranker, query, view.traditional, view.evaluation.measures)
    return ListInView(view, reranker, query, measure, *exact_results)


@cached(max_entries=64)
def _exact_results(
    view: ShownBoard, reranker: str, query: str, traditional: str, measures: tuple[str, ...]
) -> tuple[Ranking, pd.DataFrame, pd.DataFrame, OrderingCounts, pd.DataFrame]:
    """Return the ranking, rows, chances, counts and scores of `ListInView`."""
    ranking = Ranking.of(view.board.runs, reranker, view.scoring, query)
    documents, rows = ranking.documents_of(query), ladder(ranking, query)
    text = text_column(view.board.runs, reranker, ranking.rows[documents], "doc_text")
    rows = rows if text is None else rows.assign(text=text)
    for number, name in enumerate(view.scoring.criteria, 1):
        values = view.board.runs.stacks.reranker(reranker).score_column(criterion(name)[0])
        rows[f"criterion_{number}"] = values[ranking.rows[documents]]
    ties = [traditional, "expected", "pessimistic", "optimistic"]
    counts, scores = count_orderings(ranking, query), list_values(ranking, query, measures, ties)
    return ranking, rows, first_rank_chances(ranking, query), counts, scores


@cached(max_entries=64)
def possible_values_of(
    view: ShownBoard, reranker: str, query: str, measure: str, traditional: str
) -> PossibleValues:
    """Return the possible values of a list, beside those of Hits@3, or of RR if the measure is Hits@k."""
    beside = "RR" if parse(measure).measure.name == "Hits" else "Hits@3"
    ranking, *_ = _exact_results(view, reranker, query, traditional, view.evaluation.measures)
    return possible_values(ranking, query, measure, traditional, beside)


def shorten_text(text: str) -> str:
    """Shorten an order or a text for a table."""
    return text if len(text) <= LETTERS else text[:LETTERS] + " …"


def draw_permutations(possible: PossibleValues, ladder: pd.DataFrame, palette: Palette, key: str) -> None:
    """Draw the possible values of a list, and their sum."""
    narrow = is_narrow()
    figure = drawn(permutations_figure, possible, ladder, palette, is_narrow=narrow)
    alt = f"Each value of {possible.measure} with an example order and its chance; tied and traditional value."
    chart(figure, key, alt, wide=None if narrow else 720)
    section_finding(sum_of_values(possible))


def draw_orders(
    ranking: Ranking, query: str, ladder: pd.DataFrame, palette: Palette, measures: tuple[str, str]
) -> None:
    """Draw every single order of a list with its values in two measures, and list the orders."""
    orders = list_orderings(ranking, query, MAX_LISTED)
    rows = every_ordering(ranking, query, measures, MAX_LISTED)
    rows = rows.assign(documents=[" ".join(ladder["doc_id"].iloc[order]) for order in orders])
    scores = list_values(ranking, query, measures, ["expected", "pessimistic", "optimistic"])
    figure = drawn(orders_figure, orders, rows[list(measures)], scores["expected"], ladder, palette)
    chart(
        figure, "orders-drawn", "Every order of the tied documents, with its values and their mean.", wide=720
    )
    columns = shown_columns("ordering", "first_relevant")
    for measure in measures:
        columns |= shown_columns((measure, "value"), measure=measure)
    columns |= shown_columns(("documents", "ordered_documents"))
    short = rows.assign(documents=rows["documents"].map(shorten_text))
    table(short, f"Every order: {len(rows)}", "orders", columns, rows)
    st.caption(
        "  \n".join(
            f"{measure} over all orders: {decimal(row['pessimistic'], 4)} to {decimal(row['optimistic'], 4)}, "
            f"mean ({parse(str(measure)).tied}) {decimal(row['expected'], 4)}."
            for measure, row in scores.iterrows()
        )
    )


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def orderings_text(log10: float) -> str:
    """Return the number of orders in words: exact below a billion, else a power of ten."""
    if log10 < 9:  # noqa: PLR2004 a billion
        return f"{round(10**log10):,}"
    return "about 10" + f"{log10:.0f}".translate(_RAISED)


def boxes_text(lists: Sequence[pd.DataFrame], scoring: ScoringOptions) -> str:
    """Return the legend of the boxes of lists, and of their shaded blocks if one has ties."""
    has_ties = any(rows.get("level_1", rows["first"]).duplicated().any() for rows in lists)
    brackets = f"; {bracket_text(scoring)}" * has_ties
    return f"Box: one document; tall and filled: relevant, with its grade{brackets}."


def bracket_text(scoring: ScoringOptions) -> str:
    """Return the legend of the shaded blocks in a list."""
    tie_words = "of one tie" if scoring.precision.startswith("within") else "with the same score"
    if scoring.criteria:
        group_word = "of one front" if len(scoring.criteria) > 1 else "with the same value"
        tie_words = f"{group_word} of {criteria_words(scoring.criteria)}"
    if not scoring.tiebreak_by:
        return f"shaded block: documents {tie_words}"
    columns = " and ".join(scoring.tiebreak_by)
    return f"dotted frame: documents {tie_words}; shaded block: also equal in {columns}"


def values_text(measure: str, value: "pd.Series[float]", traditional: str) -> str:
    """Return Markdown of a list's traditional, tied, worst and best score, or its score by a rule."""
    before, tied, worst, best = (
        decimal(value[ties], 4) for ties in (traditional, "expected", "pessimistic", "optimistic")
    )
    if parse(measure).measure.answers:
        return f"{measure} :blue[**{tied}**] by its own rule for ties"
    return (
        f"{measure} :orange[traditional **{before}**], :blue[tied **{tied}**], worst to best {worst} – {best}"
    )


@section("Lists with the largest gap")
def largest_gaps_table(
    lists: pd.DataFrame, measure: str, name: str, n_shown: int, explanation: str = ""
) -> None:
    """Show the lists of `gaps` with the largest gap in the first measure; the download has all lists."""
    ordered = lists.loc[lists["first_gap"].abs().sort_values(ascending=False, kind="stable").index]
    columns = shown_columns(
        *("query_id", ("first_gap", "measure_gap"), "reranker"),
        *(("first_traditional", "traditional"), ("first_tied", "tied"), "tie_ratio", "max_tie_size"),
        traditional=measure,
        tied=f"Tied {measure}",
        measure=measure,
    )
    table(
        ordered.head(n_shown),
        "Lists with the largest gap",
        name,
        columns,
        lambda: measures_in_names(ordered, measure),
        explanation,
    )


def show_query_text(current: ListInView) -> None:
    """Show the text of the query, if the files have it."""
    document = current.ranking.rows[current.ranking.documents_of(current.query)[:1]]
    text = text_column(current.view.board.runs, current.reranker, document, "query_text")
    if text and text[0].strip():
        text_start = shorten(text[0], 2 * LETTERS, placeholder=" …")
        st.markdown(f":material/search: **{escape_markdown(text_start)}**")


def list_panel(view: View, reranker: str, query: str, measure: str) -> None:
    """Show one list below a chart, with a link to Queries."""
    current = load_list(view, reranker, query, measure)
    rows = current.rows
    with st.container(border=True):
        st.markdown(f":material/my_location: **{escape_markdown(query)}** · {escape_markdown(reranker)}")
        show_query_text(current)
        st.caption(
            f"{count_of(len(rows), 'document')}, {int(rows['relevant'].sum())} relevant, "
            f"{count_of(current.written, 'order')}. "
            + escape_markdown(boxes_text([rows], view.scoring))
            + " Hatched: unjudged." * (not rows["judged"].all())
            + (f" The first {MAX_DOCUMENTS} are drawn." if len(rows) > MAX_DOCUMENTS else "")
        )
        chart(tie_ladder(rows, view.palette, current.k), "list-ladder", f"The list of {query} with its ties.")
        st.markdown(values_text(measure, current.value, view.traditional))
        st.page_link(
            pages.QUERIES.file,
            label="Open in Queries",
            icon=":material/arrow_forward:",
            query_params=controls.link_parameters({"reranker": reranker, "query": query}),
        )
