"""Sections on the data, the scores, their ties, what is unjudged, and how all of it was made."""

import platform
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, score_runs
from metrics.evaluation.holes import is_exact, joint_bounds, judged_name, unjudged_counts, unjudged_shares
from metrics.evaluation.options import adds_queries
from metrics.measures import parse
from metrics.report.model import Section
from metrics.report.studies import ReportStudies
from metrics.report.tables import FOUR_DECIMALS, SEVERITY, VERDICT, Column, Table, legend
from metrics.runs.findings.finding import FindingGroup, group_findings
from metrics.studies.gaps.gap import gap_finding, with_overall
from metrics.studies.leaderboard.holes import (
    QUERIES_MAY_JOIN,
    are_bounds_known,
    hole_finding,
    mean_bounds,
    within_words,
)
from metrics.studies.leaderboard.leaderboard import leaderboard_finding
from metrics.studies.leaderboard.ranks.tiers import tiers_condition
from metrics.studies.leaderboard.readings import MEASURES, TYPICAL_RANK, limits_text, readings_finding
from metrics.studies.leaderboard.recommendation import tie_remedies
from metrics.studies.leaderboard.verdicts import VERDICTS
from metrics.studies.prose import Prose
from metrics.studies.significance.test_registry import find_correction, find_test
from metrics.studies.tools.tie_rules import answers_finding, own_rule_note
from metrics.studies.tradeoffs.experiment import experiment_measures
from metrics.support.wording import compared_as, count_of, first_names
from metrics.ties import treatment

SIGNED = "+.4f"
_TIES_NOTE = (
    "Largest tie, mean: a list without ties counts 1, one without rows 0. ±: sample standard deviation over "
    "lists (ddof 1). r: correlation of the tie ratio with the absolute gap."
)
_UNJUDGED_VERBS = {
    "nonrelevant": "what nobody judged is not",
    "leave_out": "what nobody judged is left out of the lists",
}
_POLICY_VERBS = {"zero": "count as 0", "skip": "are left out"}


def data(studies: ReportStudies) -> Section:
    """Write how much there is, what counts and how, and what made the ties."""
    options, lists, policies = studies.options, studies.evaluation.lists, studies.evaluation.policies
    scoring = options.scoring
    every_name = options.rerankers or studies.runs.rerankers
    facts = (
        ("Queries", f"{studies.n_queries:,}"),
        ("Queries of each reranker", queries_of_each(studies)),
        ("Rerankers", f"{len(studies.rerankers):,}"),
        ("Documents a list", _range(lists["n_docs"])),
        ("Relevant documents a query", _range(lists["n_relevant"])),
        ("Relevant", f"grade {scoring.relevant_from:g} and above; {_UNJUDGED_VERBS[scoring.unjudged]}"),
        (
            "Scores are compared as",
            "64-bit floats, as read" if scoring.precision == "float64" else compared_as(scoring.precision),
        ),
        ("Judged queries without rows", _policy(policies["n_missing"], scoring.missing)),
        ("Queries with nothing relevant", _policy(policies["n_empty"], scoring.empty)),
        ("Segments", ", ".join(options.segments)),
        ("Ranked by the fronts of", ", ".join(scoring.criteria)),
        ("Ties are split first by", ", ".join(scoring.tiebreak_by)),
        ("Without a list", ", ".join(name for name in every_name if name not in studies.rerankers)),
    )
    is_uneven = bool(policies[["n_missing", "n_empty"]].to_numpy().any())
    return Section(
        "data",
        "Data and policies",
        "What was ranked, what counts, and what made the ties.",
        sentences=tie_remedies(studies.findings),
        facts=tuple((label, text) for label, text in facts if text),
        tables=(_policies(policies),) if is_uneven else (),
    )


