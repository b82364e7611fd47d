"""The section of Queries on permutations: relevance patterns first, single orders where all can be listed."""

from functools import partial

import streamlit as st

from dashboard import controls
from dashboard.widgets.components import table
from dashboard.widgets.first_rows import rows_left_out
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.one_list import ListInView, describe_values, shorten_text
from dashboard.widgets.sections import section
from metrics.studies import orderings
from metrics.studies.one_list import every_ordering
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of

MAX_ORDERS = 5040
"""Orders or patterns that are listed at most, as in the notebook: seven documents in one tie."""
FIRST_ORDERS = 250
"""Those that the table shows: nobody reads more at once."""
MAX_CELLS = 500_000
"""Documents of all orders listed."""
MAX_SHARED = 30
"""Letters with which all orders may begin; more are left out, or what differs is out of sight."""
MAX_SIZES = 6
"""Ties whose sizes are said one by one."""
PATTERNS, ORDERS = "Relevance patterns", "Single orders"


@section("Permutations")
def orders_table(current: ListInView) -> None:
    """Draw every relevance pattern, or every order, where all can be listed."""
    counts = current.counts
    numbers = {PATTERNS: counts.patterns, ORDERS: counts.orderings}
    can_list = [kind for kind, number in numbers.items() if _can_list(number, len(current.rows))]
    st.markdown(_counts_text(current))
    if not can_list:
        st.caption(f"More than {MAX_ORDERS:,} patterns are not listed. Their values are drawn under Ranks.")
        describe_values(current.scores.loc[current.columns])
        return
    kind = PATTERNS
    if len(can_list) > 1:
        kind = controls.segmented("Show", can_list, "every", label_visibility="collapsed")
    number = numbers[kind] or 0
    if kind == ORDERS:
        list_orders, text, name = every_ordering, "documents", "order"
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
        f"The first {n_shared:,} ranks are the same in all rows shown, and left out." * (n_shared > 0),
    ]
    table(
        rows.assign(**{text: list(map(shorten_text, texts))}),
        f"Every {name}: {number:,}",
        f"{name.replace(' ', '-')}s",
        columns | shown_columns(last),
        partial(listing, number),
        " ".join(filter(None, explanations)),
    )
    describe_values(current.scores.loc[current.columns])


def _can_list(number: int | None, n_documents: int) -> bool:
    return number is not None and number <= min(MAX_ORDERS, MAX_CELLS // n_documents)


def _counts_text(current: ListInView) -> str:
    """Return how many orders and patterns there are, and what makes them so many."""
    counts = current.counts
    patterns = orderings_text(counts.log10_patterns, counts.patterns)
    each = orderings_text(counts.log10_orderings - counts.log10_patterns, counts.shared)
    sizes = [f"{size:,}" for size in counts.tie_sizes]
    ties = f"ties of {', '.join(sizes)} documents"
    if len(sizes) > MAX_SIZES:
        ties = f"{len(sizes):,} ties, the largest of {max(counts.tie_sizes):,} documents"
    return (
        f"**{count_of(current.written, 'order')}** from {ties}: {count_of(patterns, 'relevance pattern')}, "
        f"{count_of(each, 'order')} each."
    )


def _without_shared_start(texts: list[str]) -> tuple[list[str], int]:
    """Return orders without the ranks that all begin with, and how many: none where all have room."""
    orders = [text.split(" ") for text in texts]
    low, high = min(orders), max(orders)
    n_shared = next((place for place, pair in enumerate(zip(low, high, strict=False)) if len(set(pair)) > 1), 0)
    if len(" ".join(low[:n_shared])) < MAX_SHARED:
        return texts, 0
    n_places = sum(part != "|" for part in low[:n_shared])
    return ["… " + " ".join(order[n_shared:]) for order in orders], n_places
