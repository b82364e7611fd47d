"""The section of Queries on the documents of a list, and on its tie groups."""

from dashboard import controls
from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.widgets.components import table
from dashboard.widgets.one_list import ListInView, shorten_text
from dashboard.widgets.sections import section
from metrics.studies.one_list import rank_column, tie_groups
from metrics.support.shown_columns import shown_columns
from metrics.ties.fronts import criterion_words

MAX_DOCUMENTS = 1_000
"""Documents of a list that its table shows."""


@section("The table of documents")
def documents_table(current: ListInView) -> None:
    """Draw the documents of the list, or its tie groups."""
    kinds = ("Documents", "Tie groups")
    if controls.segmented("Rows", kinds, "rows", label_visibility="collapsed") == kinds[1]:
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
        shown_rows = shown_rows.assign(text=shown_rows["text"].map(shorten_text))
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
