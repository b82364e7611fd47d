"""Tables of the Query explorer: values, documents, and orderings of one list."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.widgets.components import number, table
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.one_list import LETTERS, ListInView, affordable_draws, value_text
from metrics.studies.one_list import orderings
from metrics.studies.one_list.ordering_samples import sample_values
from metrics.studies.one_list.query import every_ordering, tie_groups

LIMIT = 5040
"""Orderings or patterns listed at most: seven documents in one tie."""
CELLS = 500_000
"""Documents of all orderings listed."""
LONGEST = 5_000
"""Documents of a list whose orderings are written out."""
LISTED = 1_000
"""Documents of a list that its table shows."""
STD_DRAWS = 300
"""Orderings drawn for a standard deviation that has no closed form."""
_SPREAD = (
    f"Standard deviation over all orderings; AP has no closed form, and is estimated from {STD_DRAWS:,} draws."
)


def values_table(one: ListInView) -> None:
    """Every measure of this list."""
    frame = pd.DataFrame({name: one.scores[how] for name, how in one.treatments.items()})
    std = one.scores["std"].copy()
    for name in std.index[std.isna()]:
        std[name] = sample_values(one.ranking, one.query, name, affordable_draws(one, name, STD_DRAWS), 0).std(
            ddof=1
        )
    gap = (frame["traditional"] - frame["tied"]).round(12) + 0.0
    frame = frame.assign(gap=gap, std=std).reset_index()
    columns = {
        "measure": st.column_config.TextColumn("Measure"),
        "traditional": number("Traditional"),
        "tied": number("Tied"),
        "gap": number("Gap", "%+.4f"),
        "worst": number("Worst"),
        "best": number("Best"),
        "std": number("± std", help=_SPREAD),
    }
    table(frame, "Every measure of this list", "list-values", columns)


def documents_table(one: ListInView) -> None:
    """The documents of the list, or its tie groups."""
    st.space("small")
    kinds = ("Documents", "Tie groups")
    if session.segmented("Rows", kinds, "rows", label_visibility="collapsed") == kinds[1]:
        groups = tie_groups(one.rows)
        groups["group"] += 1
        columns = {
            "group": number("Group", "localized"),
            "first": number("From place", "localized"),
            "last": number("To place", "localized"),
            "documents": number("Documents", "localized"),
            "relevant": number("Relevant", "localized"),
            "score": number("Score", "%.6g"),
        }
        table(groups, f"The tie groups: {len(groups):,}", "tie-groups", columns)
        return
    rows = one.rows.assign(group=one.rows["group"] + 1)
    top = rows.head(LISTED)
    places = [_places(first, last) for first, last in zip(top["first"], top["last"], strict=True)]
    top = top.assign(places=places)
    columns = {
        "place": number("Place", "localized"),
        "doc_id": st.column_config.TextColumn("Document"),
        "score": number("Score", "%.6g"),
        "grade": number("Grade", "%g"),
        "group": number("Group", "localized", help="Documents of one group share a score."),
        "places": st.column_config.TextColumn("Can stand at"),
    }
    if "text" in top:
        top = top.assign(text=[_short(text) for text in top["text"]])
        columns["text"] = st.column_config.TextColumn("Text", width="large")
    title = (
        f"The documents: {len(rows):,}"
        if len(rows) <= LISTED
        else f"The first {LISTED:,} of {len(rows):,} documents"
    )
    table(top, title, "list", columns, download=rows)


def orders_table(one: ListInView) -> None:
    """Every ordering or every relevance pattern, as far as they can be read."""
    st.space("small")
    kinds = ("Orderings", "Relevance patterns")
    by_grade = session.segmented("Show", kinds, "every", label_visibility="collapsed") == kinds[1]
    counts, name = one.counts, "relevance patterns" if by_grade else "orderings"
    log10, exact = (
        (counts.log10_patterns, counts.patterns) if by_grade else (counts.log10_orderings, counts.orderings)
    )
    written = orderings_text(log10, exact)
    if len(one.rows) > LONGEST:
        st.caption(f"{written} {name} of {len(one.rows):,} documents are not written out; the rest is exact.")
        return
    limit = min(LIMIT, CELLS // len(one.rows))
    make = orderings.every_pattern if by_grade else every_ordering
    found = make(one.ranking, one.query, one.columns, limit)
    whole = len(found) == exact
    columns = {
        "pattern": number("#", "%d"),
        "ordering": number("#", "%d"),
        "documents": st.column_config.TextColumn("Documents, top first", width="large"),
        "grades": st.column_config.TextColumn("Grades, top first", width="large"),
        "orderings": number("Orderings", "localized", help="Orderings that share the pattern."),
        "chance": number("Chance", "%.4g"),
        "first_relevant": number("First relevant", "%d"),
    }
    title = f"Every {name[:-1]}: {written}" if whole else f"The first {len(found):,} of {written} {name}"
    long = "grades" if by_grade else "documents"
    cut = found.assign(**{long: [_short(text) for text in found[long]]})
    chosen = {key: column for key, column in columns.items() if key in found}
    chosen |= {measure: number(measure) for measure in one.columns}
    table(cut, title, name.replace(" ", "-"), chosen, download=found)
    if whole and not (one.own_rule or found[one.measure].isna().any()):
        values = found[one.measure]
        st.caption(
            f"{one.measure} ranges from {value_text(values.min())} to {value_text(values.max())}; its mean "
            f"over the table is {value_text(values.mean())}, the tied value."
        )


def _places(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else text[:LETTERS] + " …"
