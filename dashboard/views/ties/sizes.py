"""The sections of Ties vs gap on how large ties are, and on what scoring lists order by order would cost."""

import pandas as pd

from dashboard.cache import ShownBoard
from dashboard.charts.ties_vs_gap import ordering_costs, tie_size_bars
from dashboard.choices import View
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import chart, heading, section_finding, table
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.sections import section
from metrics.studies.complexity import (
    TIE_SIZES,
    complexity_summary,
    list_complexity,
    tie_costs,
    tie_size_counts,
)
from metrics.studies.gaps import gap_summary, with_overall
from metrics.studies.prose import Strong
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import part_of, percent
from metrics.ties.permutations import TRACTABLE


@cached_by_key(show_spinner=False, max_entries=8)
def _size_counts(view: ShownBoard) -> pd.DataFrame:
    """Return how many ties have how many documents, over all lists."""
    return tie_size_counts({name: view.ranking(name) for name in view.rerankers}, view.evaluation.lists)


@cached_by_key(show_spinner="Counting orders …", max_entries=8)
def _list_complexities(view: ShownBoard) -> dict[str, pd.DataFrame]:
    """Return reranker → the orders of its lists."""
    lists = view.evaluation.lists
    return {name: list_complexity(view.ranking(name), lists.loc[name].index) for name in view.rerankers}


@section("Tie sizes")
def size_section(view: View, lists: pd.DataFrame) -> None:
    """Draw how many ties have how many documents, and the ties of each reranker."""
    counts = _size_counts(view)
    if len(counts):
        chart(tie_size_bars(counts, view.palette), "tie-sizes", "Number of ties by their number of documents.")
    if not len(lists):
        return
    table(
        with_overall(gap_summary(lists), lists).reset_index(),
        "Ties of each reranker",
        "tie-sizes",
        shown_columns(
            *("reranker", "tie_ratio", ("n", "n_lists"), "with_ties", "with_ties_share", "tie_groups"),
            *("max_tie_size", "max_tie_size_mean"),
        ),
    )


@section("Cost of all orders")
def cost_section(view: View) -> None:
    """Draw how many orders lists have, and what a tie costs by each method."""
    heading("What scoring every order would cost", "Values here are exact, by a closed form.")
    lists = _list_complexities(view)
    summary = complexity_summary(lists)
    total = summary.iloc[0]
    share = f"{percent(total['tractable_share'])} of the lists"
    section_finding(
        (
            Strong(share),
            f" ({part_of(int(total['tractable']), int(total['n']), 'list')}) have at most {TRACTABLE:,} "
            f"orders. All lists together have {_count(total)}.",
        )
    )
    costs = tie_costs(1, [*TIE_SIZES, int(summary["max_tie_size"].max())])
    logs = pd.concat(lists.values())["log10_orderings"].to_numpy(float)
    chart(
        ordering_costs(logs, costs, view.palette, TRACTABLE),
        "ordering-costs",
        "Lists by their number of orders, and documents looked at to score a tie by its size and method.",
        wide=820,
    )
    counts = [_count(row) for _, row in summary.iterrows()]  # as numbers, a table shown could not hold them
    table(
        summary.assign(written=counts).drop(columns="orderings").reset_index(),
        "Orders of each reranker",
        "ordering-costs",
        shown_columns(
            *("reranker", ("n", "n_lists"), ("tractable", "tractable_lists"), "tractable_share"),
            *(("written", "orderings_written"), ("draws", "draws_advised")),
        ),
        download=summary.reset_index(),
    )


def _count(row: pd.Series) -> str:
    return orderings_text(row["log10_orderings"], row["orderings"])
