"""Queries: one list, and every order that its ties allow."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from textwrap import shorten

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import choices, controls
from dashboard.cache import ShownBoard, board_turn
from dashboard.charts import one_list as charts
from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.choices import View, choose_relevant_from
from dashboard.controls import follow_defaults
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
from dashboard.widgets import components as ui
from dashboard.widgets import one_list
from dashboard.widgets.columns import Columns
from dashboard.widgets.components import section
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import rows_left_out
from metrics import parse
from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions
from metrics.evaluation.evaluation import adds_queries
from metrics.studies import one_list as list_study
from metrics.studies import orderings
from metrics.studies.holes import are_bounds_known, can_narrow
from metrics.studies.judging import first_to_judge, plan_depth, relevance_chances
from metrics.studies.orderings import sample_values
from metrics.studies.prose import Strong, decimal
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of
from metrics.ties import treatment
from metrics.ties.fronts import criterion_words

RANKS, PERMUTATIONS, VALUES, DOCUMENTS = "Ranks", "Permutations", "Worked values", "Documents"
ALONE = "no other"
# Orders drawn where there are too many for the exact distribution.
_DRAWS, _SEED = 1000, 1


def show(view: View) -> None:
    """Draw the page."""
    st.title("Queries", anchor=False)
    current = choose_list(view)
    words = current.measure, view.traditional, current.written
    ui.finding(list_study.query_finding(current.rows, current.chances, current.value, *words), view.rerankers)
    four_values(current)
    if not len(current.rows):
        st.info("The run has no documents for this query.", icon=":material/info:")
        return
    list_section(current)
    section = controls.choose_section([RANKS, PERMUTATIONS, VALUES, DOCUMENTS])
    if section == VALUES:
        values_section(current)
    elif section == DOCUMENTS:
        documents_table(current)
    elif not current.counts.tie_sizes:
        st.info("Without ties, each document has one rank.", icon=":material/check:")
    elif section == PERMUTATIONS:
        orders_table(current)
    else:
        wide, narrow = ui.side_by_side(3, 2, "landing")
        with wide:
            landing_section(current)
        with narrow:
            histogram_section(current)
            first_rank_section(current)


def choose_list(view: View) -> one_list.ListInView:
    """Draw the controls and the query's text; return the list, at first the one with the largest gap."""
    row = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = choices.measure()
        choose_relevant_from(view.board)
    view_key = view, measure, view.traditional
    lists = view.list_study(list_study.lists_by_gap, measure, view.traditional)
    with row:
        place = st.empty()
        reranker = _choose_reranker(view, lists.iloc[0], _labels(*view_key, ""))
        with place:
            labels = _labels(*view_key, reranker)
            query = controls.select(
                "Query, largest gap first",
                list(labels),
                "query",
                width=300,
                help="Each query with the gap and the tie ratio of this reranker's list.",
                format_func=labels.__getitem__,
                filter_mode="contains",
            )
        others = set(lists.loc[lists["query_id"] == query, "reranker"]) - {reranker}
        alternatives = [name for name in view.rerankers if name in others]
        beside = controls.select_name("Beside", [ALONE, *alternatives], "beside", width=240)
    current = one_list.load_list(view, reranker, query, measure)
    document = current.ranking.documents_of(query)[:1]
    text = list_study.text_column(view.board.runs, reranker, current.ranking.rows[document], "query_text")
    if text and text[0].strip():
        st.markdown(
            f":material/search: **{escape_markdown(shorten(text[0], 2 * one_list.LETTERS, placeholder=' …'))}**"
        )
    return replace(current, beside=None if beside == ALONE else beside)


def _choose_reranker(view: View, first: pd.Series, labels: dict[str, str]) -> str:
    """Draw the choice of a reranker, at first that of the list with the largest gap.

    Links of earlier versions may name a query and leave out the first reranker of the board.
    """
    follow_defaults({"reranker": str(first["reranker"]), "query": str(first["query_id"])})
    query = controls.get_value("query")
    is_old_link = bool(query) and not controls.get_value("reranker")
    default = view.rerankers[0] if is_old_link else str(first["reranker"])
    is_named = query not in ("", first["query_id"])
    return controls.select(
        "Reranker",
        list(labels),
        "reranker",
        default,
        is_explicit=is_named,
        width=340,
        help="Each reranker with its largest gap and its mean tie ratio.",
        format_func=labels.__getitem__,
        filter_mode="contains",
    )


