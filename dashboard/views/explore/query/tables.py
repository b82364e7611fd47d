"""Tables of Queries: values, documents, and orderings of one list."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.widgets.components import table
from dashboard.widgets.first_rows import rows_left_out
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.one_list import LETTERS, ListInView, describe_values
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.studies.one_list import orderings
from metrics.studies.one_list.query import every_ordering, rank_column, tie_groups
from metrics.support.shown_columns import shown_columns
from metrics.ties.fronts import criterion_words

MAX_ORDERINGS = 5040
"""Orderings or patterns that a download lists at most: seven documents in one tie."""
FIRST_ORDERINGS = 250
"""Those that the table shows: nobody reads more at once."""
MAX_CELLS = 500_000
"""Documents of all orderings listed."""
MAX_LENGTH = 5_000
"""Documents of a list whose orderings are written out."""
MAX_SHARED = 30
"""Letters with which all orderings may begin; more are left out, or what differs is out of sight."""
MAX_DOCUMENTS = 1_000
"""Documents of a list that its table shows."""


@section("The table of values")
def values_table(current: ListInView) -> None:
    """Draw every measure of the list."""
    rows = pd.DataFrame({name: current.scores[treatment] for name, treatment in current.treatments.items()})
    std = current.scores["std"].copy()
    own_rules = [measure for measure in std.index if parse(measure).measure.answers]
    if own_rules:
        rows.loc[own_rules, ["traditional", "worst", "best"]] = std[own_rules] = np.nan
    gap = (rows["traditional"] - rows["tied"]).round(12) + 0.0
    columns = shown_columns(
        *("measure", "traditional", "tied", ("gap", "list_gap"), "worst", "best", ("std", "ordering_std")),
    )
    table(rows.assign(gap=gap, std=std).reset_index(), "Every measure of this list", "list-values", columns)
    if own_rules:
        st.caption(f"{', '.join(own_rules)}: one value, by a rule of its own for ties.")


@section("The table of documents")
def documents_table(current: ListInView) -> None:
    """Draw the documents of the list, or its tie groups."""
    kinds = ("Documents", "Tie groups")
    if session.segmented("Rows", kinds, "rows", label_visibility="collapsed") == kinds[1]:
        _tie_group_table(current)
        return
    rows = current.rows.assign(
        group=current.rows["group"] + 1, grade=current.rows["grade"].where(current.rows["judged"])
    ).drop(columns="judged")
    shown_rows = rows.head(MAX_DOCUMENTS)
    places = [
        f"{first:,}" if first == last else f"{first:,} to {last:,}"
        for first, last in zip(shown_rows["first"], shown_rows["last"], strict=True)
    ]
    shown_rows = shown_rows.assign(places=places)
    columns = shown_columns("place", "doc_id", rank_column(rows))
    for number, text in enumerate(current.view.scoring.criteria, 1):
        columns |= shown_columns((f"criterion_{number}", "criterion"), column=criterion_words(text))
    names = short_names(current.view.scoring.tiebreak_by, TABLE_COLUMNS)
    for number, name in enumerate(names.values(), 1):
        columns |= shown_columns((f"further_{number}", "further_score"), column=name)
    columns |= shown_columns("grade", ("group", "document_group"), ("places", "possible_places"))
    if "text" in shown_rows:
        shown_rows = shown_rows.assign(text=shown_rows["text"].map(_shorten))
        columns |= shown_columns("text")
    title = (
        f"The documents: {len(rows):,}"
        if len(rows) <= MAX_DOCUMENTS
        else f"The first {MAX_DOCUMENTS:,} of {len(rows):,} documents"
    )
    table(shown_rows, title, "list", columns, download=rows)


def _tie_group_table(current: ListInView) -> None:
    groups = tie_groups(current.rows)
    groups["group"] += 1
    columns = shown_columns(
        "group",
        ("first", "from_place"),
        ("last", "to_place"),
        ("documents", "n_documents"),
        ("relevant", "n_relevant"),
        rank_column(groups),
    )
    table(groups, f"The tie groups: {len(groups):,}", "tie-groups", columns)


@section("The table of orderings")
def orders_table(current: ListInView) -> None:
    """Draw every ordering or every relevance pattern, as far as they can be read."""
    kinds = ("Orderings", "Relevance patterns")
    counts, n_documents = current.counts, len(current.rows)
    if session.segmented("Show", kinds, "every", label_visibility="collapsed") == kinds[1]:
        name, number, list_orders = "relevance patterns", counts.patterns, orderings.every_pattern
        number_text = orderings_text(counts.log10_patterns, number)
        columns = shown_columns("pattern", "orderings", "chance", "first_relevant")
        text, last = "grades", shown_columns(("grades", "ordered_grades"))
    else:
        name, number, list_orders = "orderings", counts.orderings, every_ordering
        number_text = orderings_text(counts.log10_orderings, number)
        columns = shown_columns("ordering", "first_relevant")
        text, last = "documents", shown_columns(("documents", "ordered_documents"))
    if n_documents > MAX_LENGTH:
        st.caption(f"{number_text} {name} of {n_documents:,} documents are not written out; the rest is exact.")
        return
    for measure in current.columns:
        columns |= shown_columns((measure, "value"), measure=measure)
    limit = min(MAX_ORDERINGS, MAX_CELLS // n_documents)
    listing = partial(list_orders, current.ranking, current.query, current.columns)
    rows = listing(min(FIRST_ORDERINGS, limit))
    n_listed = limit if number is None else min(number, limit)
    is_whole = n_listed == number
    title = (
        f"Every {name[:-1]}: {number_text}" if is_whole else f"The first {n_listed:,} of {number_text} {name}"
    )
    texts, n_shared = _without_shared_start(list(rows[text]))
    explanations = [
        rows_left_out(len(rows), n_listed),
        f"The first {n_shared:,} places are the same in all rows shown, and left out." * (n_shared > 0),
    ]
    shown_rows = rows.assign(**{text: list(map(_shorten, texts))})
    explanation = " ".join(filter(None, explanations))
    table(shown_rows, title, name.replace(" ", "-"), columns | last, partial(listing, limit), explanation)
    describe_values(current.scores.loc[current.columns])


def _without_shared_start(texts: list[str]) -> tuple[list[str], int]:
    """Return orders without the places that all begin with, and how many: none where all have room."""
    orders = [text.split(" ") for text in texts]
    low, high = min(orders), max(orders)
    n_shared = next((place for place, pair in enumerate(zip(low, high, strict=False)) if len(set(pair)) > 1), 0)
    if len(" ".join(low[:n_shared])) < MAX_SHARED:
        return texts, 0
    n_places = sum(part != "|" for part in low[:n_shared])
    return ["… " + " ".join(order[n_shared:]) for order in orders], n_places


def _shorten(text: str) -> str:
    return text if len(text) <= LETTERS else text[:LETTERS] + " …"
