"""The section of near ties: who ties, and what it does to the value, as scores within a distance tie."""

from collections.abc import Collection

from dashboard.board_results import cached_for_board
from dashboard.cache import ViewKey, board_turn
from dashboard.charts.deciding.near_tie_panels import near_tie_panels
from dashboard.library import Board
from dashboard.session import View
from dashboard.widgets.components import chart, heading, section_finding
from metrics import parse
from metrics.studies.robustness.near_tie_curves import (
    NearTieCurves,
    near_distances,
    near_tie_curves,
    near_tie_finding,
)


def near_tie_section(view: View, measure: str, rerankers: list[str]) -> None:
    """Draw tie ratios and the change of tied values as near scores tie.

    Args:
        view: what the sidebar says is shown.
        measure: what is taken.
        rerankers: whose curves.
    """
    tied = parse(measure).tied
    heading(
        "Near ties",
        "Scores within ε of the highest of their group tie, from the top down (within:ε in Scoring): how many "
        "documents tie, and what it does to the value.",
    )
    queries = view.evaluation.scores.index.get_level_values("query_id") if view.key.segments else None
    curves = _near_tie_curves(
        view.key, measure, tuple(rerankers), view.board, None if queries is None else set(queries)
    )
    section_finding(near_tie_finding(curves, tied), rerankers)
    colours = {name: view.colour(name) for name in rerankers}
    figure = near_tie_panels(*curves, view.palette, colours, tied)
    alt = f"Tie ratio and change of {tied} of each reranker as scores that stand near each other tie."
    chart(figure, "near-ties", alt, wide=640)


@cached_for_board(show_spinner="Tying near scores …", max_entries=16)
def _near_tie_curves(
    view: ViewKey, measure: str, rerankers: tuple[str, ...], _board: Board, _queries: Collection[str] | None
) -> NearTieCurves:
    runs = _board.runs.arranged({name: name for name in rerankers})
    n_rows = sum(len(table) for table in runs.tables.values())
    with board_turn(_board):
        return near_tie_curves(runs, measure, near_distances(n_rows), view.scoring, _queries)
