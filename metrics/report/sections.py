"""Sections of a report: each answers one question from the studies."""

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, score_runs
from metrics.evaluation.evaluation import adds_queries
from metrics.evaluation.holes import is_exact, joint_bounds, judged_name, unjudged_counts, unjudged_shares
from metrics.measures import parse
from metrics.report.studies import MAX_RERANKERS, ReportStudies
from metrics.report.tables import FOUR_DECIMALS, SEVERITY, VERDICT, Column, Section, Table, legend
from metrics.runs.findings import FindingGroup, group_findings
from metrics.studies.audit.audited_order import VERDICTS as STANDINGS
from metrics.studies.audit.audited_order import audit_finding, widest_first, written_chances
from metrics.studies.emulation import by_reranker, by_tool, comparable_values, tool_finding
from metrics.studies.experiment import experiment_lines, experiment_measures, experiment_note
from metrics.studies.gaps import gap_finding, with_overall
from metrics.studies.holes import QUERIES_MAY_JOIN, are_bounds_known, hole_finding, mean_bounds, within_words
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

_SIGNED = "+.4f"
_STARS = "*** p < 0.001, ** p < 0.01, * p < 0.05, ns not significant."
_MOST_ROWS, _MOST_FILES, _MOST_PAIRS = 20, 6, 20
_BY_ORDER = {"Worst": "worst", "Best": "best"}


def _figures(rows: pd.DataFrame, names: Mapping[str, str], spec: str = FOUR_DECIMALS) -> dict[str, Column]:
    """Return heading → a column of `rows` with this format, for each heading → column name."""
    return {heading: (rows[name], spec) for heading, name in names.items()}