@section("The cards")
def four_values(current: one_list.ListInView) -> None:
    """Draw the measure_at measure in four cards."""
    name = current.in_question
    value, behind = current.scores.loc[name], f"mean of {count_of(current.written, 'order')}"
    worst, best = one_list.value_text(value["pessimistic"]), one_list.value_text(value["optimistic"])
    ends = (
        ui.Card("arrow_downward", "Worst case", worst, "relevant documents last"),
        ui.Card("arrow_upward", "Best case", best, "relevant documents first"),
    )
    own = ui.Card(
        "gavel",
        current.measure,
        one_list.value_text(current.value["expected"]),
        "by the measure's own tie rule",
        "blue",
    )
    traditional = current.view.traditional
    order = treatment(traditional).label
    ui.cards(
        *([own] if current.own_rule else []),
        ui.Card("diamond", f"Traditional {name}", one_list.value_text(value[traditional]), order, "orange"),
        ui.Card("circle", f"Tied {name}", one_list.value_text(value["expected"]), behind, "blue"),
        *(
            [ui.Card("height", f"Worst to best {name}", f"{worst} – {best}", behind)]
            if current.own_rule
            else ends
        ),
    )


@section("The list and its ties")
def list_section(current: one_list.ListInView) -> None:
    """Draw the list with its ties, and a second list if one is measure_at."""
    view, rows = current.view, current.rows
    other = current.beside and one_list.load_list(view, current.beside, current.query, current.measure)
    first = (
        f" The first {charts.MAX_DOCUMENTS} of {len(rows):,} documents."
        if len(rows) > charts.MAX_DOCUMENTS
        else ""
    )
    drawn = [rows, *([other.rows] if other else [])]
    explained = escape_markdown(one_list.boxes_text(drawn, view.scoring))
    first_to_judge, hatched = _unjudged(current, drawn)
    ui.heading("The list and its ties", explained + hatched + first)
    alt = f"The list of {current.query} with its ties."
    if not other:
        figure = kept_figure(charts.tie_ladder, rows, view.palette, current.k, first_to_judge)
        ui.chart(figure, "ladder", alt, wide=560)
    else:
        names = current.reranker, other.reranker
        figure = kept_figure(
            charts.ladder_pair, rows, other.rows, names, view.palette, current.k, first_to_judge
        )
        ui.chart(figure, "ladders", alt, wide=640)
        followed = "the relevant documents" + " and the one to judge first" * bool(first_to_judge)
        st.caption(
            f"Lines follow {followed}. {escape_markdown(other.reranker)}: "
            f"{one_list.values_text(other.measure, other.value, view.traditional)}, "
            f"{count_of(other.written, 'order')}."
        )
    if len(rows) > charts.MAX_DOCUMENTS:
        ranked_by = list_study.rank_column(rows)
        ui.heading(
            "The whole list",
            f"Chance that the document at a rank is relevant. Above: one step per {ranked_by}. Below: ties.",
        )
        figure = charts.relevance_steps(list_study.tie_groups(rows), view.palette, current.k)
        ui.chart(figure, "whole", "Chance of a relevant document along the list.", wide=560)


def _unjudged(current: one_list.ListInView, lists: Sequence[pd.DataFrame]) -> tuple[str | None, str]:
    """Return the document to judge first if a drawn list has it, and the legend of hatched boxes."""
    drawn_rows = pd.concat([rows.head(charts.MAX_DOCUMENTS) for rows in lists])
    if drawn_rows["judged"].all():
        return None, ""
    view = current.view
    document = _document_to_judge(view, current.measure, current.query)
    if document not in set(drawn_rows["doc_id"]):
        return None, " Hatched: unjudged."
    return document, " Hatched: unjudged; strong outline: the document to judge first."


@section("Where each document can land")
def landing_section(current: one_list.ListInView) -> None:
    """Draw the possible ranks of each document, or of one document per score in lists with large ties."""
    n, palette = len(current.rows), current.view.palette
    shown_rows = current.rows.head(charts.HEATMAP_ROWS)
    if shown_rows["last"].iloc[-1] <= 2 * charts.HEATMAP_ROWS:
        top = f" The top {charts.HEATMAP_ROWS} of {n:,}." if n > charts.HEATMAP_ROWS else ""
        ui.heading("Where each document can land", "Chance of each rank; bold: the grade." + top)
        ui.chart(
            kept_figure(charts.rank_heatmap, current.rows, palette, current.k),
            "landing",
            "Chance of each document at each rank.",
        )
        return
    groups, ranked_by = list_study.tie_groups(current.rows), list_study.rank_column(current.rows)
    top = (
        f" The top {charts.HEATMAP_ROWS} of {len(groups):,} {ranked_by}s."
        if len(groups) > charts.HEATMAP_ROWS
        else ""
    )
    ui.heading(
        f"Where a document of each {ranked_by} can land",
        f"Chance of each range of ranks for one document of a {ranked_by}; bold: relevant documents of that "
        f"{ranked_by}.{top}",
    )
    alt = f"Chance of each range of ranks for a document of each {ranked_by}."
    ui.chart(charts.tie_group_heatmap(groups, palette), "landing-ties", alt)


