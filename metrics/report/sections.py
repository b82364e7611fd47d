"""Sections of a report: a question each, and its answer from the studies."""

import platform
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from math import isnan

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, score_runs
from metrics.evaluation.evaluation import adds_queries
from metrics.evaluation.holes import is_exact, joint_bounds, judged_name, unjudged_counts, unjudged_shares
from metrics.measures import parse
from metrics.report.model import Section
from metrics.report.studies import MAX_RERANKERS, ReportStudies
from metrics.report.tables import FOUR_DECIMALS, SEVERITY, VERDICT, Column, Table, legend
from metrics.runs.findings import FindingGroup, group_findings
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.audited_order import VERDICTS as STANDINGS
from metrics.studies.audit.audited_order import AuditedOrder, audit_finding, widest_first, written_chances
from metrics.studies.emulation import by_reranker, by_tool, comparable_values, tool_finding
from metrics.studies.experiment import experiment_lines, experiment_measures, experiment_note
from metrics.studies.gaps import gap_finding, with_overall
from metrics.studies.holes import (
    QUERIES_MAY_JOIN,
    are_bounds_known,
    hole_finding,
    mean_bounds,
    within_words,
)
from metrics.studies.leaderboard import VERDICTS, leaderboard_finding
from metrics.studies.prose import Prose, signed
from metrics.studies.readings import MEASURES, TYPICAL_RANK, limits_text, readings_finding
from metrics.studies.recommendation import tie_remedies
from metrics.studies.significance import Verdicts, significance_finding
from metrics.studies.stability import stability_finding
from metrics.studies.swapped_orders import swaps_finding
from metrics.studies.targets import VERDICTS as TARGET_VERDICTS
from metrics.studies.targets import target_finding
from metrics.studies.test_registry import find_correction, find_test
from metrics.studies.tie_rules import answers_finding, own_rule_note
from metrics.studies.tiers import tiers_condition
from metrics.studies.tradeoffs import LATENCY
from metrics.support.wording import chance_percent, compared_as, count_of, first_names, percent
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


_HEADINGS = {"tool": "Tool", "version": "Checked against", "spelling": "Calls it", "why": "Why it differs"}
STARS = "*** p < 0.001, ** p < 0.01, * p < 0.05, ns not significant."


def significance(studies: ReportStudies) -> Section:
    """Write differences from the baseline, by tied and by traditional values."""
    verdicts, options = studies.verdicts.best_first(), studies.options
    test, correction = find_test(options.test), find_correction(options.correction)
    corrected = "" if test.simultaneous or correction.method is None else f" with {correction.label} correction"
    traditional = studies.measure_at.traditional
    has_rows = len(verdicts.tied) > 0
    return Section(
        "significance",
        "Significance",
        f"{traditional} differences from {studies.baseline}: {test.label}{corrected}.",
        sentences=(significance_finding(verdicts, traditional, options.test),),
        tables=(_differences(studies, verdicts), _effects(studies, verdicts)) if has_rows else (),
        charts=("differences",) if has_rows else (),
    )


def _differences(studies: ReportStudies, verdicts: Verdicts) -> Table:
    """Return the differences from the baseline with their p, and whose verdict rests on the sort."""
    tested = verdicts.without_untested()
    tied, before = tested.tied, tested.traditional
    changed = ["rests on sort order" if is_changed else "" for is_changed in verdicts.changed]
    return Table.of(
        f"Against {studies.baseline}",
        {
            "Reranker": tied["reranker"],
            **({VERDICT: changed} if any(changed) else {}),
            "Traditional": (before["difference"], SIGNED),
            "p adj.": (before["p_adjusted"], "p"),
            " ": before["stars"],
            "Tied": (tied["difference"], SIGNED),
            "From": (tied["low"], SIGNED),
            "To": (tied["high"], SIGNED),
            "p adj., tied": (tied["p_adjusted"], "p"),
            "  ": tied["stars"],
        },
        f"From, to: the {verdicts.level:.0%} {find_test(studies.options.test).interval_scope}. {STARS}",
    )


def _effects(studies: ReportStudies, verdicts: Verdicts) -> Table:
    """Return how large each difference is, and on how many queries it stands."""
    tied = verdicts.without_untested().tied
    columns: dict[str, Column] = {
        "Reranker": tied["reranker"],
        "Effect d": (tied["dz"], "+.2f"),
        "Won": (tied["won"], ",d"),
        "Equal": (tied["equal"], ",d"),
        "Lost": (tied["lost"], ",d"),
    }
    if tied["note"].any():
        columns["Note"] = tied["note"]
    return Table.of(f"Queries won and lost against {studies.baseline}, ties averaged", columns)


