"""Calls into the studies of trade-offs, kept."""

import pandas as pd

from dashboard.cache import ShownBoard
from dashboard.library import Board
from dashboard.server.board_results import cached_by_key
from dashboard.session import View
from metrics import Evaluation
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.studies.tradeoffs import experiment, latency
from metrics.studies.tradeoffs.coverage import coverage_measures


@cached_by_key(show_spinner=False, max_entries=16)
def latencies(board: Board) -> dict[str, pd.Series]:
    """Return the seconds of every list of a board."""
    return latency.latencies(board.runs)


@cached_by_key(show_spinner="Counting targets …", max_entries=8)
def _board_depths(board: Board, k: int, traditional: str, scoring: ScoringOptions) -> Evaluation:
    measures = (*coverage_measures(k), *experiment.experiment_measures(k))
    return score_runs(board.runs, measures, ["expected", traditional, "optimistic", "pessimistic"], scoring)


def list_depths(view: View, k: int) -> Evaluation:
    """Return what a retrieval experiment reports of the lists that are shown, and what their first k hold."""
    index = view.evaluation.scores.index
    depths = _board_depths(view.board, k, view.traditional, view.scoring).only(view.rerankers)
    if len(depths.scores) == len(index):
        return depths
    segment_depths = depths.only(view.rerankers, set(index.get_level_values("query_id")))
    if len(segment_depths.scores) == len(index):
        return segment_depths
    return _board_depths(view.board, k, view.traditional, AS_READ).only(view.rerankers)


@cached_by_key(show_spinner="Testing every measure …", max_entries=16)
def experiment_table(
    view: ShownBoard,
    k: int,
    traditional: str,
    baseline: str,
    test: str,
    correction: str,
    _evaluation: Evaluation,
) -> pd.DataFrame:
    """Return every measure and the latency of the rerankers shown, tested against a baseline.

    Args:
        view: what is shown.
        k: places that are looked at.
        traditional: the treatment taken as the traditional one.
        baseline: whom the others are compared with.
        test: its name.
        correction: its name.
        _evaluation: the values, with latencies where there are any.
    """
    measures, ties = experiment.experiment_measures(k), ["expected", traditional]
    return experiment.experiment_table(_evaluation, baseline, measures, ties, test=test, correction=correction)