@section("First relevant document")
def first_rank_section(current: one_list.ListInView) -> None:
    """Draw the chance of each rank of the first relevant document."""
    if not len(current.chances):
        ui.heading("First relevant document", "")
        st.info("The list holds no relevant document.", icon=":material/info:")
        return
    mean = (current.chances["rank"] * current.chances["chance"]).sum()
    ui.heading(
        "First relevant document",
        f"Exact chance of each rank over all orders (mean {mean:,.2f}). Diamond: traditional.",
    )
    listed_rank = list_study.first_rank_under(current.ranking, current.query, current.view.traditional)
    alt = "Exact distribution of the rank of the first relevant document."
    ui.chart(
        kept_figure(charts.first_hit_bars, current.chances, current.view.palette, listed_rank), "first-hit", alt
    )


@section("The values over all orderings")
def histogram_section(current: one_list.ListInView) -> None:
    """Draw the distribution of the measure over all orders, exact or from random orders."""
    if current.own_rule:
        st.info(
            f"{current.measure} settles ties by its own rule: one value, not a distribution over orders.",
            icon=":material/info:",
        )
        return
    distribution = orderings.distribution(current.ranking, current.query, current.measure, current.chances)
    source = f"Exact, over {count_of(current.written, 'order')}."
    if distribution is None:
        n = one_list.affordable_draws(current, current.measure, _DRAWS)
        sample = sample_values(current.ranking, current.query, current.measure, n, _SEED)
        distribution = orderings.merge_values(sample, np.full(n, 1 / n))
        source = (
            f"Estimated from {n:,} random orders of {current.written}. The values marked in the chart are "
            "exact."
        )
    ui.heading(f"{current.measure} across the orders", source)
    marks = pd.Series({name: current.value[ties] for name, ties in current.treatments.items()})
    alt = f"Share of orderings with each value of {current.measure}; tied, traditional, worst and best marked."
    ui.chart(
        kept_figure(charts.value_histogram, distribution, marks, current.view.palette, current.measure),
        "histogram",
        alt,
    )


@cached_by_key(show_spinner=False, max_entries=32)
def _labels(view: ShownBoard, measure: str, traditional: str, reranker: str) -> dict[str, str]:
    """Return reranker, or query of one reranker → its label with gap and tie ratio, the largest gap first."""
    lists, by = view.list_study(list_study.lists_by_gap, measure, traditional), "reranker"
    if reranker:
        lists, by = lists[lists["reranker"] == reranker], "query_id"
    rows = lists.groupby(by, sort=False).agg(gap=("gap", "first"), tie_ratio=("tie_ratio", "mean"))
    ids = rows.index.astype(str)
    names = ids if reranker else map(short_names(ids, TABLE_COLUMNS).get, ids)
    labels = map(list_study.list_label, names, rows["gap"], rows["tie_ratio"])
    return dict(zip(ids, labels, strict=True))


@cached_by_key(show_spinner=False, max_entries=4)
def _relevance_chances(board: Board, scoring: ScoringOptions, depth: int) -> "pd.Series[float] | None":
    """Return the chance of each unjudged document to be relevant, None if it cannot be estimated."""
    with board_turn(board), suppress(UsageError):
        return relevance_chances(board.runs, scoring, depth)
    return None


@cached_by_key(show_spinner=False, max_entries=64)
def _document_to_judge(view: ShownBoard, measure: str, query: str) -> str | None:
    """Return the document of a query to judge first, as on the Leaderboard, None without one."""
    name, runs = parse(measure), view.board.runs
    if runs.qrels is None or not (are_bounds_known(name) and can_narrow(name)):
        return None
    if adds_queries(runs, view.scoring):
        return None
    chances = _relevance_chances(view.board, view.scoring, plan_depth(name))
    return None if chances is None else first_to_judge(view.runs, measure, view.scoring, query, chances)


MAX_STEPS = 250
"""Ranks shown in a table at most."""
_USUAL_CUTOFF = 10


