"""Sections of a report: each answers one question from the studies."""

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from metrics.measures import parse, with_gains
from metrics.report.studies import MAX_RERANKERS, ReportStudies
from metrics.report.tables import SEVERITY, VERDICT, Section, Table, legend
from metrics.runs.findings import group_findings
from metrics.studies.audit.audited_order import VERDICTS as STANDINGS
from metrics.studies.audit.audited_order import audit_finding, widest_first, written_chances
from metrics.studies.draws import stability_finding
from metrics.studies.emulation import by_reranker, by_tool, comparable_values, tool_finding
from metrics.studies.experiment import experiment_lines, experiment_measures, experiment_note
from metrics.studies.gaps import gap_finding, with_overall
from metrics.studies.leaderboard import VERDICTS, leaderboard_finding
from metrics.studies.pair_findings import Verdicts, significance_finding
from metrics.studies.pairs import find_method
from metrics.studies.prose import own_rule_note, signed
from metrics.studies.swapped_orders import swaps_finding
from metrics.studies.targets import VERDICTS as TARGET_VERDICTS
from metrics.studies.targets import target_finding
from metrics.studies.tradeoffs import LATENCY
from metrics.support.wording import OUTCOMES, chance_percent, compared_as, count_of, first_names, percent
from metrics.ties import treatment

_STARS = "*** p < 0.001, ** p < 0.01, * p < 0.05, ns not significant."
_MOST_FILES, _MOST_PAIRS = 6, 20
_BY_ORDER = {"Worst": "worst:.4f", "Best": "best:.4f"}
_Write = Callable[[ReportStudies], Section]
SECTIONS: dict[str, _Write] = {}
"""Section → its function, in the order of a report."""


def _section(name: str, title: str) -> Callable[[_Write], _Write]:
    """Register a function as the next section of a report, and name its section."""

    def register(write: _Write) -> _Write:
        SECTIONS[name] = lambda studies: replace(write(studies), name=name, title=title)
        return write

    return register


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


def _rank_ranges(best: "pd.Series[int]", worst: "pd.Series[int]") -> list[str]:
    return [f"{high}" if high == low else f"{high}–{low}" for high, low in zip(best, worst, strict=True)]


