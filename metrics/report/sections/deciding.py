"""Sections that decide: significance, stability, targets, other tools, and a published table."""

from math import isnan

import pandas as pd

from metrics.report.model import Section
from metrics.report.sections.scores import SIGNED, place_ranges
from metrics.report.studies import MAX_RERANKERS, ReportStudies
from metrics.report.tables import FOUR_DECIMALS, VERDICT, Column, Table, legend
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.audited_order import VERDICTS as STANDINGS
from metrics.studies.audit.audited_order import AuditedOrder, audit_finding, widest_first, written_chances
from metrics.studies.emulation import by_reranker, by_tool, comparable_values, tool_finding
from metrics.studies.experiment import experiment_lines, experiment_note
from metrics.studies.prose import signed
from metrics.studies.significance import Verdicts, significance_finding
from metrics.studies.stability import stability_finding
from metrics.studies.targets import VERDICTS, target_finding
from metrics.studies.test_registry import find_correction, find_test
from metrics.studies.tie_rules import own_rule_note
from metrics.studies.tradeoffs import LATENCY
from metrics.support.wording import chance_percent, compared_as, count_of, first_names, percent

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
        sentences=(stability_finding(study.pairs, study.bounds, study.tau, traditional),),
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
        legend(VERDICTS, rows["verdict"]),
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