def scores(studies: ReportStudies) -> Section:
    """Write traditional and tied values side by side."""
    sentences_on_holes, tables_of_holes = holes(studies)
    return Section(
        "scores",
        "Scores",
        f"Traditional: {studies.order.label}. Tied: the exact mean over every order the scores "
        "allow; worst and best are the ends.",
        sentences=(
            leaderboard_finding(
                studies.leaderboard, studies.measure_at.traditional, studies.options.traditional
            ),
            *_rules_sentence(studies),
            *sentences_on_holes,
        ),
        tables=(
            _leaderboard(studies),
            *_rules_table(studies),
            *tables_of_holes,
            _every_measure(studies),
        ),
    )


TIERS_NOTE = (
    "Ranks: of the true mean among all, all at once with 95% confidence (Mogstad et al., 2024). "
    "Tier: a run of places in which nothing tells two apart."
)


def _leaderboard(studies: ReportStudies) -> Table:
    """Return the leaderboard with what ties do to each mean, the verdict beside the name."""
    measure, board = studies.measure_at, studies.leaderboard.reset_index()
    std_over_queries = studies.evaluation.summary()[studies.measure, "expected", "std"]
    columns = tied_columns(studies, board)
    note = "± queries: sample standard deviation over lists (n − 1)."
    if "tier" in board:
        columns |= {"Tier": (board["tier"], "d"), "Ranks": place_ranges(board["rank_low"], board["rank_high"])}
        note = f"{note} {TIERS_NOTE} {tiers_condition(studies.measure)}".rstrip()
    columns["± queries"] = (std_over_queries.reindex(board["reranker"]), FOUR_DECIMALS)
    if not studies.has_own_rule:
        columns |= columns_by_order(studies, board) | {"Because": board["why"]}
        note = f"{note} {legend(VERDICTS, board['verdict'])}"
    table = Table.of(f"{measure.traditional}, best tied first", columns, note)
    return replace(table, strong=best_cells(table.frame, measure.tied))


def _rules_sentence(studies: ReportStudies) -> tuple[Prose, ...]:
    if studies.tie_answers is None:
        return ()
    return (answers_finding(studies.tie_answers, studies.leaderboard["tie_ratio"]),)


def _rules_table(studies: ReportStudies) -> tuple[Table, ...]:
    """Return the first measure beside all that settle its ties by their own rules, where there are any."""
    answers = studies.tie_answers
    if answers is None:
        return ()
    question, *_ = answers.columns
    columns = {str(label): (means, FOUR_DECIMALS) for label, means in answers.items()}
    note = "The first: ties as sorted. The second: the mean over all orders. The others: rules of their own."
    return (Table.of(f"{question} by every rule for ties", {"Reranker": answers.index, **columns}, note),)


def ties(studies: ReportStudies) -> Section:
    """Write how much is tied, and what it costs."""
    summary = with_overall(studies.summary, studies.lists)
    gap = f"|{studies.question.traditional} gap|"
    columns = {
        "Lists": (summary["n"], ",d"),
        "With ties": (summary["with_ties_share"], ".1%"),
        "Tie groups a list": (summary["tie_groups"], ".2f"),
        "Largest tie, mean": (summary["max_tie_size_mean"], ".2f"),
        "Largest tie": (summary["max_tie_size"], ",d"),
        "Documents tied": (summary["tie_ratio"], ".1%"),
        f"{gap}, mean": (summary["first_gap_mean"], FOUR_DECIMALS),
        "±": (summary["first_gap_std"], FOUR_DECIMALS),
        f"{gap}, largest": (summary["first_gap_max"], FOUR_DECIMALS),
        "r, tie ratio": (summary["first_r_ratio"], ".3f"),
    }
    table = Table.of("Ties of each reranker", {"Reranker": summary.index, **columns}, _TIES_NOTE)
    return Section(
        "ties",
        "Ties",
        "How many documents tie, and how far a list's traditional value is from its tied one.",
        sentences=((*own_rule_note(studies.measure), *gap_finding(studies.lists, str(studies.question))),),
        tables=(table,),
        charts=("gaps",),
    )