def _board_columns(studies: ReportStudies, further: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a leaderboard, with those of tie orders last if they change the measure."""
    tied = {"#": "tied_rank:d", "Reranker": "reranker", VERDICT: "verdict", studies.measure_at.tied: "tied:.4f"}
    by_order = {studies.order.heading: "traditional:.4f", "Gap": "gap:+.4f", **_BY_ORDER}
    return tied | dict(further) | ({} if studies.has_own_rule else by_order)


def _of_best(studies: ReportStudies) -> str:
    is_part = len(studies.rerankers) > MAX_RERANKERS
    return f" This section covers the {MAX_RERANKERS} rerankers with the highest tied score." if is_part else ""


@_section("summary", "Summary")
def _summary(studies: ReportStudies) -> Section:
    measure, count = studies.measure_at, len(studies.rerankers)
    has_others = count > 1 and not studies.has_own_rule
    orders = (
        f" {measure.traditional} breaks ties by {studies.order.order}. Worst and best are the smallest and "
        "largest mean of any tie order."
    )
    board = studies.leaderboard
    is_shown = (np.arange(count) < MAX_RERANKERS) | (board["traditional_rank"] == 1)
    title = f"{is_shown.sum()} of {count} rerankers" if count > MAX_RERANKERS else "Leaderboard"
    table = Table.of(title, board[is_shown], _board_columns(studies, {}))
    return Section(
        f"Rerankers by {measure.tied}, best first.{'' if studies.has_own_rule else orders}",
        sentences=(significance_finding(studies.verdicts, measure.traditional),) if has_others else (),
        tables=(table.with_best(measure.tied),),
        charts=("leaderboard",) if has_others else (),
    )


@_section("swaps", "Pairs that swap")
def _swaps(studies: ReportStudies) -> Section:
    n_scored = int(studies.leaderboard["tied"].notna().sum())
    return Section(
        f"Pairs that the traditional order ({studies.order.label}) and tied scores rank differently.",
        sentences=(swaps_finding(studies.swaps, n_scored, studies.measure_at.traditional),),
        tables=(_swapped_pairs(studies),) if len(studies.swaps) else (),
    )


def _swapped_pairs(studies: ReportStudies) -> Table:
    rows, total = studies.widest_swaps, len(studies.swaps)
    values = {
        name: [f"{a:.4f} / {b:.4f}" for a, b in zip(rows[f"{name}_a"], rows[f"{name}_b"], strict=True)]
        for name in ("traditional", "tied")
    }
    columns = {
        "Ranked first traditionally": "a",
        "Ranked first with ties averaged": "b",
        VERDICT: "verdict",
        studies.measure_at.traditional: "traditional",
        studies.measure_at.tied: "tied",
        "Difference": "tied_difference:+.4f",
        "p adj.": "p_adjusted:p",
        "Traditional order": "chance",
    }
    note = (
        "In each pair of values, the first value belongs to the reranker that is ranked first traditionally. "
        f"Difference and p ({studies.pairs.method}) compare tied scores. Traditional order: probability of the "
        "traditional order when all ties are broken at random."
    )
    title = "Pair by pair" if len(rows) == total else f"The {len(rows)} widest of {total:,}"
    return Table.of(title, rows.assign(**values, chance=rows["above"].map(chance_percent)), columns, note)


@_section("audit", "Audit")
def _audit(studies: ReportStudies) -> Section:
    audit, order, published = studies.audit, studies.audited_order, studies.audit.published
    files = first_names(list(dict.fromkeys(map(str, published.figures["file"]))))
    size = f"{count_of(len(published.rerankers), 'row')}, {count_of(len(published.measures), 'measure')}"
    unpublished = first_names(audit.names.unpublished)
    parts = {"Left out because no name matches": audit.names.unmatched, "Not in the table": unpublished}
    notes = [*published.notes, *(f"{what}: {text}." for what, text in parts.items() if text)]
    figures = audit.reproduction.figures()
    means = figures[figures["query_id"].isna()]
    tables = [_printed_figures(studies, means)] if len(means) else []
    tables += [_printed_orders(studies)] if len(order.pairs) else []
    return Section(
        f"Which values of the published table {files} ({size}) the runs reproduce, and what changes when "
        "ties are averaged.",
        sentences=(audit_finding(audit, order), *((note,) for note in notes)),
        tables=tuple(tables),
        charts=("published",) if len(order.places) > 1 else (),
    )


def _printed_figures(studies: ReportStudies, means: pd.DataFrame) -> Table:
    cells = means.assign(cell=[_marked(row) for row in means.to_dict("records")])
    wide = cells.pivot_table("cell", "reranker", "measure", aggfunc="first", sort=False)
    wide = wide.reindex(columns=list(dict.fromkeys(means["measure"]))).fillna("")
    reproduction = studies.audit.reproduction
    best = reproduction.conventions.iloc[0]
    note = (
        f"Rule: {reproduction.best.label}. Values that match in every digit: {best['to_the_digit']:,}. Values "
        f"that match after rounding (≈): {best['by_rounding']:,}. Values not reproduced: "
        f"{best['does_not_come_out']:,}, with computed minus published value in brackets."
    )
    return Table("Reproduced figures", wide.rename_axis("Reranker").reset_index(), note=note)


def _marked(figure: dict[str, Any]) -> str:
    """Return a figure as printed, with its deviation."""
    if figure["verdict"] != "is not reproduced":
        return f"{figure['text']}{' ≈' * (figure['verdict'] == 'by rounding')}"
    difference = float(figure["difference"])
    return f"{figure['text']} ({'no value' if isnan(difference) else signed(difference)})"


def _printed_orders(studies: ReportStudies) -> Table:
    order = studies.audited_order
    rows, n_pairs = widest_first(order.pairs).head(_MOST_PAIRS), len(order.pairs)
    columns = {
        "Published above": "a",
        "Below": "b",
        VERDICT: "verdict",
        "Published": "a_published:.4f",
        "Published below": "b_published:.4f",
        "Tied difference": "tied_difference:+.4f",
        "p adj.": "p_adjusted:p",
        "Chance of published order": "chance",
    }
    is_part = n_pairs > _MOST_PAIRS
    title = f"The first {_MOST_PAIRS} of {n_pairs:,} orders" if is_part else f"Orders by {order.measure}"
    note = legend(STANDINGS, rows["verdict"])
    return Table.of(title, rows.assign(chance=written_chances(rows)), columns, note)


@_section("paper", "Table for a paper")
def _paper(studies: ReportStudies) -> Section:
    measure, board = studies.measure_at, studies.leaderboard
    traditional = _significance_stars(studies.verdicts.traditional, board.index)
    tied = _significance_stars(studies.verdicts.tied, board.index)
    columns = {measure.tied: "tied:.4f"} | ({"  ": "tied_stars"} if any(tied) else {})
    rule = ""
    if not studies.has_own_rule:
        before = {measure.traditional: "traditional:.4f"}
        before |= {" ": "traditional_stars"} if any(traditional) else {}
        columns = before | columns | _BY_ORDER
        rule = (
            f"{measure.traditional}: {studies.order.label}. {measure.tied}: mean over all tie orders. "
            "Worst and best: smallest and largest value over these orders. "
        )
    test = _test_text(studies)
    table = Table.of(
        f"{measure.tied} of {count_of(len(board), 'reranker')} on {number_of_queries(studies)}",
        board.assign(traditional_stars=traditional, tied_stars=tied),
        {"Reranker": "reranker", **columns},
        f"{rule}{f'Stars: {test}; {_STARS}' if test else ''}".strip(),
    )
    return Section("Best tied score first.", tables=(table.with_best(measure.tied),))


def _significance_stars(comparisons: pd.DataFrame, rerankers: Iterable[str]) -> list[str]:
    """Return the stars of each reranker, empty if its difference is not significant."""
    stars = dict(zip(comparisons["reranker"], comparisons["stars"], strict=True))
    return [text if "*" in (text := stars.get(name, "")) else "" for name in rerankers]


def _test_text(studies: ReportStudies) -> str:
    return "" if len(studies.rerankers) == 1 else f"{studies.verdicts.method}, against {studies.baseline}"


@_section("brief", "Method in brief")
def _brief(studies: ReportStudies) -> Section:
    options, policies, measure = studies.options, studies.evaluation.policies, studies.measure_at
    n_without = int(policies[["n_missing", "n_empty"]].to_numpy().max())
    tied = "" if studies.has_own_rule else f"{measure.tied}: exact mean over all tie orders"
    facts = (
        ("Measure", f"{measure.traditional}: {measure.measure.summary}"),
        ("Traditional", "" if studies.has_own_rule else studies.order.label),
        ("Tied", tied),
        ("Data", f"{count_of(len(studies.rerankers), 'reranker')}, {number_of_queries(studies)}"),
        ("Queries without rows or relevant documents", f"up to {n_without:,} per reranker" * bool(n_without)),
        ("Relevant", f"grade {options.scoring.relevant_from:g} and above"),
        ("Test", _test_text(studies)),
        ("Files", first_names([name for name, _ in options.files], _MOST_FILES)),
    )
    return Section("How these values were computed.", facts=facts)


@_section("data", "Data and policies")
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
        "Reranker": "reranker",
        "Queries": "n_queries:,d",
        "Without rows": "n_missing:,d",
        "Not relevant": "n_empty:,d",
        "Scored": "n_scored:,d",
    }
    is_uneven = bool(policies[["n_missing", "n_empty"]].to_numpy().any())
    return Section(
        "The ranked documents, the relevance threshold and the policies.",
        facts=facts,
        tables=(Table.of("Scored queries", policies, counts),) if is_uneven else (),
    )


def _policy(counts: "pd.Series[int]", policy: str) -> str:
    largest = int(counts.max())
    return f"up to {largest:,} per reranker, {OUTCOMES[policy]}" if largest else "none"


@_section("scores", "Scores")
def _scores(studies: ReportStudies) -> Section:
    measure, answers = studies.measure_at, studies.tie_answers
    finding = leaderboard_finding(studies.leaderboard, measure.traditional, studies.options.traditional)
    tables = [_leaderboard(studies)]
    if answers is not None:
        note = "First column: one tie order. Second: mean over all tie orders. Others: their own rules."
        frame = answers.set_axis(map(str, answers), axis=1).rename_axis("Reranker").reset_index()
        formats = dict.fromkeys(frame.columns[1:], ".4f")
        tables.append(Table(f"{answers.columns[0]} under each rule for ties", frame, formats, note=note))
    return Section(
        f"Traditional scores break ties by {studies.order.order}. Tied scores average over all tie orders. "
        "Worst and best are the smallest and largest value of any tie order.",
        sentences=(finding,),
        tables=(*tables, _every_measure(studies)),
    )


def _leaderboard(studies: ReportStudies) -> Table:
    measure, board = studies.measure_at, studies.leaderboard
    std_over_queries = studies.evaluation.summary()[studies.measure, "expected", "std"]
    board = board.assign(std_queries=std_over_queries.reindex(board.index))
    columns, note = {}, "SD queries: sample standard deviation over lists."
    if len(board) > 1:
        board = board.assign(ranks=_rank_ranges(board["rank_low"], board["rank_high"]))
        columns = {"Ranks": "ranks"}
        note += (
            " Ranks: joint 95% confidence intervals for each reranker's rank by true mean (Mogstad et al. "
            f"2024), from {studies.pairs.method}."
        )
    columns = _board_columns(studies, columns | {"SD queries": "std_queries:.4f"})
    if not studies.has_own_rule:
        columns["Reason"] = "why"
        note += f" {legend(VERDICTS, board['verdict'])}"
    title = f"{measure.traditional}, best tied score first"
    return Table.of(title, board, columns, note).with_best(measure.tied)


def _every_measure(studies: ReportStudies) -> Table:
    summary = studies.evaluation.summary().loc[studies.leaderboard.index]
    traditional, order = studies.options.traditional, studies.order.heading
    columns = {
        order: (traditional, "mean"),
        "SD ": (traditional, "std"),
        "Tied": ("expected", "mean"),
        "SD": ("expected", "std"),
        "Worst": ("pessimistic", "mean"),
        "Best": ("optimistic", "mean"),
    }
    parts = []
    names = studies.options.measures
    for name, shown in zip(names, with_gains([parse(name).traditional for name in names]), strict=True):
        part = pd.DataFrame({heading: summary[(name, *key)] for heading, key in columns.items()})
        part["Gap"] = part[order] - part["Tied"]
        if parse(name).measure.answers:
            part[part.columns.difference(["Tied", "SD"])] = np.nan
        parts.append(part.assign(Measure=shown))
    frame = pd.concat(parts).rename_axis("Reranker").reset_index()[["Measure", "Reranker", *columns, "Gap"]]
    note = "SD: sample standard deviation over lists. Bold: highest tied score of a measure."
    formats = {**dict.fromkeys(columns, ".4f"), "Gap": "+.4f"}
    return Table("Every measure", frame, formats, note=note).with_best("Tied", "Measure")


@_section("targets", "Targets")
def _targets(studies: ReportStudies) -> Section:
    rows, name = studies.targets, studies.targets_for
    directions = np.where(rows["target"].str.contains(">"), 1, -1)
    margins = (rows["tied"] - rows["bound"]) * directions
    columns = {
        "Reranker": "reranker",
        "Target": "target",
        VERDICT: "verdict",
        "Tied": "tied:.4f",
        "Margin": "margin:+.4f",
        "Traditional": "traditional:.4f",
        **_BY_ORDER,
        "Result": "result",
    }
    table = Table.of(
        "Targets in numbers",
        rows.assign(margin=margins, result=np.where(rows["passed"], "pass", "fail")),
        columns,
        legend(TARGET_VERDICTS, rows["verdict"]),
    )
    return Section(
        "A target is met if the tied score satisfies the target's condition.",
        sentences=(target_finding(rows[rows["reranker"] == name], name),),
        tables=(table,) if len(rows) else (),
        charts=("targets", "passes") if len(rows) else (),
    )


@_section("ties", "Ties")
def _ties(studies: ReportStudies) -> Section:
    summary = with_overall(studies.summary, studies.lists)
    gap = f"|{studies.question} gap|"
    columns = {
        "Reranker": "reranker",
        "Lists": "n:,d",
        "With ties": "with_ties_share:.1%",
        "Tie groups per list": "tie_groups:.2f",
        "Largest tie, mean": "max_tie_size_mean:.2f",
        "Largest tie": "max_tie_size:,d",
        "Documents tied": "tie_ratio:.1%",
        f"{gap}, mean": "first_gap_mean:.4f",
        "SD": "first_gap_std:.4f",
        f"{gap}, largest": "first_gap_max:.4f",
        "r, tie ratio": "first_r_ratio:.3f",
    }
    note = (
        "Largest tie, mean: a list without ties counts as 1, a list without rows as 0. SD: sample standard "
        "deviation over lists. r: correlation of the tie ratio with the absolute gap."
    )
    return Section(
        "How many documents tie, and how far the traditional value of a list is from its tied value.",
        sentences=((*own_rule_note(studies.measure), *gap_finding(studies.lists, str(studies.question))),),
        tables=(Table.of("Ties of each reranker", summary, columns, note),),
        charts=("gaps",),
    )


@_section("significance", "Significance")
def _significance(studies: ReportStudies) -> Section:
    verdicts = studies.verdicts.changed_first(_MOST_PAIRS)
    has_rows = len(verdicts.tied) > 0
    return Section(
        f"{studies.measure_at.traditional} differences from {studies.baseline}: {verdicts.method}.",
        sentences=(significance_finding(verdicts, studies.measure_at.traditional),),
        tables=_comparison_tables(studies, verdicts) if has_rows else (),
        charts=("differences",) if has_rows else (),
    )


def _comparison_tables(studies: ReportStudies, verdicts: Verdicts) -> tuple[Table, Table]:
    """Return the differences from the baseline with their p, and the effects with queries won and lost."""
    before = verdicts.traditional[["difference", "p_adjusted", "stars"]].set_axis(verdicts.tied.index)
    rows = verdicts.tied.join(before.add_suffix("_before"))
    rows["verdict"] = np.where(verdicts.changed, "depends on tie order", "")
    differences = {
        "Reranker": "reranker",
        **({VERDICT: "verdict"} if verdicts.changed.any() else {}),
        "Traditional": "difference_before:+.4f",
        "p adj.": "p_adjusted_before:p",
        " ": "stars_before",
        "Tied": "difference:+.4f",
        "From": "low:+.4f",
        "To": "high:+.4f",
        "p adj., tied": "p_adjusted:p",
        "  ": "stars",
    }
    effects = {"Reranker": "reranker", "Differ": "n_differ:,d", "Won": "won:,d", "Equal": "equal:,d"}
    effects |= {"Lost": "lost:,d"} | ({"Note": "note"} if rows["note"].any() else {})
    note = f"From, to: 95% {verdicts.interval}. {_STARS}"
    title = f"Queries won and lost against {studies.baseline} by tied scores"
    return (Table.of(f"Against {studies.baseline}", rows, differences, note), Table.of(title, rows, effects))


@_section("tradeoffs", "Trade-offs")
def _tradeoffs(studies: ReportStudies) -> Section:
    options, rows = studies.options, studies.experiment
    n_rerankers = len(studies.experiment_evaluation.policies)
    note = experiment_note(rows, studies.baseline, n_rerankers, **studies.testing)
    lines = experiment_lines(rows).replace({"ties": {"expected": "tied", options.traditional: "traditional"}})
    lines = lines.rename(columns={"reranker": "Reranker", "ties": "Ties"})
    latency = ", latency" if (rows["measure"] == LATENCY).any() else ""
    against = f" against {studies.baseline}" if len(studies.rerankers) > 1 else ""
    return Section(
        f"Hits, MRR, recall{latency} and distinct targets of each reranker, tied and traditional.",
        tables=(Table(f"Every measure{against}", lines, note=note),),
    )


@_section("stability", "Stability")
def _stability(studies: ReportStudies) -> Section:
    if note := own_rule_note(studies.measure):
        return Section("How ties affect the ranking.", sentences=(note,))
    tie_draws, traditional = studies.draws, studies.measure_at.traditional
    rows, chances = tie_draws.bounds, tie_draws.places
    is_sure = rows["best_place"] == rows["worst_place"]
    pairs = zip(chances.max(axis=1), is_sure, strict=True)
    rows = rows.assign(
        possible=_rank_ranges(rows["best_place"], rows["worst_place"]),
        likeliest=chances.idxmax(axis=1),
        chance=[percent(1.0) if sure else chance_percent(chance) for chance, sure in pairs],
    )
    columns = {
        "Reranker": "reranker",
        "Mean": "expected:.4f",
        "SD ties": "std:.4f",
        **_BY_ORDER,
        "Rank": "place:d",
        "Possible ranks": "possible",
        "Most likely rank": "likeliest:d",
        "Its chance": "chance",
    }
    table = Table.of(f"Possible {traditional} and ranks", rows, columns)
    return Section(
        f"The leaderboard when all ties are broken at random.{_of_best(studies)}",
        sentences=(stability_finding(tie_draws, traditional, studies.copies),),
        tables=(table,),
        charts=("places",) if len(rows) > 1 else (),
    )


@_section("tools", "Other tools")
def _tools(studies: ReportStudies) -> Section:
    values, scoring = studies.tools, studies.options.scoring
    tables: tuple[Table, ...] = ()
    if len(values):
        wide = by_reranker(values)
        wide = wide.reindex(studies.leaderboard.index.intersection(wide.index))
        wide = wide.set_axis(map(", ".join, wide), axis=1)
        compared = compared_as(scoring.precision)
        note = f"Relevant from grade {scoring.relevant_from:g}. Scores compared as {compared}. –: no value."
        headings = {"tool": "Tool", "version": "Version", "spelling": "Name there", "why": "Why it differs"}
        frame = wide.rename_axis("Reranker").reset_index()
        tables = (
            Table("Values reported by each tool", frame, dict.fromkeys(wide, ".4f"), note=note),
            Table("Why tools differ", by_tool(values).rename(columns=headings)),
        )
    return Section(
        "How other tools score the same files, with their own tie order, rounding and treatment of missing "
        f"queries.{_of_best(studies)}",
        sentences=(tool_finding(values, studies.measure),),
        tables=tables,
        charts=("tools",) if len(comparable_values(values, studies.measure)) else (),
    )


@_section("findings", "Findings")
def _findings(studies: ReportStudies) -> Section:
    groups = group_findings(studies.findings, studies.runs.rerankers)
    places = [first_names([name for line in group.lines for name in line.names]) for group in groups]
    rows = [(each.severity, place, each.title, each.hint) for each, place in zip(groups, places, strict=True)]
    frame = pd.DataFrame(rows, columns=[SEVERITY, "Where", "Finding", "What to do"])
    return Section(
        "Problems in the files, the most severe first.",
        sentences=() if groups else (("The files have no problems.",),),
        tables=(Table("By kind", frame),) if groups else (),
    )


@_section("method", "Method")
def _method(studies: ReportStudies) -> Section:
    options, order = studies.options, treatment(studies.options.traditional)
    packages = ("tiescope", "numpy", "pandas", "pyarrow", "scipy")
    facts = (
        ("Tied value", "exact mean over all orders of the tied documents, list by list"),
        ("Traditional value", f"{order.label} ({order.name}). {order.summary}"),
        ("Test", f"{studies.verdicts.method}. {find_method(options.test, None)[0].source}"),
        ("Versions", ", ".join(f"{name} {_version(name)}" for name in packages)),
        ("Python", platform.python_version()),
    )
    measures = [parse(name) for name in dict.fromkeys((*studies.evaluation.measures, *experiment_measures()))]
    names = with_gains([str(measure) for measure in measures])
    rows = [
        (name, measure.tied, measure.measure.summary, measure.measure.source)
        for name, measure in zip(names, measures, strict=True)
    ]
    tables = [Table("Measures", pd.DataFrame(rows, columns=["Measure", "Tied", "Definition", "Source"]))]
    if options.files:
        tables.append(Table("Files", pd.DataFrame(options.files, columns=["File", "SHA-256"])))
    summary = "Versions, files and options to reproduce this report."
    return Section(summary, facts=facts, tables=tuple(tables))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
