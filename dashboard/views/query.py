"""Queries: one list, and every order that its ties allow."""

from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import choices, controls
from dashboard.cache import ShownBoard, cached
from dashboard.charts import one_list as charts
from dashboard.charts.labels import short_names
from dashboard.choices import Selection, choose_relevant_from
from dashboard.escaping import escape_markdown
from dashboard.widgets import components as ui
from dashboard.widgets import one_list
from dashboard.widgets.components import section
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import rows_left_out
from metrics import parse
from metrics.studies import one_list as list_study
from metrics.studies import orderings
from metrics.studies.prose import Strong, decimal
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of
from metrics.ties import treatment
from metrics.ties.fronts import criterion_words

if TYPE_CHECKING:
    from collections.abc import Callable

RANKS, PERMUTATIONS, VALUES, DOCUMENTS = "Ranks", "Permutations", "Worked values", "Documents"
ALONE = "no other"
_DRAWS, _LEAST_DRAWS, _SEED = 1000, 20, 1
"""Most and fewest orders drawn where there are too many for the exact distribution."""
_MAX_PLACED = 1_000_000
"""Documents ranked in all random orders together at most."""


def show(selection: Selection) -> None:
    """Draw the page."""
    st.title("Queries", anchor=False)
    verdict = st.container()
    current, beside = choose_list(selection)
    words = current.measure, current.view.traditional, current.written
    prose = list_study.query_finding(current.rows, current.chances, current.value, *words)
    with verdict:
        ui.finding(prose, current.view.rerankers)
    four_values(current)
    if not len(current.rows):
        st.info("The run has no documents for this query.", icon=":material/info:")
        return
    list_section(current, beside)
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


def choose_list(selection: Selection) -> tuple[one_list.ListInView, str | None]:
    """Draw the controls and the query's text; return the list, and the reranker to show beside it.

    At first, the list is the one with the largest gap.
    """
    row = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = choices.measure()
        choose_relevant_from(selection.board)
    view = selection.score(measure)
    lists = view.list_study(list_study.lists_by_gap, measure, view.traditional)
    first_reranker, first_query = lists.loc[0, ["reranker", "query_id"]].astype(str)
    firsts = {"reranker": first_reranker, "query": first_query}
    is_chosen = any(controls.get_text(key) not in ("", first) for key, first in firsts.items())
    with row:
        place = st.empty()
        reranker = _choose_label(
            "Reranker",
            "reranker",
            _labels(view, measure, view.traditional, ""),
            default=first_reranker,
            is_explicit=is_chosen,
            width=340,
            help="Each reranker with its largest gap and its mean tie ratio.",
        )
        queries = _labels(view, measure, view.traditional, reranker)
        with place:
            query = _choose_label(
                "Query, largest gap first",
                "query",
                queries,
                default=first_query if first_query in queries else "",
                is_explicit=is_chosen,
                width=300,
                help="Each query with the gap and the tie ratio of this reranker's list.",
            )
        others = set(lists.loc[lists["query_id"] == query, "reranker"]) - {reranker}
        alternatives = [name for name in view.rerankers if name in others]
        beside = controls.select_name("Beside", [ALONE, *alternatives], "beside", width=240)
    current = one_list.load_list(view, reranker, query, measure)
    document = current.ranking.documents_of(query)[:1]
    text = list_study.text_column(view.board.runs, reranker, current.ranking.rows[document], "query_text")
    if text and text[0].strip():
        text_start = shorten(text[0], 2 * one_list.LETTERS, placeholder=" …")
        st.markdown(f":material/search: **{escape_markdown(text_start)}**")
    return current, None if beside == ALONE else beside


def _choose_label(label: str, key: str, labels: dict[str, str], **options: Any) -> str:  # noqa: ANN401 passed on
    return controls.select(
        label, list(labels), key, format_func=labels.__getitem__, filter_mode="contains", **options
    )


