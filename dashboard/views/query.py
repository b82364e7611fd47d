"""Queries: one list, and every order that its ties allow."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import choices, controls, visitor
from dashboard.cache import ShownBoard, cached, drawn
from dashboard.charts import one_list as charts
from dashboard.charts.labels import short_names
from dashboard.choices import Selection, choose_relevant_from
from dashboard.escaping import escape_markdown
from dashboard.widgets import components as ui
from dashboard.widgets import one_list
from metrics import Evaluation, parse
from metrics.studies import one_list as list_study
from metrics.studies.permutations import MAX_RANKS
from metrics.studies.prose import Strong, decimal, signed
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of, query_before
from metrics.ties.fronts import criterion_words

PERMUTATIONS, RANKS, VALUES, DOCUMENTS = "Permutations", "Ranks", "Worked values", "Documents"
ALONE = "no other"


def show(selection: Selection) -> None:
    """Draw the page."""
    verdict = st.container()
    current = choose_list(selection)
    words = current.measure, current.view.traditional, current.written
    prose = list_study.query_finding(current.rows, current.chances, current.value, *words)
    with verdict:
        names = f"This list: {query_before(current.query)}{current.query} of {current.reranker}."
        ui.finding(prose, current.view.rerankers, [names, current.view.conditions(current.measure)])
    if not len(current.rows):
        st.info("The run has no documents for this query.", icon=":material/info:")
        return
    section = controls.choose_section([PERMUTATIONS, *[RANKS] * current.has_landing, VALUES, DOCUMENTS])
    if section == VALUES:
        values_section(current)
    elif section == DOCUMENTS:
        list_section(current)
        documents_table(current)
    elif section == RANKS:
        landing_section(current)
    else:
        permutations_section(current)


def choose_list(selection: Selection) -> one_list.ListInView:
    """Draw the controls and the query's text; return the list.

    At first, it is the list with the largest gap of those whose orders can all be drawn.
    """
    row = st.container(horizontal=True, vertical_alignment="top", gap="small")
    with choices.settings_row():
        measure = choices.measure()
        choose_relevant_from(selection.board)
    view = selection.score(measure)
    _, first = view.study(_largest_and_first, measure, view.traditional)
    first_reranker, first_query = str(first["reranker"]), str(first["query_id"])
    firsts = {"reranker": first_reranker, "query": first_query}
    is_chosen = any(controls.get_text(key) not in ("", first) for key, first in firsts.items())
    with row:
        place = st.empty()
        reranker = _choose_label(
            "Reranker",
            "reranker",
            _labels(view, measure, view.traditional, ""),
            default=first_reranker,
            width=340,
        )
        queries = _labels(view, measure, view.traditional, reranker)
        with place:
            query = _choose_label(
                "Query, largest gap first",
                "query",
                queries,
                default=first_query if first_query in queries else "",
                width=300,
            )
    if is_chosen:  # the address names both, as another measure has another first list
        controls.set_values({"reranker": reranker, "query": query})
    current = one_list.load_list(view, reranker, query, measure)
    one_list.show_query_text(current)
    return current


def _largest_and_first(evaluation: Evaluation, measure: str, traditional: str) -> list["pd.Series[Any]"]:
    """Return the list with the largest gap of all, and the one shown at first."""
    lists = list_study.lists_by_gap(evaluation, measure, traditional)
    return [lists.iloc[0], list_study.first_list(lists)]


def _offer_largest_gap(current: one_list.ListInView) -> None:
    """Draw the button to the list with the largest gap of all, or back to the one shown at first."""
    largest, first = current.view.study(_largest_and_first, current.measure, current.view.traditional)
    if largest.equals(first):
        return
    orders = one_list.orderings_text(largest["log10_orderings"])
    text, target = f"Largest gap of all: {signed(largest['gap'])}, {orders} orders", largest
    if (current.reranker, current.query) == (str(largest["reranker"]), str(largest["query_id"])):
        text, target = f"Largest gap with at most {list_study.MAX_LISTED} orders", first
    ends = {"reranker": str(target["reranker"]), "query": str(target["query_id"])}
    icon, select = ":material/arrow_forward:", controls.set_values
    st.button(text, key="largest-gap", type="tertiary", icon=icon, on_click=select, args=(ends,))


def _choose_label(label: str, key: str, labels: dict[str, str], **options: Any) -> str:
    options |= {"format_func": labels.__getitem__, "filter_mode": "contains", "label_visibility": "collapsed"}
    return controls.select(label, list(labels), key, **options)


_MAX_CELLS = 500_000
"""Documents in all listed orders at most."""


@ui.section("Permutations")
def permutations_section(current: one_list.ListInView) -> None:
    """Draw the possible values of the measure, and every single order if they are few."""
    view, measure = current.view, current.in_question
    possible = one_list.possible_values_of(view, current.reranker, current.query, measure, view.traditional)
    one_list.draw_permutations(possible, current.rows, view.palette, "permutations")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.caption(_counts_text(current), width="content")
        _offer_largest_gap(current)
    n_orders = current.counts.orderings or 0
    is_listed = 1 < n_orders <= min(list_study.MAX_LISTED, _MAX_CELLS // len(current.rows))
    if is_listed and controls.toggle(f"Every order: {n_orders}", "every"):
        pair = possible.measure, possible.beside
        one_list.draw_orders(current.ranking, current.query, current.rows, view.palette, pair)
        return
    ends = possible.start, min(possible.start + MAX_RANKS - 1, len(current.rows))
    row = "First relevant" if possible.rows["first_rank"].notna().any() else "Values"
    columns = shown_columns(("name", "possible_value"), ("value", "value"), measure=possible.measure, row=row)
    columns |= shown_columns("chance", *[("standard_error", "chance_error")] * bool(possible.draws))
    columns |= shown_columns(("beside", "value"), measure=possible.beside)
    columns |= shown_columns(("order", "example_order"), first=f"{ends[0]:,}", last=f"{ends[1]:,}")
    ids = current.rows["doc_id"].astype(str).to_numpy()
    rows = possible.rows.assign(order=[" ".join(ids[list(order)]) for order in possible.rows["order"]])
    short = rows.assign(order=rows["order"].map(one_list.shorten_text))
    ui.table(short, f"The values of {possible.measure}", "permutations", columns, rows)


@ui.section("The list and its ties")
def list_section(current: one_list.ListInView) -> None:
    """Draw the list with its ties, and the list of another reranker if one is chosen."""
    view, rows = current.view, current.rows
    lists = view.evaluation.lists.xs(current.query, level="query_id").index
    alternatives = [name for name in view.rerankers if name in lists and name != current.reranker]
    beside = controls.select_name("Beside", [ALONE, *alternatives], "beside", width=240)
    other = None
    if beside != ALONE:
        other = one_list.load_list(view, beside, current.query, current.measure)
    tables = [rows, other.rows] if other else [rows]
    is_hatched = not all(rows["judged"].head(charts.MAX_DOCUMENTS).all() for rows in tables)
    boxes = escape_markdown(one_list.boxes_text(tables, view.scoring)) + " Hatched: unjudged." * is_hatched
    is_cut = len(rows) > charts.MAX_DOCUMENTS
    first = f" The first {charts.MAX_DOCUMENTS} of {len(rows):,} documents." * is_cut
    alt, look = f"The list of {current.query} with its ties.", (view.palette, current.k)
    if not other:
        ui.chart(drawn(charts.tie_ladder, rows, *look), "ladder", alt)
    else:
        names = current.reranker, other.reranker
        figure = drawn(charts.ladder_pair, rows, other.rows, names, *look)
        ui.chart(figure, "ladders", alt, wide=640)
        st.caption(
            f"Lines follow the relevant documents. {escape_markdown(other.reranker)}: "
            f"{one_list.values_text(other.measure, other.value, view.traditional)}, "
            f"{count_of(other.written, 'order')}."
        )
    st.caption(boxes + first)


@ui.section("Where each document can land")
def landing_section(current: one_list.ListInView) -> None:
    """Draw the possible ranks of each document."""
    explanation = "Chance of each rank; bold: the grade."
    if len(current.rows) > charts.HEATMAP_ROWS:
        explanation += f" The top {charts.HEATMAP_ROWS} of {count_of(len(current.rows), 'document')}."
    ui.heading("Where each document can land", explanation)
    rows = current.rows, current.view.palette, current.k
    figure = drawn(charts.rank_heatmap, *rows, is_narrow=visitor.is_narrow())
    ui.chart(figure, "landing", "Chance of each document at each rank.", wide=560)


@cached(max_entries=32)
def _labels(view: ShownBoard, measure: str, traditional: str, reranker: str) -> dict[str, str]:
    """Return query of a reranker → label with gap and tie ratio; of none, reranker → label with largest gap.

    The largest gap comes first.
    """
    lists, level = view.study(list_study.lists_by_gap, measure, traditional), "reranker"
    if reranker:
        lists, level = lists[lists["reranker"] == reranker], "query_id"
    rows = lists.groupby(level, sort=False).agg(gap=("gap", "first"), tie_ratio=("tie_ratio", "mean"))
    ids = rows.index.astype(str)
    if reranker:
        labels = map(list_study.list_label, ids, rows["gap"], rows["tie_ratio"])
        return dict(zip(ids, labels, strict=True))
    names, gaps = short_names(ids), dict(zip(ids, rows["gap"], strict=True))
    return {
        name: f"{names[name]} · {f'largest gap {signed(gap)}' if gap else 'no gap'}"
        for name, gap in gaps.items()
    }


MAX_STEPS = 250
"""Ranks shown in a table at most."""


_NO_CUTOFF = 10**9


@ui.section("Worked values")
def values_section(current: one_list.ListInView) -> None:
    """Draw every measure of the list, and what each rank adds to RR, AP or nDCG."""
    _values_table(current)
    measure, name = parse(current.in_question), current.in_question
    k, family = measure.k or _NO_CUTOFF, measure.measure.name
    if family not in ("RR", "AP", "nDCG"):
        st.caption("Choose RR, AP or nDCG above to see what each rank adds.")
        return
    if family == "RR":
        rows = current.chances[current.chances["rank"] <= k]
        rows = rows.assign(reciprocal=1 / rows["rank"], term=rows["chance"] / rows["rank"])
        columns = shown_columns("rank", ("chance", "first_chance"), ("reciprocal", "value"), measure=name)
        totals = {f"tied {name}": rows["term"].sum()}
    else:
        by_order, by_all = (
            list_study.value_steps(current.ranking, current.query, ties, k).set_index("rank")
            for ties in (current.view.traditional, "expected")
        )
        words = {"order": current.view.treatment.order, "measure": name}
        rows = by_all.join(by_order.add_suffix("_by_order"), how="outer").reset_index()
        if family == "AP":
            rows = rows[(rows["chance"] > 0) | (rows["chance_by_order"] > 0)]
            keys = ("rank", ("precision_by_order", "precision_there"), ("ap_term_by_order", "adds"))
            columns = shown_columns(*keys, **words)
            columns |= shown_columns(("chance", "relevant_chance"), ("precision", "tied_precision"))
        else:
            rows = rows[rows["rank"] <= k]
            gains = ("rank", "discount", ("gain_by_order", "rank_gain"), ("ndcg_term_by_order", "adds"))
            columns = shown_columns(*gains, **words) | shown_columns(("gain", "tied_gain"))
        term = f"{family.lower()}_term"
        rows = rows.assign(term=rows[term])
        totals = {name: rows[f"{term}_by_order"].sum(), f"tied {name}": rows["term"].sum()}
    columns |= shown_columns(("term", "adds"), measure=f"tied {name}")
    shown = rows.head(MAX_STEPS)
    note = "–: no relevant document at this rank." if shown[list(columns)].isna().any(axis=None) else ""
    ui.table(shown, f"{name}, rank by rank", "steps", columns, rows, note)
    values = [(f"{total} ", Strong(decimal(value, 4))) for total, value in totals.items()]
    ui.section_finding(("The terms add up to ", *values[0], *(" and ", *values[-1]) * (len(values) > 1), "."))


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
        st.caption("–: a measure with its own rule for ties has one value.")


MAX_SIZES = 6
"""Ties whose sizes are listed one by one."""


def _counts_text(current: one_list.ListInView) -> str:
    counts = current.counts
    if not counts.tie_sizes:
        return "One order: no documents tie."
    patterns = one_list.orderings_text(counts.log10_patterns)
    each = one_list.orderings_text(counts.log10_orderings - counts.log10_patterns)
    sizes = [f"{size:,}" for size in counts.tie_sizes]
    ties = f"ties of {', '.join(sizes[:-1])} and {sizes[-1]} documents"
    if len(sizes) == 1:
        ties = f"a tie of {sizes[0]} documents"
    elif len(sizes) > MAX_SIZES:
        ties = f"{len(sizes):,} ties, the largest of {max(counts.tie_sizes):,} documents"
    return (
        f"**{count_of(current.written, 'order')}** from {ties}: {count_of(patterns, 'relevance pattern')}, "
        f"{count_of(each, 'order')} each."
    )


MOST_ROWS = 1_000
"""Documents shown in the table at most."""


@ui.section("The table of documents")
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
    unjudged = "" if current.rows["judged"].all() else "–: not judged."
    ui.table(shown_rows, title, "list", columns, rows, unjudged)
