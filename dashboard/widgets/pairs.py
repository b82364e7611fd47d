"""The table of pairs of a board, which every page reads."""

from dashboard.cache import ShownBoard, board_turn, cached
from dashboard.choices import Testing
from metrics.evaluation import Evaluation, score_runs
from metrics.studies.pair_findings import Verdicts, verdicts


def pair_verdicts(view: ShownBoard, measure: str, traditional: str) -> Verdicts:
    """Return all pairs of the shown rerankers, tied and traditional, corrected for all pairs of the board."""
    return compared_pairs(view, measure, traditional, "", Testing())


@cached(show_spinner="Comparing rerankers …", max_entries=24)
def compared_pairs(
    view: ShownBoard, measure: str, traditional: str, baseline: str, testing: Testing
) -> Verdicts:
    """Return the pairs of the shown rerankers with a baseline (all pairs if empty), tested as chosen."""
    if baseline and testing == Testing():
        return pair_verdicts(view, measure, traditional).against(baseline)
    evaluation = _board_evaluation(view, measure, traditional)
    return verdicts(evaluation, measure, traditional, baseline or None, **testing._asdict()).among(
        view.rerankers
    )


def _board_evaluation(view: ShownBoard, measure: str, traditional: str) -> Evaluation:
    runs = view.board.runs
    if view.rerankers == runs.rerankers:
        return view.evaluation
    ties = ("expected", traditional)
    with board_turn(view.board):
        return score_runs(runs, measure, ties, view.scoring).only(runs.rerankers, view.queries)