def tradeoffs(studies: ReportStudies) -> Section:
    """Write every measure and the latency of each reranker in one table, a line tied and a line traditional."""
    options, rows = studies.options, studies.experiment
    note = experiment_note(rows, studies.baseline, options.test, options.correction)
    lines = experiment_lines(rows).replace({"ties": {"expected": "tied", options.traditional: "traditional"}})
    lines = lines.rename(columns={"reranker": "Reranker", "ties": "Ties"})
    latency = ", latency" if (rows["measure"] == LATENCY).any() else ""
    against = f" against {studies.baseline}" if len(studies.rerankers) > 1 else ""
    return Section(
        "tradeoffs",
        "Trade-offs",
        f"Hits, MRR, recall{latency} and distinct targets of each reranker, tied and traditional.",
        tables=(Table(f"Every measure{against}", lines, note=note),),
    )


def stability(studies: ReportStudies) -> Section:
    """Write what the leaderboard could have said, had the ties fallen otherwise."""
    if note := own_rule_note(studies.measure):
        return Section("stability", "Stability", "What ties decide of the order.", sentences=(note,))
    study, traditional = studies.order_stability, studies.measure_at.traditional
    rows = study.bounds.sort_values("expected", ascending=False, kind="stable")
    chances = study.ranks.loc[rows.index]
    table = Table.of(
        f"Where {traditional} can land",
        {
            "Reranker": rows.index,
            "Mean": (rows["expected"], FOUR_DECIMALS),
            "± ties": (rows["std"], FOUR_DECIMALS),
            "Worst": (rows["worst"], FOUR_DECIMALS),
            "Best": (rows["best"], FOUR_DECIMALS),
            "Place": (rows["place"], "d"),
            "Possible places": place_ranges(rows["best_place"], rows["worst_place"]),
            "Likeliest place": (chances.idxmax(axis=1), "d"),
            "Its chance": _likeliest_chances(rows, chances),
            "How": rows["method"],
        },
    )
    return Section(
        "stability",
        "Stability",
        f"Every tie broken at random, list by list: what could the leaderboard have said?{_of_best(studies)}",
        sentences=(stability_finding(study.pairs, study.bounds, study.tau, traditional, studies.copies),),
        tables=(table,),
        charts=("places",) if len(rows) > 1 else (),
    )


def _of_best(studies: ReportStudies) -> str:
    """Say that a section is of the best rerankers, where there are more."""
    return f" The {MAX_RERANKERS} best by tied mean." if len(studies.rerankers) > MAX_RERANKERS else ""


def _likeliest_chances(bounds: pd.DataFrame, chances: pd.DataFrame) -> list[str]:
    """Return the chance of each likeliest place; 100% only where a reranker has no other."""
    is_sure = bounds["best_place"] == bounds["worst_place"]
    pairs = zip(chances.max(axis=1), is_sure, strict=True)
    return [percent(1.0) if sure else chance_percent(chance) for chance, sure in pairs]


def targets(studies: ReportStudies) -> Section:
    """Write what was to be reached, and whether it is by every order."""
    rows = studies.targets
    margins = rows["value"] - rows["bound"]
    table = Table.of(
        "Targets in numbers",
        {
            "Reranker": rows["reranker"],
            "Target": rows["target"],
            VERDICT: rows["verdict"],
            "Tied": (rows["tied"], FOUR_DECIMALS),
            "To target": (
                [
                    margin if ">" in target else -margin
                    for margin, target in zip(margins, rows["target"], strict=True)
                ],
                SIGNED,
            ),
            "Traditional": (rows["traditional"], FOUR_DECIMALS),
            "Worst": (rows["worst"], FOUR_DECIMALS),
            "Best": (rows["best"], FOUR_DECIMALS),
            "Passes": ["pass" if is_passed else "fail" for is_passed in rows["passed"]],
        },
        legend(TARGET_VERDICTS, rows["verdict"]),
    )
    drawn_rows = rows[rows["reranker"] == studies.targets_for]
    return Section(
        "targets",
        "Targets",
        "A target is met when the tied value passes it.",
        sentences=(target_finding(drawn_rows, studies.targets_for),),
        tables=(table,) if len(rows) else (),
        charts=("targets", "passes") if len(rows) else (),
    )


def tools(studies: ReportStudies) -> Section:
    """Write what other software would report for the same files."""
    values = studies.tools
    return Section(
        "tools",
        "Other tools",
        "The same files, scored as each tool breaks ties, holds scores and treats missing queries."
        f"{_of_best(studies)}",
        sentences=(tool_finding(values, studies.measure),),
        tables=(_tool_values(studies), _tool_rules(values)) if len(values) else (),
        charts=("tools",) if len(comparable_values(values, studies.measure)) else (),
    )


