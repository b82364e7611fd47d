"""Sections that everybody reads: who leads, which orders swap, by which rules; and the table for a paper."""

from dataclasses import replace

import pandas as pd

from metrics.report.model import Section
from metrics.report.sections.deciding import STARS
from metrics.report.sections.scores import (
    SIGNED,
    best_cells,
    columns_by_order,
    number_of_queries,
    tied_columns,
)
from metrics.report.studies import ReportStudies
from metrics.report.tables import FOUR_DECIMALS, VERDICT, Column, Table
from metrics.studies.significance import significance_finding
from metrics.studies.swapped_orders import swaps_finding
from metrics.studies.test_registry import find_correction, find_test
from metrics.support.wording import chance_percent, count_of, first_names

MOST_ROWS = 20
"""Rerankers in the summary, the best by tied mean."""
MOST_FILES = 6
"""Names of files in the summary."""


def summary(studies: ReportStudies) -> Section:
    """Write who leads, tied and traditional, and whether that holds in other orders of the ties."""
    measure, board = studies.measure_at, studies.leaderboard.reset_index().head(MOST_ROWS)
    columns = tied_columns(studies, board)
    beside = ""
    if not studies.has_own_rule:
        columns |= columns_by_order(studies, board)
        beside = f"; beside it {measure.traditional} by {studies.order.order}, and the ends of all orders"
    count = len(studies.rerankers)
    table = Table.of(f"The first {MOST_ROWS} of {count}" if count > MOST_ROWS else "Leaderboard", columns)
    return Section(
        "summary",
        "Summary",
        f"By {measure.tied}, best first{beside}.",
        sentences=()
        if count == 1 or studies.has_own_rule
        else (significance_finding(studies.verdicts, measure.traditional, studies.options.test),),
        tables=(replace(table, strong=best_cells(table.frame, measure.tied)),),
        charts=() if studies.has_own_rule or count == 1 else ("leaderboard",),
    )


def swaps(studies: ReportStudies) -> Section:
    """Write the orders that swap once ties are averaged, the widest first."""
    return Section(
        "swaps",
        "Orders that swap",
        f"In one order by the sort ({studies.order.label}), in the other once ties are averaged.",
        sentences=(swaps_finding(studies.swaps, studies.n_scored, studies.measure_at.traditional),),
        tables=(_swaps_table(studies),) if len(studies.swaps) else (),
    )


def _swaps_table(studies: ReportStudies) -> Table:
    rows, measure, total = studies.widest_swaps, studies.measure_at, len(studies.swaps)
    return Table.of(
        "Pair by pair" if len(rows) == total else f"The {len(rows)} widest of {total:,}",
        {
            "First by the sort": rows["a"],
            "First when averaged": rows["b"],
            VERDICT: rows["verdict"],
            measure.traditional: _pairs(rows, "traditional"),
            measure.tied: _pairs(rows, "tied"),
            "Difference": (rows["tied_difference"], SIGNED),
            "p adj.": (rows["p_adjusted"], "p"),
            "Sort's order": [chance_percent(chance) for chance in rows["above"]],
        },
        "Values: of the first name / of the second. Difference: of their tied values. p: paired t-test of "
        "these, Holm over all pairs. Sort's order: how often it comes out when every tie is broken at random.",
    )


def _pairs(rows: pd.DataFrame, value: str) -> list[str]:
    """Return both means of each pair."""
    return [
        f"{first:.4f} / {second:.4f}"
        for first, second in zip(rows[f"{value}_a"], rows[f"{value}_b"], strict=True)
    ]


def brief(studies: ReportStudies) -> Section:
    """Write the rules in a few words; the appendix has them in full."""
    options, policies, measure = studies.options, studies.evaluation.policies, studies.measure_at
    names = [name for name, _ in options.files]
    n_without = int(policies[["n_missing", "n_empty"]].to_numpy().max())
    facts = (
        ("Measure", f"{measure.traditional}: {measure.measure.summary}"),
        ("Traditional", "" if studies.has_own_rule else studies.order.label),
        (
            "Tied",
            "" if studies.has_own_rule else f"{measure.tied}: the exact mean over every order the ties allow",
        ),
        ("Data", f"{count_of(len(studies.rerankers), 'reranker')}, {number_of_queries(studies)}"),
        (
            "Without rows or nothing relevant",
            f"up to {count_of(n_without, 'query')} of a reranker" if n_without else "",
        ),
        ("Relevant", f"grade {options.scoring.relevant_from:g} and above"),
        ("Test", _test_in_words(studies)),
        ("Files", first_names(names, MOST_FILES)),
    )
    return Section(
        "brief",
        "Method in brief",
        "By which rules these values were made.",
        facts=tuple((label, text) for label, text in facts if text),
    )


def _test_in_words(studies: ReportStudies) -> str:
    """Return test, correction and baseline; empty of one reranker."""
    test, correction = find_test(studies.options.test), find_correction(studies.options.correction)
    if len(studies.rerankers) == 1:
        return ""
    corrected = "" if test.simultaneous or correction.method is None else f", {correction.label} correction"
    return f"{test.label}{corrected}, against {studies.baseline}"


def _significance_stars(comparisons: pd.DataFrame) -> dict[str, str]:
    """Return the stars of each reranker that differs significantly from the baseline."""
    pairs = zip(comparisons["reranker"], comparisons["stars"], strict=True)
    return {reranker: stars for reranker, stars in pairs if "*" in stars}


def paper(studies: ReportStudies) -> Section:
    """Write one table for a paper: reranker, traditional, tied, bounds, and stars against the baseline."""
    measure, board = studies.measure_at, studies.leaderboard.reset_index()
    before, tied = (
        [stars.get(name, "") for name in board["reranker"]]
        for stars in map(_significance_stars, (studies.verdicts.traditional, studies.verdicts.tied))
    )
    columns: dict[str, Column] = {
        "Reranker": board["reranker"],
        measure.traditional: (board["traditional"], FOUR_DECIMALS),
        " ": before,
        measure.tied: (board["tied"], FOUR_DECIMALS),
        "  ": tied,
        "Worst": (board["worst"], FOUR_DECIMALS),
        "Best": (board["best"], FOUR_DECIMALS),
    }
    rule = (
        f"{measure.traditional}: {studies.order.label}. {measure.tied}: the exact mean over every "
        "order the ties allow, worst and best its ends. "
    )
    if studies.has_own_rule:
        columns, rule = {name: columns[name] for name in ("Reranker", measure.tied, "  ")}, ""
    test = _test_in_words(studies)
    table = Table.of(
        f"{measure.tied} of {count_of(len(board), 'reranker')} on {number_of_queries(studies)}",
        {name: column for name, column in columns.items() if name.strip() or any(column)},
        f"{rule}{f'Stars: {test}; {STARS}' if test else ''}".strip(),
    )
    return Section(
        "paper",
        "Table for a paper",
        "Best tied mean first.",
        tables=(replace(table, strong=best_cells(table.frame, measure.tied)),),
    )
