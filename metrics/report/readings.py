"""The section that reads MRR and MAP in words."""

from metrics.measures import parse
from metrics.report.model import Section, Table
from metrics.report.studies import ReportStudies
from metrics.studies.leaderboard.readings import MEASURES, TYPICAL_RANK, limits_text, readings_finding

_FIGURES = {"value": ".4f", "times": ".3g", "rank": ",.1f", "count": ",d"}


def readings(studies: ReportStudies) -> Section:
    """Write MRR beside MAP: typical ranks, how many times the baseline's, and where the two part."""
    rows = studies.readings
    rr, ap = (parse(measure) for measure in MEASURES)
    columns = {
        "Relevant a query": (rows["relevant"], ".2f"),
        rr.traditional: (rows["rr_traditional"], _FIGURES["value"]),
        f"{rr.traditional} ×": (rows["rr_traditional_times"], _FIGURES["times"]),
        rr.tied: (rows["rr_tied"], _FIGURES["value"]),
        f"{rr.tied} ×": (rows["rr_tied_times"], _FIGURES["times"]),
        f"1/{rr.tied}": (rows["tied_rank"], _FIGURES["rank"]),
        "Mean rank": (rows["mean_rank"], _FIGURES["rank"]),
        ap.traditional: (rows["ap_traditional"], _FIGURES["value"]),
        f"{ap.traditional} ×": (rows["ap_traditional_times"], _FIGURES["times"]),
        ap.tied: (rows["ap_tied"], _FIGURES["value"]),
        f"{ap.tied} ×": (rows["ap_tied_times"], _FIGURES["times"]),
        "RR or AP alone": (rows["one_sided"], _FIGURES["count"]),
        "RR against AP": (rows["opposed"], _FIGURES["count"]),
    }
    note = (
        f"×: over that of {studies.baseline}. Mean rank: of the first relevant document in the traditional "
        "order, over the lists that hold one. RR or AP alone: queries on which only one of the two, ties "
        "averaged, differs from the baseline; RR against AP: on which one is higher and the other lower."
    )
    return Section(
        "readings",
        f"{rr.traditional} beside {ap.traditional}",
        "What the two mean in ranks and in times, and where they part.",
        sentences=(readings_finding(rows, studies.baseline),),
        facts=(
            (f"{rr.traditional} does not see", limits_text("RR")),
            (f"{ap.traditional} does not see", limits_text("AP")),
            (f"1/{rr.tied}", TYPICAL_RANK),
        ),
        tables=(Table.of("In words and times", {"Reranker": rows.index, **columns}, note),),
    )