def _tool_values(studies: ReportStudies) -> Table:
    """Return the value of each reranker by each tool, a column for the tools that agree on every reranker."""
    values, scoring = by_reranker(studies.tools), studies.options.scoring
    values = values.reindex(studies.leaderboard.index.intersection(values.index))
    columns: dict[str, Column] = {", ".join(tools): (values[tools], FOUR_DECIMALS) for tools in values}
    compared = compared_as(scoring.precision)
    note = f"Relevant from grade {scoring.relevant_from:g}, scores as {compared}. –: no number."
    return Table.of("What each tool reports", {"Reranker": values.index, **columns}, note)


def _tool_rules(values: pd.DataFrame) -> Table:
    """Return what each tool calls the measure, and why its value differs or is not there."""
    return Table("Why tools differ", by_tool(values)[[*_HEADINGS]].rename(columns=_HEADINGS))


MOST_PAIRS = 20
"""Pairs in the table, those that swap first."""
_OFF = "does not come out"


def auditing(studies: ReportStudies) -> Section:
    """Write what becomes of the published table: a sentence to paste, its figures and its orders."""
    audit, order = studies.audit, studies.audited_order
    files = first_names(list(dict.fromkeys(map(str, audit.published.figures["file"]))))
    rows, columns = (len(names) for names in (audit.published.rerankers, audit.published.measures))
    size = f"{count_of(rows, 'row')}, {count_of(columns, 'measure')}"
    figures = audit.reproduction.figures()
    means = figures[figures["query_id"].isna()]
    tables = [
        *([_printed_figures(audit, means)] if len(means) else []),
        *([_printed_orders(order)] if len(order.pairs) else []),
    ]
    return Section(
        "audit",
        "Audit",
        f"The published table, {files} ({size}), made again from the runs, then with ties averaged.",
        sentences=(audit_finding(audit, order), *((note,) for note in _audit_notes(audit))),
        tables=tuple(tables),
        charts=("published",) if len(order.places) > 1 else (),
    )


def _audit_notes(audit: Audit) -> list[str]:
    """Return sentences on what of the table and of the runs is left out, and on what was read otherwise."""
    names = audit.names
    parts = {
        "Left out, as no name is matched": names.unmatched,
        "Not in the table": first_names(names.unpublished),
    }
    return [*audit.published.notes, *(f"{what}: {text}." for what, text in parts.items() if text)]


def _printed_figures(audit: Audit, means: pd.DataFrame) -> Table:
    """Return the printed means, each marked where it is off by rounding or does not come out."""
    cells = means.assign(cell=[_marked(row) for row in means.to_dict("records")])
    wide = cells.pivot_table("cell", "reranker", "measure", aggfunc="first", sort=False)
    wide = wide.reindex(columns=list(dict.fromkeys(means["measure"]))).fillna("")
    columns: dict[str, Column] = {"Reranker": wide.index, **{str(name): wide[name] for name in wide}}
    best = audit.reproduction.conventions.iloc[0]
    n_off = best["does_not_come_out"]
    counts = (
        f"{best['to_the_digit']:,} to the digit, {best['by_rounding']:,} by rounding, "
        f"{n_off:,} {'does' if n_off == 1 else 'do'} not come out"
    )
    marks = "≈ is off by rounding; brackets: computed minus printed, where a figure does not come out."
    return Table.of("What comes out", columns, f"Rule: {audit.reproduction.best.label}. {counts}. {marks}")


def _marked(figure: dict[str, object]) -> str:
    """Return a figure as printed, with what is off."""
    if figure["verdict"] == _OFF:
        difference = float(str(figure["difference"]))
        off = " (no value)" if isnan(difference) else f" ({signed(difference)})"
    else:
        off = " ≈" if figure["verdict"] == "by rounding" else ""
    return f"{figure['text']}{off}"


def _printed_orders(order: AuditedOrder) -> Table:
    """Return what becomes of the printed orders, those that swap first."""
    rows, n_pairs = widest_first(order.pairs), len(order.pairs)
    is_part = n_pairs > MOST_PAIRS
    title = f"The first {MOST_PAIRS} of {n_pairs:,} orders" if is_part else f"Orders by {order.measure}"
    rows = rows.head(MOST_PAIRS)
    return Table.of(
        title,
        {
            "Published above": rows["a"],
            "Below": rows["b"],
            VERDICT: rows["verdict"],
            "Printed": (rows["a_published"], FOUR_DECIMALS),
            "Printed below": (rows["b_published"], FOUR_DECIMALS),
            "Tied diff.": (rows["tied_difference"], SIGNED),
            "p adj.": (rows["p_adjusted"], "p"),
            "Chance of the order": written_chances(rows),
        },
        legend(STANDINGS, rows["verdict"]),
    )


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