def findings(studies: ReportStudies) -> Section:
    """Write what is odd about the files."""
    groups = group_findings(studies.findings, studies.runs.rerankers)
    table = Table.of(
        "Kind by kind",
        {
            SEVERITY: [group.severity for group in groups],
            "Where": [_place(group) for group in groups],
            "Finding": [_example(group) for group in groups],
            "What to do": [group.hint for group in groups],
        },
    )
    return Section(
        "findings",
        "Findings",
        "What is worth knowing of the files, the gravest first.",
        sentences=() if groups else (("Nothing is odd about the files.",),),
        tables=(table,) if groups else (),
    )


def _place(group: FindingGroup) -> str:
    """Return whom a group of findings is about, and where in the file where it is about one place."""
    names = first_names([name for line in group.lines for name in line.names])
    place = group.lines[0].place if len(group.lines) == 1 else ""
    return f"{names}, {place}" if place else names


def _example(group: FindingGroup) -> str:
    """Return what a group of findings says, and the message that concerns most where there are several."""
    if len(group.lines) == 1:
        return group.title
    first = group.lines[0]
    return f"{group.subject}: {group.title} Most of all {first_names(first.names)}: {first.message}"


def place_ranges(best: "pd.Series[int]", worst: "pd.Series[int]") -> list[str]:
    """Return the places each reranker can take, as `1` or `1–3`."""
    return [f"{high}" if high == low else f"{high}–{low}" for high, low in zip(best, worst, strict=True)]


def _every_measure(studies: ReportStudies) -> Table:
    """Return every measure of every reranker with its standard deviation over queries."""
    traditional, measures = studies.options.traditional, studies.options.measures
    rerankers = studies.leaderboard.index
    summary = studies.evaluation.summary().loc[rerankers]

    def column(ties: str, statistic: str = "mean") -> "pd.Series[float]":
        return pd.concat([summary[measure, ties, statistic] for measure in measures], ignore_index=True)

    own_rule = np.array([bool(parse(measure).measure.answers) for measure in measures for _ in rerankers])

    def by_treatment(values: "pd.Series[float]") -> "pd.Series[float]":
        return values.mask(own_rule)

    table = Table.of(
        "Every measure",
        {
            "Measure": [parse(measure).traditional for measure in measures for _ in rerankers],
            "Reranker": [*rerankers] * len(measures),
            studies.order.heading: (by_treatment(column(traditional)), FOUR_DECIMALS),
            "± ": (by_treatment(column(traditional, "std")), FOUR_DECIMALS),
            "Tied": (column("expected"), FOUR_DECIMALS),
            "±": (column("expected", "std"), FOUR_DECIMALS),
            "Worst": (by_treatment(column("pessimistic")), FOUR_DECIMALS),
            "Best": (by_treatment(column("optimistic")), FOUR_DECIMALS),
            "Gap": (by_treatment(column(traditional) - column("expected")), SIGNED),
        },
        "±: sample standard deviation over lists (n − 1). Bold: the best tied value of a measure.",
    )
    return replace(table, strong=best_cells(table.frame, "Tied", "Measure"))


def tied_columns(studies: ReportStudies, board: pd.DataFrame) -> dict[str, Column]:
    """Return the first columns of a leaderboard: place, name, verdict and tied mean of each row."""
    return {
        "#": (board["tied_rank"], "d"),
        "Reranker": board["reranker"],
        VERDICT: board["verdict"],
        studies.measure_at.tied: (board["tied"], FOUR_DECIMALS),
    }


def columns_by_order(studies: ReportStudies, board: pd.DataFrame) -> dict[str, Column]:
    """Return the columns of a leaderboard that depend on the order of ties."""
    return {
        studies.order.heading: (board["traditional"], FOUR_DECIMALS),
        "Gap": (board["gap"], SIGNED),
        "Worst": (board["worst"], FOUR_DECIMALS),
        "Best": (board["best"], FOUR_DECIMALS),
    }