@section("The cards")
def four_values(current: one_list.ListInView) -> None:
    """Draw the measure in cards: traditional, tied, worst and best, or the range beside its own rule."""
    name, traditional = current.in_question, current.view.traditional
    value, behind = current.scores.loc[name], f"mean of {count_of(current.written, 'order')}"
    behind = behind if len(current.rows) else "no documents"
    worst, best = decimal(value["pessimistic"]), decimal(value["optimistic"])
    order = treatment(traditional).label
    row = [
        ui.Card("diamond", f"Traditional {name}", decimal(value[traditional]), order, "orange"),
        ui.Card("circle", f"Tied {name}", decimal(value["expected"]), behind, "blue"),
    ]
    if current.has_own_rule:
        own, note = decimal(current.value["expected"]), "by the measure's own tie rule"
        row.insert(0, ui.Card("gavel", current.measure, own, note, "blue"))
        row.append(ui.Card("height", f"Worst to best {name}", f"{worst} – {best}", behind))
    else:
        row.append(ui.Card("arrow_downward", "Worst case", worst, "relevant documents last"))
        row.append(ui.Card("arrow_upward", "Best case", best, "relevant documents first"))
    ui.cards(*row)


@section("The list and its ties")
def list_section(current: one_list.ListInView, beside: str | None) -> None:
    """Draw the list with its ties, and the list of another reranker if one is chosen."""
    view, rows = current.view, current.rows
    other = beside and one_list.load_list(view, beside, current.query, current.measure)
    tables = [rows, other.rows] if other else [rows]
    is_hatched = not all(rows["judged"].head(charts.MAX_DOCUMENTS).all() for rows in tables)
    boxes = escape_markdown(one_list.boxes_text(tables, view.scoring)) + " Hatched: unjudged." * is_hatched
    is_cut = len(rows) > charts.MAX_DOCUMENTS
    first = f" The first {charts.MAX_DOCUMENTS} of {len(rows):,} documents." * is_cut
    ui.heading("The list and its ties", boxes + first)
    alt, look = f"The list of {current.query} with its ties.", (view.palette, current.k)
    if not other:
        ui.chart(kept_figure(charts.tie_ladder, rows, *look), "ladder", alt, wide=560)
    else:
        names = current.reranker, other.reranker
        figure = kept_figure(charts.ladder_pair, rows, other.rows, names, *look)
        ui.chart(figure, "ladders", alt, wide=640)
        st.caption(
            f"Lines follow the relevant documents. {escape_markdown(other.reranker)}: "
            f"{one_list.values_text(other.measure, other.value, view.traditional)}, "
            f"{count_of(other.written, 'order')}."
        )
    if is_cut:
        ui.heading(
            "The whole list",
            "Chance that the document at a rank is relevant. Above: one step per "
            f"{list_study.rank_column(rows)}. Below: ties.",
        )
        figure = charts.relevance_steps(list_study.tie_groups(rows), view.palette, current.k)
        ui.chart(figure, "whole", "Chance of a relevant document along the list.", wide=560)


@section("Where each document can land")
def landing_section(current: one_list.ListInView) -> None:
    """Draw the possible ranks of each document, or of one document per score in lists with large ties."""
    rows, palette = current.rows, current.view.palette
    if rows.head(charts.HEATMAP_ROWS)["last"].iloc[-1] <= 2 * charts.HEATMAP_ROWS:
        figure = kept_figure(charts.rank_heatmap, rows, palette, current.k)
        subject, key, alt = "document", "landing", "Chance of each document at each rank."
        title, explanation = "Where each document can land", "Chance of each rank; bold: the grade."
    else:
        subject, key, rows = list_study.rank_column(rows), "landing-ties", list_study.tie_groups(rows)
        figure = charts.tie_group_heatmap(rows, palette)
        alt = f"Chance of each range of ranks for a document, by {subject}."
        title = f"Where a document can land, by {subject}"
        explanation = (
            f"Row: one {subject}. Cell: chance that one of its documents falls in this range of ranks. Bold: "
            "number of relevant documents."
        )
    if len(rows) > charts.HEATMAP_ROWS:
        explanation += f" The top {charts.HEATMAP_ROWS} of {count_of(len(rows), subject)}."
    ui.heading(title, explanation)
    ui.chart(figure, key, alt)


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


