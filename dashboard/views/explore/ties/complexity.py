"""The section of Ties vs gap on what it would cost to score lists order by order."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.gaps.ordering_costs import ordering_costs
from dashboard.session.controls import number_input
from dashboard.views.explore.ties.cached import list_complexities
from dashboard.widgets.components import Card, cards, chart, heading, side_by_side, table
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.page_body import section
from metrics.studies.gaps.complexity import TIE_SIZES, complexity_summary, notebook_cases, tie_costs
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import part_of, percent
from metrics.ties.permutations import TRACTABLE

_MEASURED = (
    "Seconds, measured once by tests/benchmarks/tie_costs.py: MTRR of a tie of 5, 8 and 10 documents, one of "
    "them relevant, takes 0.00015, 0.076 and 7.4 by every ordering, 0.00005 or less by every pattern, 0.0005, "
    "0.0011 and 0.0031 by the draws advised, and 0.0005 by the closed form."
)


@section("Cost of every order")
def cost_section(view: session.View) -> None:
    """Draw how many orderings lists have, what a tie costs by each method, and the notebook's five cases."""
    heading(
        "What every order would cost",
        f"The notebook enumerates lists of up to {TRACTABLE:,} orderings, and draws some orders of the others. "
        "Values here are exact by a closed form, whatever the number.",
    )
    lists = list_complexities(view)
    summary = complexity_summary(lists)
    _cards(summary.iloc[0])
    relevant = number_input("Relevant in the tie", 1, 100, 1, "tierelevant", width=160)
    costs = tie_costs(relevant, [*TIE_SIZES, int(summary["max_tie_size"].max())])
    logs = pd.concat(lists.values())["log10_orderings"].to_numpy(float)
    chart(
        ordering_costs(logs, costs, view.palette, TRACTABLE),
        "ordering-costs",
        "Lists by their number of orderings, and documents looked at to score a tie by its size and method.",
        wide=820,
    )
    st.caption(_MEASURED)
    _summary_table(summary)
    narrow, wide = side_by_side(2, 3, "costs")
    with narrow:
        _cost_table(costs)
    with wide:
        _case_table()


def _cards(total: pd.Series) -> None:
    """Draw the figures of all lists together."""
    n_lists, n_tractable = int(total["n"]), int(total["tractable"])
    cards(
        Card(
            "check",
            "Can be enumerated",
            percent(total["tractable_share"]),
            part_of(n_tractable, n_lists, "list"),
            "blue",
        ),
        Card("shuffle", "Orderings in all", _count(total), "to score every list", "orange"),
        Card("join_inner", "Tie groups", f"{total['tie_groups']:,}", f"largest {total['max_tie_size']:,}"),
        Card("casino", "Draws advised", f"{total['draws']:,}", part_of(n_lists - n_tractable, n_lists, "list")),
    )


def _count(row: pd.Series) -> str:
    return orderings_text(row["log10_orderings"], row["orderings"])


def _summary_table(summary: pd.DataFrame) -> None:
    counts = [_count(row) for _, row in summary.iterrows()]  # as numbers, a table shown could not hold them
    table(
        summary.assign(written=counts).drop(columns="orderings").reset_index(),
        "Orderings of each reranker",
        "ordering-costs",
        shown_columns(
            *("reranker", ("n", "n_lists"), ("tractable", "tractable_lists"), "tractable_share"),
            *(("written", "orderings_written"), ("tie_groups", "n_tie_groups"), "max_tie_size"),
            ("draws", "draws_advised"),
        ),
        download=summary.reset_index(),
    )


def _cost_table(costs: pd.DataFrame) -> None:
    rows = costs.assign(
        orderings=[orderings_text(log10, _power_of_ten(log10)) for log10 in costs["log10_orderings"]],
        every_pattern=[orderings_text(log10, _power_of_ten(log10)) for log10 in costs["log10_patterns"]],
    )
    table(
        rows,
        "A tie of so many documents",
        "tie-costs",
        shown_columns(
            "size",
            ("orderings", "orderings_written"),
            ("every_pattern", "patterns_written"),
            ("draws", "draws_advised"),
            "terms",
        ),
        download=costs,
    )


def _power_of_ten(log10: float) -> int:
    """Return the whole number of a power of ten, exact as far as it is written in full."""
    return round(10 ** min(log10, 15))


def _case_table() -> None:
    rows = notebook_cases()
    table(
        rows.assign(
            tie_sizes=[", ".join(map(str, sizes)) for sizes in rows["tie_sizes"]],
            draws=["" if pd.isna(draws) else f"{draws:,}" for draws in rows["draws"]],
        ),
        "The notebook's five cases",
        "notebook-cases",
        shown_columns(
            "case",
            "tie_sizes",
            ("orderings", "n_orderings"),
            "n_tie_groups",
            "max_tie_size",
            "tractable",
            ("draws", "draws_written"),
        ),
        download=rows,
    )
