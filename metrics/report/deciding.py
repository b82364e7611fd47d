"""Sections that decide: significance, stability, targets and other tools."""

import pandas as pd

from metrics.report.model import VERDICT, Section, Table
from metrics.report.studies import MOST, ReportStudies
from metrics.studies.significance.significance import significance_finding
from metrics.studies.significance.test_registry import find_correction, find_test
from metrics.studies.targets.target_summary import target_finding
from metrics.studies.targets.targets import VERDICTS
from metrics.studies.tie_breaking.stability import stability_finding
from metrics.studies.tools.tool_comparison import by_tool, tool_finding

_FOUR = ".4f"
_HEADINGS = {"tool": "Tool", "spelling": "Calls it", "why": "Why it differs"}
_TAKEN = {*_HEADINGS, *_HEADINGS.values()}
"""Names that no reranker's column of a table can have."""


def significance(found: ReportStudies) -> Section:
    """Differences from the baseline, by tied and by traditional values."""
    both, asked = found.verdicts.best_first(), found.asked
    test, correction = find_test(asked.test), find_correction(asked.correction)
    tied, before = both.tied, both.traditional
    rows = pd.DataFrame(
        {
            "Reranker": tied["reranker"],
            "Traditional": before["difference"],
            "p adj.": before["p_adjusted"],
            " ": before["stars"],
            "Tied": tied["difference"],
            "From": tied["low"],
            "To": tied["high"],
            "p adj., tied": tied["p_adjusted"],
            "  ": tied["stars"],
            "Effect d": tied["dz"],
            "Won": tied["won"],
            "Equal": tied["equal"],
            "Lost": tied["lost"],
            VERDICT: ["rests on sort order" if one else "" for one in both.changed],
            "Note": tied["note"],
        }
    )
    rows = rows.drop(columns=[name for name in (VERDICT, "Note") if not rows[name].any()])
    signed = dict.fromkeys(("Traditional", "Tied", "From", "To"), "+.4f")
    counts = dict.fromkeys(("Won", "Equal", "Lost"), ",d")
    formats = signed | counts | {"p adj.": "p", "p adj., tied": "p", "Effect d": "+.2f"}
    corrected = "" if test.simultaneous or correction.method is None else f" with {correction.label} correction"
    note = f"Intervals of {both.level:.0%}. *** p < 0.001, ** p < 0.01, * p < 0.05, ns not significant."
    return Section(
        "significance",
        "Significance",
        f"{found.name.traditional} differences from {found.baseline}: {test.label}{corrected}.",
        says=(significance_finding(both, found.name.traditional, asked.test),),
        tables=(Table(f"Against {found.baseline}", rows, formats, note=note),) if len(rows) else (),
        charts=("differences",) if len(rows) else (),
    )


def stability(found: ReportStudies) -> Section:
    """What the leaderboard could have said, had the ties fallen otherwise."""
    chances = found.chances
    order = chances.spread.sort_values("expected", ascending=False, kind="stable").index
    rows = chances.spread.loc[order].reset_index()
    places = rows[["best_place", "worst_place"]].astype("str").to_numpy()
    likely = chances.places.loc[order]
    frame = pd.DataFrame(
        {
            "Reranker": rows["reranker"],
            "Mean": rows["expected"],
            "± ties": rows["std"],
            "Worst": rows["worst"],
            "Best": rows["best"],
            "Place": rows["place"],
            "Places": ["–".join(dict.fromkeys(both)) for both in places],
            "Likeliest place": likely.idxmax(axis=1).to_numpy(),
            "Its chance": likely.max(axis=1).to_numpy(),
            "How": rows["method"],
        }
    )
    formats = dict.fromkeys(("Mean", "± ties", "Worst", "Best"), _FOUR)
    formats |= {"Place": "d", "Likeliest place": "d", "Its chance": ".1%"}
    some = f" The {MOST} best by tied mean." if len(found.rerankers) > MOST else ""
    return Section(
        "stability",
        "Stability",
        f"Every tie broken at random, list by list: what could the leaderboard have said?{some}",
        says=(stability_finding(chances.pairs, chances.spread, chances.tau, found.name.traditional),),
        tables=(Table(f"Where {found.name.traditional} can land", frame, formats),),
        charts=("places",) if len(frame) > 1 else (),
    )


def targets(found: ReportStudies) -> Section:
    """What was to be reached, and whether it is by every order."""
    rows = found.targets
    frame = pd.DataFrame(
        {
            "Reranker": rows["reranker"],
            "Target": rows["target"],
            "Tied": rows["tied"],
            "To target": [
                row.value - row.bound if ">" in row.target else row.bound - row.value
                for row in rows.itertuples()
            ],
            "Traditional": rows["traditional"],
            "Worst": rows["worst"],
            "Best": rows["best"],
            "Passes": ["pass" if one else "fail" for one in rows["passed"]],
            VERDICT: rows["verdict"],
        }
    )
    formats = dict.fromkeys(("Tied", "Traditional", "Worst", "Best"), _FOUR) | {"To target": "+.4f"}
    note = " ".join(f"{word}: {VERDICTS[word]}" for word in VERDICTS if word in set(rows["verdict"]))
    own = rows[rows["reranker"] == found.targets_for]
    return Section(
        "targets",
        "Targets",
        "A target is met when the tied value passes it.",
        says=(target_finding(own, found.targets_for),),
        tables=(Table("Targets in numbers", frame, formats, note=note),) if len(rows) else (),
        charts=("targets", "passes") if len(rows) else (),
    )


def tools(found: ReportStudies) -> Section:
    """What other software would report for the same files."""
    values = found.tools
    apart = {name: name + " " * (name in _TAKEN) for name in found.rerankers}
    rows = by_tool(values.assign(reranker=values["reranker"].map(apart))) if len(values) else pd.DataFrame()
    rows = rows.rename(columns=_HEADINGS)
    names = [name for name in apart.values() if name in rows]
    note = "Relevant from grade 1, all queries: that is how the tools are run."
    own = bool((values["measure"] == found.measure).any()) if len(values) else False
    return Section(
        "tools",
        "Other tools",
        "The same files, scored as each tool breaks ties, holds scores and treats missing queries.",
        says=(tool_finding(values, found.measure),),
        tables=(Table("Tool by tool", rows, dict.fromkeys(names, _FOUR), note=note),) if len(rows) else (),
        charts=("tools",) if own else (),
    )
