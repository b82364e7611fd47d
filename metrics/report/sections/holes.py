"""What unjudged documents leave open, where there are any."""

from metrics.evaluation.holes import is_exact
from metrics.report.studies import ReportStudies
from metrics.report.tables import FOUR_DECIMALS, Table
from metrics.studies.leaderboard.holes import hole_finding, within_words
from metrics.studies.prose import Prose


def holes_sentence(studies: ReportStudies) -> tuple[Prose, ...]:
    """Say who could lead by ties and unjudged documents together."""
    if studies.unjudged is None:
        return ()
    return (hole_finding(studies.leaderboard_with_holes, studies.unjudged, studies.measure_at),)


def holes_table(studies: ReportStudies) -> tuple[Table, ...]:
    """Return what ties and unjudged documents together allow of each mean."""
    if studies.unjudged is None:
        return ()
    board = studies.leaderboard_with_holes
    ends = ("lowest", "worst", "tied", "best", "highest")
    columns = {
        "Reranker": board.index,
        "Unjudged": (board["unjudged"], ".1%"),
        **{name.capitalize(): (board[name], FOUR_DECIMALS) for name in ends},
    }
    where = within_words(studies.measure_at)
    note = (
        f"Unjudged: of the documents in the {where}. Worst, tied, best: over orders of the ties, unjudged "
        "documents not relevant. Lowest, highest: over these and all judgments of unjudged documents"
    ) + ("." if is_exact(studies.runs, studies.measure_at) else "; proven, and not always reached.")
    return (Table.of(f"{studies.measure_at.traditional} where judgments have holes", columns, note),)