def best_cells(frame: pd.DataFrame, column: str, within: str | None = None) -> frozenset[tuple[int, str]]:
    """Return the cells of the largest figure, to four decimals, of each group; none where all are alike.

    Args:
        frame: the table.
        column: of figures.
        within: a column whose values make the groups; all rows are one where None.
    """
    rounded = frame[column].round(4)
    groups = [frame.index] if within is None else frame.groupby(within, sort=False).groups.values()
    cells = set()
    for rows in groups:
        if rounded[rows].max() > rounded[rows].min():
            cells |= {(int(row), column) for row in rows if rounded[row] == rounded[rows].max()}
    return frozenset(cells)


def _policies(policies: pd.DataFrame) -> Table:
    headings = {
        "Queries": "n_queries",
        "Without rows": "n_missing",
        "Nothing relevant": "n_empty",
        "Scored": "n_scored",
    }
    counts = {heading: (policies[name], ",d") for heading, name in headings.items()}
    return Table.of("What was scored", {"Reranker": policies.index, **counts})


def _range(values: Iterable[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _policy(counts: "pd.Series[int]", policy: str) -> str:
    largest = int(counts.max())
    return f"up to {largest:,} of a reranker; they {_POLICY_VERBS[policy]}" if largest else "none"


def number_of_queries(studies: ReportStudies) -> str:
    """Return how many queries there are, in words, and how many each reranker has where not all."""
    each = queries_of_each(studies)
    return count_of(studies.n_queries, "query") + (f", {each} each" if each else "")


def queries_of_each(studies: ReportStudies) -> str:
    """Return how many queries rerankers have, such as `12 to 13`; nothing where each has all."""
    n_scored = studies.evaluation.policies["n_scored"].loc[list(studies.rerankers)]
    low, high = int(n_scored.min()), int(n_scored.max())
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return each if low < studies.n_queries else ""


def holes(studies: ReportStudies) -> tuple[tuple[Prose, ...], tuple[Table, ...]]:
    """Return a sentence and a table of what ties and unjudged documents together allow.

    Both are empty where all documents within the cut-off are judged, or unjudged ones are left out; where a
    judgment may add a query to the means, the sentence says that.
    """
    runs, measure, scoring = studies.runs, studies.measure_at, studies.options.scoring
    if runs.qrels is None or not are_bounds_known(measure) or scoring.unjudged == "leave_out":
        return (), ()
    lists = studies.evaluation.scores.index
    counts = unjudged_counts(score_runs(runs, judged_name(measure), "expected", scoring), measure).loc[lists]
    if counts["unjudged"].sum() <= EQUAL:
        return (), ()
    if adds_queries(runs, scoring):
        return ((QUERIES_MAY_JOIN,),), ()
    means = mean_bounds(joint_bounds(runs, studies.measure, scoring).loc[lists, studies.measure])
    leaderboard = studies.leaderboard.assign(unjudged=unjudged_shares(counts)).join(means)
    return (hole_finding(leaderboard, counts, measure),), (_bounds_table(studies, leaderboard),)


def _bounds_table(studies: ReportStudies, leaderboard: pd.DataFrame) -> Table:
    """Return between what each mean lies, and how much nobody judged."""
    ends = ("lowest", "worst", "tied", "best", "highest")
    columns = {
        "Reranker": leaderboard.index,
        "Unjudged": (leaderboard["unjudged"], ".1%"),
        **{name.capitalize(): (leaderboard[name], FOUR_DECIMALS) for name in ends},
    }
    place = within_words(studies.measure_at)
    note = (
        f"Unjudged: of the documents in the {place}. Worst, tied, best: over orders of the ties, unjudged "
        "documents not relevant. Lowest, highest: over these and all judgments of unjudged documents"
    ) + ("." if is_exact(studies.runs, studies.measure_at) else "; proven, and not always reached.")
    return Table.of(f"{studies.measure_at.traditional} where judgments have holes", columns, note)


_TIMES, _RANK, _COUNT = ".3g", ",.1f", ",d"
_MEAN_RANK = "Mean rank: of the first relevant document in the traditional order, over the lists that hold one."


def readings(studies: ReportStudies) -> Section:
    """Write MRR beside MAP: typical ranks, how many times the baseline's, and where the two part."""
    rr, ap = (parse(measure) for measure in MEASURES)
    return Section(
        "readings",
        f"{rr.traditional} beside {ap.traditional}",
        "What the two mean in ranks and in times, and where they part.",
        sentences=(readings_finding(studies.readings, studies.baseline),),
        facts=(
            (f"{rr.traditional} does not see", limits_text("RR")),
            (f"{ap.traditional} does not see", limits_text("AP")),
            (f"1/{rr.tied}", TYPICAL_RANK),
        ),
        tables=(_first_hits(studies), _all_hits(studies)),
    )


def _first_hits(studies: ReportStudies) -> Table:
    """Return MRR of each reranker, over that of the baseline, and as a rank."""
    rows = studies.readings
    return Table.of(
        "MRR in times and in ranks" if len(rows) > 1 else "MRR in ranks",
        {
            "Reranker": rows.index,
            **_values(studies, "rr"),
            "1/MRR": (rows["traditional_rank"], _RANK),
            "1/MTRR": (rows["tied_rank"], _RANK),
            "Mean rank": (rows["mean_rank"], _RANK),
        },
        f"{_MEAN_RANK}{_baseline_note(studies)}",
    )


def _all_hits(studies: ReportStudies) -> Table:
    """Return MAP of each reranker, over that of the baseline, and where it parts from MRR."""
    rows = studies.readings
    columns = {"Reranker": rows.index, "Relevant a query": (rows["relevant"], ".2f"), **_values(studies, "ap")}
    if len(rows) == 1:
        return Table.of("MAP", columns)
    columns |= {
        "RR or AP alone": (rows["one_sided"], _COUNT),
        "RR against AP": (rows["opposed"], _COUNT),
    }
    note = (
        "RR or AP alone: queries on which only one of the two, ties averaged, differs from the baseline; RR "
        "against AP: on which one is higher and the other lower."
    )
    return Table.of("MAP in times, and where it parts from MRR", columns, f"{note}{_baseline_note(studies)}")


def _values(studies: ReportStudies, prefix: str) -> dict[str, Column]:
    """Return both means of a measure, each with its ratio to the baseline's where there are others."""
    rows, measure = studies.readings, parse(prefix)
    columns: dict[str, Column] = {}
    for value, name in (("traditional", measure.traditional), ("tied", measure.tied)):
        columns[name] = (rows[f"{prefix}_{value}"], ".4f")
        if len(rows) > 1:
            columns[f"{name} ×"] = (rows[f"{prefix}_{value}_times"], _TIMES)
    return columns


def _baseline_note(studies: ReportStudies) -> str:
    return f" ×: over that of {studies.baseline}." if len(studies.readings) > 1 else ""


_WITH = ("numpy", "pandas", "pyarrow", "scipy", "statsmodels")


def method(studies: ReportStudies) -> Section:
    """Write how values were made, with what, from which files."""
    options, order = studies.options, treatment(studies.options.traditional)
    test, correction = find_test(options.test), find_correction(options.correction)
    facts = (
        ("Tied value", "exact mean over every order the ties allow, list by list"),
        ("Traditional value", f"{order.label} ({order.name}). {order.summary}"),
        ("Test", f"{test.label}. {test.source}"),
        ("Correction", ". ".join(filter(None, (correction.label, correction.source)))),
        ("Versions", ", ".join(f"{name} {_version(name)}" for name in ("tiescope", *_WITH))),
        ("Python", platform.python_version()),
    )
    measures = [parse(name) for name in dict.fromkeys((*studies.evaluation.measures, *experiment_measures()))]
    columns = {
        "Measure": [str(name) for name in measures],
        "Tied": [name.tied for name in measures],
        "What it is": [name.measure.summary for name in measures],
        "Source": [name.measure.source for name in measures],
    }
    tables = [Table.of("Measures", columns)]
    if options.files:
        tables.append(Table("Files", pd.DataFrame(options.files, columns=["File", "SHA-256"])))
    return Section(
        "method",
        "Method",
        "What it takes to make the same report again.",
        facts=facts,
        tables=tuple(tables),
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
