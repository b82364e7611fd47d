"""The section that reads MRR and MAP in words."""

from metrics.measures import parse
from metrics.report.model import Section
from metrics.report.studies import ReportStudies
from metrics.report.tables import Column, Table
from metrics.studies.leaderboard.readings import MEASURES, TYPICAL_RANK, limits_text, readings_finding

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