@section("The values over all orders")
def histogram_section(current: one_list.ListInView) -> None:
    """Draw the distribution of the measure over all orders, exact or from random orders.

    Fewer orders are drawn if many documents contribute.
    """
    measure, ranking = current.measure, current.ranking
    if current.has_own_rule:
        st.info(
            f"{measure} settles ties by its own rule: one value, not a distribution over orders.",
            icon=":material/info:",
        )
        return
    distribution = orderings.distribution(ranking, current.query, measure, current.chances)
    source = f"Exact, over {count_of(current.written, 'order')}."
    if distribution is None:
        contributes = ranking.judged if orderings.counts_judged(measure) else ranking.grades > 0
        n = min(_DRAWS, max(_LEAST_DRAWS, _MAX_PLACED // max(1, int(contributes.sum()))))
        sample = orderings.sample_values(ranking, current.query, measure, n, _SEED)
        distribution = orderings.merge_values(sample, np.full(n, 1 / n))
        source = (
            f"Estimated from {n:,} random orders of {current.written}. The values marked in the chart are "
            "exact."
        )
    ui.heading(f"{measure} across the orders", source)
    marks = pd.Series({name: current.value[ties] for name, ties in current.treatments.items()})
    alt = f"Share of orders with each value of {measure}; tied, traditional, worst and best marked."
    figure = kept_figure(charts.value_histogram, distribution, marks, current.view.palette, measure)
    ui.chart(figure, "histogram", alt)


@cached(max_entries=32)
def _labels(view: ShownBoard, measure: str, traditional: str, reranker: str) -> dict[str, str]:
    """Return reranker, or query of one reranker → its label with gap and tie ratio, the largest gap first."""
    lists, by = view.list_study(list_study.lists_by_gap, measure, traditional), "reranker"
    if reranker:
        lists, by = lists[lists["reranker"] == reranker], "query_id"
    rows = lists.groupby(by, sort=False).agg(gap=("gap", "first"), tie_ratio=("tie_ratio", "mean"))
    ids = rows.index.astype(str)
    names = ids if reranker else map(short_names(ids).get, ids)
    labels = map(list_study.list_label, names, rows["gap"], rows["tie_ratio"])
    return dict(zip(ids, labels, strict=True))


MAX_STEPS = 250
"""Ranks shown in a table at most."""
_USUAL_CUTOFF = 10


@section("Worked values")
def values_section(current: one_list.ListInView) -> None:
    """Draw every measure of the list, and what each rank adds to AP and nDCG."""
    _values_table(current)
    measure_at, traditional = parse(current.measure), current.view.traditional
    k = measure_at.k if measure_at.measure.name == "nDCG" and measure_at.k else _USUAL_CUTOFF
    by_order, by_all = (
        list_study.value_steps(current.ranking, current.query, ties, k).set_index("rank")
        for ties in (traditional, "expected")
    )
    steps = by_all.join(by_order.add_suffix("_by_order"), how="outer")
    is_possible = (steps["chance"] > 0) | (steps["chance_by_order"] > 0)
    ap = ("rank", ("precision_by_order", "precision_there"), ("ap_term_by_order", "adds"))
    tied_ap = (("chance", "relevant_chance"), ("precision", "tied_precision"), ("ap_term", "adds"))
    ndcg = ("rank", "discount", ("gain_by_order", "rank_gain"), ("ndcg_term_by_order", "adds"))
    tied_ndcg = (("gain", "tied_gain"), ("ndcg_term", "adds"))
    for name, rows, term, keys, tied_keys in (
        ("AP", steps[is_possible], "ap_term", ap, tied_ap),
        (f"nDCG@{k}", steps[steps.index <= k], "ndcg_term", ndcg, tied_ndcg),
    ):
        columns = shown_columns(*keys, order=treatment(traditional).order, measure=name)
        columns |= shown_columns(*tied_keys, measure=f"tied {name}")
        table = rows.head(MAX_STEPS).reset_index()
        ui.table(table, f"{name}, rank by rank", name, columns, rows.reset_index())
        before, tied = (Strong(decimal(rows[column].sum(), 4)) for column in (f"{term}_by_order", term))
        ui.section_finding((f"The terms add up to {name} ", before, f" and tied {name} ", tied, "."))


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
    most = min(MAX_ORDERS, MAX_CELLS // len(current.rows))
    counted = ((PATTERNS, counts.patterns), (ORDERS, counts.orderings))
    numbers = {kind: number for kind, number in counted if number is not None and number <= most}
    st.markdown(_counts_text(current))
    measures = list(dict.fromkeys([current.in_question, "RR", "Hits@3"]))
    if not numbers:
        st.caption(
            f"Patterns are listed only if there are at most {most:,}. **Ranks** shows the distribution of the "
            "values."
        )
        one_list.describe_values(current.scores.loc[measures])
        return
    kind = PATTERNS
    if len(numbers) > 1:
        kind = controls.segmented("Show", list(numbers), "every", label_visibility="collapsed")
    study: Callable[..., pd.DataFrame] = list_study.every_ordering
    number, name, text, keys = numbers[kind], "order", "documents", ["ordering"]
    if kind == PATTERNS:
        study, name, text = orderings.every_pattern, "relevance pattern", "grades"
        keys = ["pattern", "orderings", "chance"]
    columns = shown_columns(*keys, "first_relevant")
    for measure in measures:
        columns |= shown_columns((measure, "value"), measure=measure)
    listing = partial(study, current.ranking, current.query, measures)
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
        columns | shown_columns((text, f"ordered_{text}")),
        partial(listing, number),
        " ".join(filter(None, explanations)),
    )
    one_list.describe_values(current.scores.loc[measures])


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
    kinds, ranked_by = ("Documents", "Tie groups"), list_study.rank_column(current.rows)
    if controls.segmented("Rows", kinds, "rows", label_visibility="collapsed") == kinds[1]:
        groups = list_study.tie_groups(current.rows)
        columns = shown_columns(
            *("group", ("first", "from_place"), ("last", "to_place")),
            *(("documents", "n_documents"), ("relevant", "n_relevant"), ranked_by),
        )
        rows = groups.assign(group=groups["group"] + 1)
        ui.table(rows, f"The tie groups: {len(groups):,}", "tie-groups", columns)
        return
    grades = current.rows["grade"].where(current.rows["judged"])
    rows = current.rows.assign(group=current.rows["group"] + 1, grade=grades).drop(columns="judged")
    shown_rows = rows.head(MOST_ROWS)
    first, last = (shown_rows[end].map("{:,}".format) for end in ("first", "last"))
    shown_rows = shown_rows.assign(places=first.where(first == last, first + " to " + last))
    columns = shown_columns("place", "doc_id", ranked_by)
    for number, text in enumerate(current.view.scoring.criteria, 1):
        columns |= shown_columns((f"criterion_{number}", "criterion"), column=criterion_words(text))
    names = short_names(current.view.scoring.tiebreak_by)
    for number, name in enumerate(names.values(), 1):
        columns |= shown_columns((f"further_{number}", "further_score"), column=name)
    columns |= shown_columns("grade", ("group", "document_group"), ("places", "possible_places"))
    if "text" in shown_rows:
        shown_rows = shown_rows.assign(text=shown_rows["text"].map(one_list.shorten_text))
        columns |= shown_columns("text")
    title = f"The documents: {len(rows):,}"
    if len(rows) > MOST_ROWS:
        title = f"The first {MOST_ROWS:,} of {len(rows):,} documents"
    ui.table(shown_rows, title, "list", columns, download=rows)