@section("Worked values")
def values_section(current: one_list.ListInView) -> None:
    """Draw every measure of the list, and what each rank adds to AP and nDCG."""
    _values_table(current)
    measure_at = parse(current.measure)
    k = measure_at.k if measure_at.measure.name == "nDCG" and measure_at.k else _USUAL_CUTOFF
    by_order, by_all = (
        list_study.value_steps(current.ranking, current.query, ties, k).set_index("rank")
        for ties in (current.view.traditional, "expected")
    )
    steps = by_all.join(by_order.add_suffix("_by_order"), how="outer")
    order = treatment(current.view.traditional).order
    rows = steps[(steps["chance"] > 0) | (steps["chance_by_order"] > 0)]
    columns = shown_columns(
        *("rank", ("precision_by_order", "precision_there"), ("ap_term_by_order", "adds")),
        order=order,
        measure="AP",
    ) | shown_columns(
        *(("chance", "relevant_chance"), ("precision", "tied_precision"), ("ap_term", "adds")),
        measure="tied AP",
    )
    _steps_table(rows, "AP, rank by rank", columns, ("ap_term_by_order", "AP"), ("ap_term", "tied AP"))
    ndcg = f"nDCG@{k}"
    columns = shown_columns(
        *("rank", "discount", ("gain_by_order", "rank_gain"), ("ndcg_term_by_order", "adds")),
        order=order,
        measure=ndcg,
    ) | shown_columns(("gain", "tied_gain"), ("ndcg_term", "adds"), measure=f"tied {ndcg}")
    sums = ("ndcg_term_by_order", ndcg), ("ndcg_term", f"tied {ndcg}")
    _steps_table(steps[steps.index <= k], f"{ndcg}, rank by rank", columns, *sums)


def _values_table(current: one_list.ListInView) -> None:
    rows = pd.DataFrame({name: current.scores[treatment] for name, treatment in current.treatments.items()})
    std = current.scores["std"].copy()
    own_rules = [measure for measure in std.index if parse(measure).measure.answers]
    if own_rules:
        rows.loc[own_rules, ["traditional", "worst", "best"]] = std[own_rules] = np.nan
    gap = (rows["traditional"] - rows["tied"]).round(12) + 0.0
    columns = shown_columns(
        *("measure", "traditional", "tied", ("gap", "list_gap"), "worst", "best", ("std", "ordering_std"))
    )
    ui.table(rows.assign(gap=gap, std=std).reset_index(), "Every measure of this list", "list-values", columns)
    if own_rules:
        st.caption(f"{', '.join(own_rules)}: one value, because the measure settles ties by its own rule.")


def _steps_table(rows: pd.DataFrame, title: str, columns: Columns, *sums: tuple[str, str]) -> None:
    """Draw the terms of each rank and their sums: column → measure."""
    words: list[str | Strong] = ["The terms add up to "]
    for number, (column, name) in enumerate(sums):
        words += [" and ", f"{name} "] if number else [f"{name} "]
        words.append(Strong(decimal(rows[column].sum(), 4)))
    ui.table(rows.head(MAX_STEPS).reset_index(), title, title.partition(",")[0], columns, rows.reset_index())
    ui.section_finding((*words, "."))


MAX_ORDERS = 5040
"""Orders or patterns listed at most: those of seven tied documents."""
FIRST_ORDERS = 250
"""Orders or patterns shown at most."""
MAX_CELLS = 500_000
"""Documents in all listed orders at most."""
MAX_SHARED = 30
"""Characters that all orders may have in common; longer common starts are left out of the table."""
MAX_SIZES = 6
"""Ties whose sizes are listed one by one."""
PATTERNS, ORDERS = "Relevance patterns", "Single orders"