def _value_range(values: Iterable[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def number_of_queries(studies: ReportStudies) -> str:
    """Return how many queries there are, and how many each reranker has if some lack queries."""
    each = _queries_of_each(studies)
    return count_of(studies.n_queries, "query") + (f", {each} each" if each else "")


def _queries_of_each(studies: ReportStudies) -> str:
    n_scored = studies.evaluation.policies["n_scored"].loc[list(studies.rerankers)]
    return _value_range(n_scored) if n_scored.min() < studies.n_queries else ""


def _best_cells(frame: pd.DataFrame, column: str, within: str | None = None) -> frozenset[tuple[int, str]]:
    """Return the cells with the largest figure of each group, to four decimals; none if all are equal."""
    rounded = frame[column].round(4)
    groups = [frame.index] if within is None else frame.groupby(within, sort=False).groups.values()
    varied = [rounded[rows] for rows in groups if rounded[rows].max() > rounded[rows].min()]
    return frozenset((int(row), column) for values in varied for row in values.index[values == values.max()])


def _with_best(table: Table, column: str, within: str | None = None) -> Table:
    return replace(table, strong=_best_cells(table.frame, column, within))


def _rank_ranges(best: "pd.Series[int]", worst: "pd.Series[int]") -> list[str]:
    return [f"{high}" if high == low else f"{high}–{low}" for high, low in zip(best, worst, strict=True)]


def _tied_columns(studies: ReportStudies, board: pd.DataFrame) -> dict[str, Column]:
    return {
        "#": (board["tied_rank"], "d"),
        "Reranker": board["reranker"],
        VERDICT: board["verdict"],
        studies.measure_at.tied: (board["tied"], FOUR_DECIMALS),
    }


def _columns_by_order(studies: ReportStudies, board: pd.DataFrame) -> dict[str, Column]:
    gap = _figures(board, {"Gap": "gap"}, _SIGNED)
    return _figures(board, {studies.order.heading: "traditional"}) | gap | _figures(board, _BY_ORDER)


def _of_best(studies: ReportStudies) -> str:
    is_part = len(studies.rerankers) > MAX_RERANKERS
    return f" It covers the {MAX_RERANKERS} rerankers with the highest tied score." if is_part else ""


def _summary(studies: ReportStudies) -> Section:
    measure, board = studies.measure_at, studies.leaderboard.reset_index().head(_MOST_ROWS)
    columns, count = _tied_columns(studies, board), len(studies.rerankers)
    traditional = ""
    if not studies.has_own_rule:
        columns |= _columns_by_order(studies, board)
        traditional = (
            f" {measure.traditional} breaks ties by {studies.order.order}. Worst and best span all tie orders."
        )
    table = Table.of(f"The first {_MOST_ROWS} of {count}" if count > _MOST_ROWS else "Leaderboard", columns)
    has_others = count > 1 and not studies.has_own_rule
    sentences = (
        [significance_finding(studies.verdicts, measure.traditional, studies.options.test)]
        if has_others
        else []
    )
    return Section(
        "summary",
        "Summary",
        f"Rerankers by {measure.tied}, best first.{traditional}",
        sentences=tuple(sentences),
        tables=(_with_best(table, measure.tied),),
        charts=("leaderboard",) if has_others else (),
    )


def _swaps(studies: ReportStudies) -> Section:
    rows, measure, total = studies.widest_swaps, studies.measure_at, len(studies.swaps)
    tables: tuple[Table, ...] = ()
    if total:
        columns: dict[str, Column] = {
            "Ranked first traditionally": rows["a"],
            "Ranked first with ties averaged": rows["b"],
            VERDICT: rows["verdict"],
            measure.traditional: _pairs(rows, "traditional"),
            measure.tied: _pairs(rows, "tied"),
            "Difference": (rows["tied_difference"], _SIGNED),
            "p adj.": (rows["p_adjusted"], "p"),
            "Traditional order": [chance_percent(chance) for chance in rows["above"]],
        }
        note = (
            "Each value pair lists the first name, then the second. Difference and p (paired t-test, Holm over "
            "all pairs) compare tied scores. Traditional order: its chance when all ties are broken at random."
        )
        title = "Pair by pair" if len(rows) == total else f"The {len(rows)} widest of {total:,}"
        tables = (Table.of(title, columns, note),)
    return Section(
        "swaps",
        "Pairs that swap",
        f"The traditional order ({studies.order.label}) ranks these pairs differently from tied scores.",
        sentences=(swaps_finding(studies.swaps, studies.n_scored, studies.measure_at.traditional),),
        tables=tables,
    )


def _filled(facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((label, text) for label, text in facts if text)


def _pairs(rows: pd.DataFrame, value: str) -> list[str]:
    pairs = zip(rows[f"{value}_a"], rows[f"{value}_b"], strict=True)
    return [f"{first:.4f} / {second:.4f}" for first, second in pairs]


def _audit(studies: ReportStudies) -> Section:
    audit, order, published = studies.audit, studies.audited_order, studies.audit.published
    files = first_names(list(dict.fromkeys(map(str, published.figures["file"]))))
    size = f"{count_of(len(published.rerankers), 'row')}, {count_of(len(published.measures), 'measure')}"
    parts = {
        "Left out because no name matches": audit.names.unmatched,
        "Not in the table": first_names(audit.names.unpublished),
    }
    notes = [*published.notes, *(f"{what}: {text}." for what, text in parts.items() if text)]
    figures = audit.reproduction.figures()
    means = figures[figures["query_id"].isna()]
    return Section(
        "audit",
        "Audit",
        f"Which values of the published table {files} ({size}) the runs reproduce, and what averaging ties "
        "changes.",
        sentences=(audit_finding(audit, order), *((note,) for note in notes)),
        tables=(
            *([_printed_figures(studies, means)] if len(means) else []),
            *([_printed_orders(studies)] if len(order.pairs) else []),
        ),
        charts=("published",) if len(order.places) > 1 else (),
    )


def _printed_figures(studies: ReportStudies, means: pd.DataFrame) -> Table:
    cells = means.assign(cell=[_marked(row) for row in means.to_dict("records")])
    wide = cells.pivot_table("cell", "reranker", "measure", aggfunc="first", sort=False)
    wide = wide.reindex(columns=list(dict.fromkeys(means["measure"]))).fillna("")
    reproduction = studies.audit.reproduction
    best = reproduction.conventions.iloc[0]
    n_off = best["does_not_come_out"]
    note = (
        f"Rule: {reproduction.best.label}. {best['to_the_digit']:,} to the digit, {best['by_rounding']:,} by "
        f"rounding, {n_off:,} {'is' if n_off == 1 else 'are'} not reproduced. ≈: equal after rounding. In "
        "brackets: computed minus printed value."
    )
    columns: dict[str, Column] = {"Reranker": wide.index, **{str(name): wide[name] for name in wide}}
    return Table.of("Reproduced figures", columns, note)


def _marked(figure: dict[str, Any]) -> str:
    """Return a figure as printed, with its deviation."""
    if figure["verdict"] != "is not reproduced":
        return f"{figure['text']}{' ≈' * (figure['verdict'] == 'by rounding')}"
    difference = float(figure["difference"])
    return f"{figure['text']} ({'no value' if isnan(difference) else signed(difference)})"


def _printed_orders(studies: ReportStudies) -> Table:
    order = studies.audited_order
    rows, n_pairs = widest_first(order.pairs).head(_MOST_PAIRS), len(order.pairs)
    is_part = n_pairs > _MOST_PAIRS
    columns: dict[str, Column] = {
        "Published above": rows["a"],
        "Below": rows["b"],
        VERDICT: rows["verdict"],
        **_figures(rows, {"Printed": "a_published", "Printed below": "b_published"}),
        "Tied diff.": (rows["tied_difference"], _SIGNED),
        "p adj.": (rows["p_adjusted"], "p"),
        "Chance of printed order": written_chances(rows),
    }
    title = f"The first {_MOST_PAIRS} of {n_pairs:,} orders" if is_part else f"Orders by {order.measure}"
    return Table.of(title, columns, legend(STANDINGS, rows["verdict"]))


def _paper(studies: ReportStudies) -> Section:
    measure, board = studies.measure_at, studies.leaderboard.reset_index()
    traditional_stars, tied_stars = (
        [stars.get(name, "") for name in board["reranker"]]
        for stars in map(_significance_stars, (studies.verdicts.traditional, studies.verdicts.tied))
    )
    columns: dict[str, Column] = {"Reranker": board["reranker"]}
    rule = ""
    if not studies.has_own_rule:
        columns |= {**_figures(board, {measure.traditional: "traditional"}), " ": traditional_stars}
        rule = (
            f"{measure.traditional}: {studies.order.label}. {measure.tied}: mean over all tie orders. "
            "Worst and best: smallest and largest value over these orders. "
        )
    columns |= {**_figures(board, {measure.tied: "tied"}), "  ": tied_stars}
    columns |= {} if studies.has_own_rule else _figures(board, _BY_ORDER)
    test = _test_text(studies)
    table = Table.of(
        f"{measure.tied} of {count_of(len(board), 'reranker')} on {number_of_queries(studies)}",
        {name: column for name, column in columns.items() if name.strip() or any(column)},
        f"{rule}{f'Stars: {test}; {_STARS}' if test else ''}".strip(),
    )
    tables = (_with_best(table, measure.tied),)
    return Section("paper", "Table for a paper", "Best tied score first.", tables=tables)


def _significance_stars(comparisons: pd.DataFrame) -> dict[str, str]:
    pairs = zip(comparisons["reranker"], comparisons["stars"], strict=True)
    return {reranker: stars for reranker, stars in pairs if "*" in stars}


def _corrected(studies: ReportStudies, before: str) -> str:
    """Name the correction after `before`; empty if the test needs none or none was chosen."""
    correction = find_correction(studies.options.correction)
    is_free = find_test(studies.options.test).simultaneous or correction.method is None
    return "" if is_free else f"{before}{correction.label} correction"


def _test_text(studies: ReportStudies) -> str:
    label = find_test(studies.options.test).label
    is_alone = len(studies.rerankers) == 1
    return "" if is_alone else f"{label}{_corrected(studies, ', ')}, against {studies.baseline}"


def _brief(studies: ReportStudies) -> Section:
    options, policies, measure = studies.options, studies.evaluation.policies, studies.measure_at
    n_without = int(policies[["n_missing", "n_empty"]].to_numpy().max())
    tied = "" if studies.has_own_rule else f"{measure.tied}: exact mean over all tie orders"
    facts = (
        ("Measure", f"{measure.traditional}: {measure.measure.summary}"),
        ("Traditional", "" if studies.has_own_rule else studies.order.label),
        ("Tied", tied),
        ("Data", f"{count_of(len(studies.rerankers), 'reranker')}, {number_of_queries(studies)}"),
        (
            "Queries without rows or relevant documents",
            f"up to {n_without:,} per reranker" if n_without else "",
        ),
        ("Relevant", f"grade {options.scoring.relevant_from:g} and above"),
        ("Test", _test_text(studies)),
        ("Files", first_names([name for name, _ in options.files], _MOST_FILES)),
    )
    return Section("brief", "Method in brief", "How these values were computed.", facts=_filled(facts))


def _data(studies: ReportStudies) -> Section:
    options, lists, policies = studies.options, studies.evaluation.lists, studies.evaluation.policies
    scoring = options.scoring
    is_read = scoring.precision == "float64"
    names = options.rerankers or studies.runs.rerankers
    is_left_out = scoring.unjudged == "leave_out"
    unjudged = f"unjudged documents are {'left out of the lists' if is_left_out else 'not relevant'}"
    facts = (
        ("Queries", f"{studies.n_queries:,}"),
        ("Queries per reranker", _queries_of_each(studies)),
        ("Rerankers", f"{len(studies.rerankers):,}"),
        ("Documents per list", _value_range(lists["n_docs"])),
        ("Relevant documents per query", _value_range(lists["n_relevant"])),
        ("Relevant", f"grade {scoring.relevant_from:g} and above; {unjudged}"),
        ("Scores are compared as", "64-bit floats, as read" if is_read else compared_as(scoring.precision)),
        ("Judged queries without rows", _policy(policies["n_missing"], scoring.missing)),
        ("Queries without relevant documents", _policy(policies["n_empty"], scoring.empty)),
        ("Query groups", ", ".join(options.segments)),
        ("Ranked by Pareto fronts of", ", ".join(scoring.criteria)),
        ("Ties are broken first by", ", ".join(scoring.tiebreak_by)),
        ("Rerankers without a list", ", ".join(name for name in names if name not in studies.rerankers)),
    )
    counts = {
        "Queries": "n_queries",
        "Without rows": "n_missing",
        "Not relevant": "n_empty",
        "Scored": "n_scored",
    }
    is_uneven = bool(policies[["n_missing", "n_empty"]].to_numpy().any())
    table = Table.of("Scored queries", {"Reranker": policies.index, **_figures(policies, counts, ",d")})
    return Section(
        "data",
        "Data and policies",
        "The ranked documents, the relevance threshold, and the causes of ties.",
        sentences=tie_remedies(studies.findings),
        facts=_filled(facts),
        tables=(table,) if is_uneven else (),
    )


def _policy(counts: "pd.Series[int]", policy: str) -> str:
    largest = int(counts.max())
    treated = "counted as 0" if policy == "zero" else "left out"
    return f"up to {largest:,} per reranker, {treated}" if largest else "none"


def _scores(studies: ReportStudies) -> Section:
    measure, answers = studies.measure_at, studies.tie_answers
    sentences = [leaderboard_finding(studies.leaderboard, measure.traditional, studies.options.traditional)]
    tables = [_leaderboard(studies)]
    if answers is not None:
        sentences.append(answers_finding(answers, studies.leaderboard["tie_ratio"]))
        columns = {str(label): (means, FOUR_DECIMALS) for label, means in answers.items()}
        note = "First column: one tie order. Second: mean over all tie orders. Others: their own rules."
        title = f"{answers.columns[0]} by every rule for ties"
        tables.append(Table.of(title, {"Reranker": answers.index, **columns}, note))
    bound_sentences, bound_tables = _bounds(studies)
    return Section(
        "scores",
        "Scores",
        f"Traditional scores break ties by {studies.order.order}. Tied scores average over all tie orders. "
        "Worst and best are the smallest and largest value of any tie order.",
        sentences=(*sentences, *bound_sentences),
        tables=(*tables, *bound_tables, _every_measure(studies)),
    )


def _leaderboard(studies: ReportStudies) -> Table:
    measure, board = studies.measure_at, studies.leaderboard.reset_index()
    std_over_queries = studies.evaluation.summary()[studies.measure, "expected", "std"]
    columns = _tied_columns(studies, board)
    note = "SD queries: sample standard deviation over lists."
    if "tier" in board:
        ranks = _rank_ranges(board["rank_low"], board["rank_high"])
        columns |= {"Tier": (board["tier"], "d"), "Ranks": ranks}
        note += (
            " Ranks: 95% intervals for the rank by true mean, jointly for all rerankers (Mogstad et al. 2024). "
            f"Tier: neighbouring rerankers that the data cannot tell apart. {tiers_condition(studies.measure)}"
        ).rstrip()
    columns["SD queries"] = (std_over_queries.reindex(board["reranker"]), FOUR_DECIMALS)
    if not studies.has_own_rule:
        columns |= _columns_by_order(studies, board) | {"Reason": board["why"]}
        note += f" {legend(VERDICTS, board['verdict'])}"
    return _with_best(Table.of(f"{measure.traditional}, best tied score first", columns, note), measure.tied)


def _every_measure(studies: ReportStudies) -> Table:
    traditional, measures = studies.options.traditional, studies.options.measures
    rerankers = studies.leaderboard.index
    summary = studies.evaluation.summary().loc[rerankers]
    own_rule = np.array([bool(parse(measure).measure.answers) for measure in measures for _ in rerankers])

    def column(ties: str, statistic: str = "mean") -> "pd.Series[float]":
        return pd.concat([summary[measure, ties, statistic] for measure in measures], ignore_index=True)

    by_order = {
        studies.order.heading: column(traditional),
        "SD ": column(traditional, "std"),
        "Tied": column("expected"),
        "SD": column("expected", "std"),
        "Worst": column("pessimistic"),
        "Best": column("optimistic"),
    }
    columns: dict[str, Column] = {
        "Measure": [parse(measure).traditional for measure in measures for _ in rerankers],
        "Reranker": [*rerankers] * len(measures),
    }
    for heading, values in by_order.items():
        columns[heading] = (values if heading in ("Tied", "SD") else values.mask(own_rule), FOUR_DECIMALS)
    columns["Gap"] = ((column(traditional) - column("expected")).mask(own_rule), _SIGNED)
    note = "SD: sample standard deviation over lists. Bold: highest tied score of a measure."
    return _with_best(Table.of("Every measure", columns, note), "Tied", "Measure")


def _bounds(studies: ReportStudies) -> tuple[tuple[Prose, ...], tuple[Table, ...]]:
    """Return a sentence and a table about the bounds that ties and unjudged documents allow together.

    Both are empty if all documents within the cut-off are judged, or unjudged documents are left out.
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
    headings = {name.capitalize(): name for name in ("lowest", "worst", "tied", "best", "highest")}
    columns = {"Reranker": leaderboard.index, "Unjudged": (leaderboard["unjudged"], ".1%")}
    note = (
        f"Unjudged: share of unjudged documents in the {within_words(measure)}. Worst, tied and best count "
        "unjudged documents as not relevant. Lowest and highest also cover all grades that unjudged documents "
        f"could have{'' if is_exact(runs, measure) else ' (bounds that may not be reached)'}."
    )
    title = f"{measure.traditional} with unjudged documents"
    table = Table.of(title, columns | _figures(leaderboard, headings), note)
    return (hole_finding(leaderboard, counts, measure),), (table,)


def _readings(studies: ReportStudies) -> Section:
    rr, ap = (parse(measure) for measure in MEASURES)
    rows, has_others = studies.readings, len(studies.readings) > 1
    over_baseline = f"×: ratio to {studies.baseline}." if has_others else ""
    ranks = _figures(
        rows, {"1/MRR": "traditional_rank", "1/MTRR": "tied_rank", "Mean rank": "mean_rank"}, ",.1f"
    )
    mean_rank = "Mean rank: of the first relevant document in tie order, over lists with a relevant document."
    first_hits = Table.of(
        "MRR as ratios and ranks" if has_others else "MRR as ranks",
        {"Reranker": rows.index, **_values(studies, "rr"), **ranks},
        f"{mean_rank} {over_baseline}".strip(),
    )
    columns = {
        "Reranker": rows.index,
        "Relevant per query": (rows["relevant"], ".2f"),
        **_values(studies, "ap"),
    }
    all_hits = Table.of("MAP", columns)
    if has_others:
        columns |= _figures(rows, {"RR or AP alone": "one_sided", "RR against AP": "opposed"}, ",d")
        note = (
            "RR or AP alone: queries on which only one of the two tied scores differs from the baseline. RR "
            f"against AP: queries on which one is higher and the other lower. {over_baseline}"
        )
        all_hits = Table.of("MAP as ratios, and where it differs from MRR", columns, note)
    return Section(
        "readings",
        f"{rr.traditional} beside {ap.traditional}",
        "Compares both measures as ranks and ratios, and shows where they disagree.",
        sentences=(readings_finding(studies.readings, studies.baseline),),
        facts=(
            (f"{rr.traditional} ignores", limits_text("RR")),
            (f"{ap.traditional} ignores", limits_text("AP")),
            (f"1/{rr.tied}", TYPICAL_RANK),
        ),
        tables=(first_hits, all_hits),
    )


def _values(studies: ReportStudies, prefix: str) -> dict[str, Column]:
    """Return both means of a measure, each with its ratio to the baseline's if there are other rerankers."""
    rows, measure = studies.readings, parse(prefix)
    columns: dict[str, Column] = {}
    for value, name in (("traditional", measure.traditional), ("tied", measure.tied)):
        columns[name] = (rows[f"{prefix}_{value}"], FOUR_DECIMALS)
        if len(rows) > 1:
            columns[f"{name} ×"] = (rows[f"{prefix}_{value}_times"], ".3g")
    return columns


def _targets(studies: ReportStudies) -> Section:
    rows = studies.targets
    margins = (rows["value"] - rows["bound"]) * np.where(rows["target"].str.contains(">"), 1, -1)
    table = Table.of(
        "Targets in numbers",
        {
            "Reranker": rows["reranker"],
            "Target": rows["target"],
            VERDICT: rows["verdict"],
            **_figures(rows, {"Tied": "tied"}),
            "Margin": (margins, _SIGNED),
            **_figures(rows, {"Traditional": "traditional", **_BY_ORDER}),
            "Result": np.where(rows["passed"], "pass", "fail"),
        },
        legend(TARGET_VERDICTS, rows["verdict"]),
    )
    return Section(
        "targets",
        "Targets",
        "A target is met if the tied score passes it.",
        sentences=(target_finding(rows[rows["reranker"] == studies.targets_for], studies.targets_for),),
        tables=(table,) if len(rows) else (),
        charts=("targets", "passes") if len(rows) else (),
    )


def _ties(studies: ReportStudies) -> Section:
    summary = with_overall(studies.summary, studies.lists)
    gap = f"|{studies.question.traditional} gap|"
    columns = {
        "Reranker": summary.index,
        **_figures(summary, {"Lists": "n"}, ",d"),
        **_figures(summary, {"With ties": "with_ties_share"}, ".1%"),
        **_figures(
            summary, {"Tie groups per list": "tie_groups", "Largest tie, mean": "max_tie_size_mean"}, ".2f"
        ),
        **_figures(summary, {"Largest tie": "max_tie_size"}, ",d"),
        **_figures(summary, {"Documents tied": "tie_ratio"}, ".1%"),
        **_figures(summary, {f"{gap}, mean": "first_gap_mean", "SD": "first_gap_std"}),
        **_figures(summary, {f"{gap}, largest": "first_gap_max"}),
        **_figures(summary, {"r, tie ratio": "first_r_ratio"}, ".3f"),
    }
    note = (
        "Largest tie, mean: a list without ties counts as 1, a list without rows as 0. SD: sample standard "
        "deviation over lists. r: correlation of the tie ratio with the absolute gap."
    )
    return Section(
        "ties",
        "Ties",
        "How many documents tie, and how far the traditional value of a list is from its tied value.",
        sentences=((*own_rule_note(studies.measure), *gap_finding(studies.lists, str(studies.question))),),
        tables=(Table.of("Ties of each reranker", columns, note),),
        charts=("gaps",),
    )


def _significance(studies: ReportStudies) -> Section:
    verdicts, options = studies.verdicts.best_first(), studies.options
    traditional, test = studies.measure_at.traditional, find_test(options.test)
    has_rows = len(verdicts.tied) > 0
    return Section(
        "significance",
        "Significance",
        f"{traditional} differences from {studies.baseline}: {test.label}{_corrected(studies, ' with ')}.",
        sentences=(significance_finding(verdicts, traditional, options.test),),
        tables=_comparison_tables(studies, verdicts) if has_rows else (),
        charts=("differences",) if has_rows else (),
    )


def _comparison_tables(studies: ReportStudies, verdicts: Verdicts) -> tuple[Table, Table]:
    """Return the differences from the baseline with their p, and the effects with queries won and lost."""
    tested = verdicts.without_untested()
    tied, before = tested.tied, tested.traditional
    changed = ["depends on tie order" if is_changed else "" for is_changed in verdicts.changed]
    differences: dict[str, Column] = {
        "Reranker": tied["reranker"],
        **({VERDICT: changed} if any(changed) else {}),
        **_figures(before, {"Traditional": "difference"}, _SIGNED),
        **_figures(before, {"p adj.": "p_adjusted"}, "p"),
        " ": before["stars"],
        **_figures(tied, {"Tied": "difference", "From": "low", "To": "high"}, _SIGNED),
        **_figures(tied, {"p adj., tied": "p_adjusted"}, "p"),
        "  ": tied["stars"],
    }
    effects: dict[str, Column] = {
        "Reranker": tied["reranker"],
        **_figures(tied, {"Effect d": "dz"}, "+.2f"),
        **_figures(tied, {"Won": "won", "Equal": "equal", "Lost": "lost"}, ",d"),
        **({"Note": tied["note"]} if tied["note"].any() else {}),
    }
    interval = find_test(studies.options.test).interval_scope
    note = f"From, to: {verdicts.level:.0%} {interval}. {_STARS}"
    effects_title = f"Queries won and lost against {studies.baseline} by tied scores"
    return Table.of(f"Against {studies.baseline}", differences, note), Table.of(effects_title, effects)


def _tradeoffs(studies: ReportStudies) -> Section:
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


def _stability(studies: ReportStudies) -> Section:
    if note := own_rule_note(studies.measure):
        return Section("stability", "Stability", "How ties affect the ranking.", sentences=(note,))
    study, traditional = studies.order_stability, studies.measure_at.traditional
    rows = study.bounds.sort_values("expected", ascending=False, kind="stable")
    chances = study.ranks.loc[rows.index]
    is_sure = rows["best_place"] == rows["worst_place"]
    pairs = zip(chances.max(axis=1), is_sure, strict=True)
    table = Table.of(
        f"Possible {traditional} and ranks",
        {
            "Reranker": rows.index,
            **_figures(rows, {"Mean": "expected", "SD ties": "std", **_BY_ORDER}),
            "Rank": (rows["place"], "d"),
            "Possible ranks": _rank_ranges(rows["best_place"], rows["worst_place"]),
            "Likeliest rank": (chances.idxmax(axis=1), "d"),
            "Its chance": [percent(1.0) if sure else chance_percent(chance) for chance, sure in pairs],
            "Method": rows["method"],
        },
    )
    return Section(
        "stability",
        "Stability",
        f"The leaderboard when all ties are broken at random.{_of_best(studies)}",
        sentences=(stability_finding(study.pairs, study.bounds, study.tau, traditional, studies.copies),),
        tables=(table,),
        charts=("places",) if len(rows) > 1 else (),
    )


def _tools(studies: ReportStudies) -> Section:
    values, scoring = studies.tools, studies.options.scoring
    tables: tuple[Table, ...] = ()
    if len(values):
        wide = by_reranker(values)
        wide = wide.reindex(studies.leaderboard.index.intersection(wide.index))
        columns: dict[str, Column] = {", ".join(tools): (wide[tools], FOUR_DECIMALS) for tools in wide}
        compared = compared_as(scoring.precision)
        note = f"Relevant from grade {scoring.relevant_from:g}. Scores compared as {compared}. –: no value."
        headings = {"tool": "Tool", "version": "Version", "spelling": "Name there", "why": "Why it differs"}
        tables = (
            Table.of("Values reported by each tool", {"Reranker": wide.index, **columns}, note),
            Table("Why tools differ", by_tool(values)[[*headings]].rename(columns=headings)),
        )
    return Section(
        "tools",
        "Other tools",
        "How other tools score the same files, with their own tie order, rounding and treatment of missing "
        f"queries.{_of_best(studies)}",
        sentences=(tool_finding(values, studies.measure),),
        tables=tables,
        charts=("tools",) if len(comparable_values(values, studies.measure)) else (),
    )


def _findings(studies: ReportStudies) -> Section:
    groups = group_findings(studies.findings, studies.runs.rerankers)
    columns: dict[str, Column] = {
        SEVERITY: [group.severity for group in groups],
        "Where": [_place(group) for group in groups],
        "Finding": [_example(group) for group in groups],
        "What to do": [group.hint for group in groups],
    }
    return Section(
        "findings",
        "Findings",
        "Problems in the files, the most severe first.",
        sentences=() if groups else (("The files have no problems.",),),
        tables=(Table.of("By kind", columns),) if groups else (),
    )


def _place(group: FindingGroup) -> str:
    names = first_names([name for line in group.lines for name in line.names])
    place = group.lines[0].place if len(group.lines) == 1 else ""
    return f"{names}, {place}" if place else names


def _example(group: FindingGroup) -> str:
    if len(group.lines) == 1:
        return group.title
    first = group.lines[0]
    return f"{group.subject}: {group.title} Mainly {first_names(first.names)}: {first.message}"


def _method(studies: ReportStudies) -> Section:
    options, order = studies.options, treatment(studies.options.traditional)
    test, correction = find_test(options.test), find_correction(options.correction)
    packages = ("tiescope", "numpy", "pandas", "pyarrow", "scipy", "statsmodels")
    facts = (
        ("Tied value", "exact mean over all orders of the tied documents, list by list"),
        ("Traditional value", f"{order.label} ({order.name}). {order.summary}"),
        ("Test", f"{test.label}. {test.source}"),
        ("Correction", ". ".join(filter(None, (correction.label, correction.source)))),
        ("Versions", ", ".join(f"{name} {_version(name)}" for name in packages)),
        ("Python", platform.python_version()),
    )
    measures = [parse(name) for name in dict.fromkeys((*studies.evaluation.measures, *experiment_measures()))]
    columns = {
        "Measure": [str(name) for name in measures],
        "Tied": [name.tied for name in measures],
        "Definition": [name.measure.summary for name in measures],
        "Source": [name.measure.source for name in measures],
    }
    tables = [Table.of("Measures", columns)]
    if options.files:
        tables.append(Table("Files", pd.DataFrame(options.files, columns=["File", "SHA-256"])))
    summary = "Versions, files and options to reproduce this report."
    return Section("method", "Method", summary, facts=facts, tables=tuple(tables))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


SECTIONS: Mapping[str, Callable[[ReportStudies], Section]] = {
    "summary": _summary,
    "swaps": _swaps,
    "audit": _audit,
    "paper": _paper,
    "brief": _brief,
    "data": _data,
    "scores": _scores,
    "readings": _readings,
    "targets": _targets,
    "ties": _ties,
    "significance": _significance,
    "tradeoffs": _tradeoffs,
    "stability": _stability,
    "tools": _tools,
    "findings": _findings,
    "method": _method,
}
"""Section → its function, in the order of a report."""