@section("Permutations")
def orders_table(current: one_list.ListInView) -> None:
    """Draw every relevance pattern or every order, if all can be listed."""
    counts = current.counts
    numbers = {PATTERNS: counts.patterns, ORDERS: counts.orderings}
    most = min(MAX_ORDERS, MAX_CELLS // len(current.rows))
    can_list = [kind for kind, number in numbers.items() if number is not None and number <= most]
    st.markdown(_counts_text(current))
    if not can_list:
        st.caption(
            f"Patterns are listed only if there are at most {most:,}. **Ranks** shows the distribution of the "
            "values."
        )
        one_list.describe_values(current.scores.loc[current.columns])
        return
    kind = PATTERNS
    if len(can_list) > 1:
        kind = controls.segmented("Show", can_list, "every", label_visibility="collapsed")
    number = numbers[kind] or 0
    if kind == ORDERS:
        list_orders, text, name = list_study.every_ordering, "documents", "order"
        columns, last = shown_columns("ordering", "first_relevant"), ("documents", "ordered_documents")
    else:
        list_orders, text, name = orderings.every_pattern, "grades", "relevance pattern"
        columns = shown_columns("pattern", "orderings", "chance", "first_relevant")
        last = "grades", "ordered_grades"
    for measure in current.columns:
        columns |= shown_columns((measure, "value"), measure=measure)
    listing = partial(list_orders, current.ranking, current.query, current.columns)
    rows = listing(min(FIRST_ORDERS, number))
    texts, n_shared = _without_shared_start(list(rows[text]))
    explanations = [
        rows_left_out(len(rows), number),
        f"The first {n_shared:,} ranks are the same in all rows shown and are left out." * (n_shared > 0),
    ]
    ui.table(
        rows.assign(**{text: list(map(one_list.shorten_text, texts))}),
        f"Every {name}: {number:,}",
        f"{name.replace(' ', '-')}s",
        columns | shown_columns(last),
        partial(listing, number),
        " ".join(filter(None, explanations)),
    )
    one_list.describe_values(current.scores.loc[current.columns])


def _counts_text(current: one_list.ListInView) -> str:
    counts = current.counts
    patterns = one_list.orderings_text(counts.log10_patterns, counts.patterns)
    each = one_list.orderings_text(counts.log10_orderings - counts.log10_patterns, counts.shared)
    sizes = [f"{size:,}" for size in counts.tie_sizes]
    ties = f"ties of {', '.join(sizes)} documents"
    if len(sizes) > MAX_SIZES:
        ties = f"{len(sizes):,} ties, the largest of {max(counts.tie_sizes):,} documents"
    return (
        f"**{count_of(current.written, 'order')}** from {ties}: {count_of(patterns, 'relevance pattern')}, "
        f"{count_of(each, 'order')} each."
    )


def _without_shared_start(texts: list[str]) -> tuple[list[str], int]:
    """Return orders without a long common start, and the number of ranks left out."""
    orders = [text.split(" ") for text in texts]
    low, high = min(orders), max(orders)
    n_shared = next((place for place, pair in enumerate(zip(low, high, strict=False)) if len(set(pair)) > 1), 0)
    if len(" ".join(low[:n_shared])) < MAX_SHARED:
        return texts, 0
    n_places = sum(part != "|" for part in low[:n_shared])
    return ["… " + " ".join(order[n_shared:]) for order in orders], n_places


MOST_ROWS = 1_000
"""Documents shown in the table at most."""


@section("The table of documents")
def documents_table(current: one_list.ListInView) -> None:
    """Draw the documents of the list, or its tie groups."""
    kinds = ("Documents", "Tie groups")
    if controls.segmented("Rows", kinds, "rows", label_visibility="collapsed") == kinds[1]:
        _tie_group_table(current)
        return
    rows = current.rows.assign(
        group=current.rows["group"] + 1, grade=current.rows["grade"].where(current.rows["judged"])
    ).drop(columns="judged")
    shown_rows = rows.head(MOST_ROWS)
    places = [
        f"{first:,}" if first == last else f"{first:,} to {last:,}"
        for first, last in zip(shown_rows["first"], shown_rows["last"], strict=True)
    ]
    shown_rows = shown_rows.assign(places=places)
    columns = shown_columns("place", "doc_id", list_study.rank_column(rows))
    for number, text in enumerate(current.view.scoring.criteria, 1):
        columns |= shown_columns((f"criterion_{number}", "criterion"), column=criterion_words(text))
    names = short_names(current.view.scoring.tiebreak_by, TABLE_COLUMNS)
    for number, name in enumerate(names.values(), 1):
        columns |= shown_columns((f"further_{number}", "further_score"), column=name)
    columns |= shown_columns("grade", ("group", "document_group"), ("places", "possible_places"))
    if "text" in shown_rows:
        shown_rows = shown_rows.assign(text=shown_rows["text"].map(one_list.shorten_text))
        columns |= shown_columns("text")
    title = (
        f"The documents: {len(rows):,}"
        if len(rows) <= MOST_ROWS
        else f"The first {MOST_ROWS:,} of {len(rows):,} documents"
    )
    ui.table(shown_rows, title, "list", columns, download=rows)


def _tie_group_table(current: one_list.ListInView) -> None:
    groups = list_study.tie_groups(current.rows)
    groups["group"] += 1
    columns = shown_columns(
        "group",
        ("first", "from_place"),
        ("last", "to_place"),
        ("documents", "n_documents"),
        ("relevant", "n_relevant"),
        list_study.rank_column(groups),
    )
    ui.table(groups, f"The tie groups: {len(groups):,}", "tie-groups", columns)
