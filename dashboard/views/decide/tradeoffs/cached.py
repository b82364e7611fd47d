"""Calls into the studies of trade-offs, kept."""

from typing import NamedTuple

import pandas as pd

from dashboard.cache import ShownBoard, segments
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
from metrics import Evaluation
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.studies.leaderboard.segments import segment_table
from metrics.studies.tradeoffs import experiment, latency, tradeoffs
from metrics.studies.tradeoffs.coverage import coverage, coverage_measures


@cached_by_key(show_spinner=False, max_entries=16)
def latencies(board: Board) -> dict[str, pd.Series]:
    """Return the seconds of every list of a board."""
    return latency.latencies(board.runs)


@cached_by_key(show_spinner=False, max_entries=8)
def _board_depths(board: Board, k: int, traditional: str, scoring: ScoringOptions) -> Evaluation:
    measures = (*coverage_measures(k), *experiment.experiment_measures(k))
    return score_runs(board.runs, measures, ["expected", traditional, "optimistic", "pessimistic"], scoring)


def _list_depths(view: ShownBoard, k: int, traditional: str) -> Evaluation:
    """Return what a retrieval experiment reports of the lists that are shown, and what their first k hold."""
    index = view.evaluation.scores.index
    depths = _board_depths(view.board, k, traditional, view.scoring).only(view.rerankers)
    if len(depths.scores) == len(index):
        return depths
    segment_depths = depths.only(view.rerankers, set(index.get_level_values("query_id")))
    if len(segment_depths.scores) == len(index):
        return segment_depths
    return _board_depths(view.board, k, traditional, AS_READ).only(view.rerankers)


@cached_by_key(show_spinner=False, max_entries=16)
def list_speeds(view: ShownBoard) -> pd.DataFrame:
    """Return the mean and percentiles of the seconds of each reranker's lists, over those that are scored."""
    return latency.latency_table(latencies(view.board), view.evaluation)


@cached_by_key(show_spinner="Counting targets …", max_entries=16)
def depth_coverage(view: ShownBoard, k: int, traditional: str) -> pd.DataFrame:
    """Return how much of what is relevant stands in the first k, and how much of that repeats a target.

    Args:
        view: what is shown.
        k: places that are looked at.
        traditional: the treatment taken as the traditional one.
    """
    return coverage(_list_depths(view, k, traditional), k)


@cached_by_key(show_spinner=False, max_entries=16)
def ranked_tradeoffs(
    view: ShownBoard, measure: str, traditional: str, latency: latency.Latency
) -> pd.DataFrame:
    """Return quality and latency of each reranker, the best by its tied value first.

    Args:
        view: what is shown.
        measure: of the quality.
        traditional: the treatment taken as the traditional one.
        latency: which latency is weighed.
    """
    rows = tradeoffs.tradeoffs(view.evaluation, list_speeds(view), measure, traditional, latency)
    return rows.sort_values("tied", ascending=False, kind="stable")


@cached_by_key(show_spinner=False, max_entries=16)
def segment_gaps(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the gaps by segment of the rerankers that are shown, in their order.

    Args:
        view: what is shown.
        measure: which the gaps are in.
        traditional: the treatment taken as the traditional one.
    """
    evaluation = view.evaluation.only(view.rerankers)
    return segment_table(evaluation, segments(view.board), measure, traditional)


class Experiment(NamedTuple):
    """A table of a retrieval experiment, as the file has it and as people read it.

    Attributes:
        table: as `metrics.studies.tradeoffs.experiment.experiment_table` returns it.
        lines: as `experiment_lines` returns them.
        note: as `experiment_note` says it.
    """

    table: pd.DataFrame
    lines: pd.DataFrame
    note: str


@cached_by_key(show_spinner="Testing every measure …", max_entries=16)
def tested_experiment(
    view: ShownBoard, k: int, traditional: str, baseline: str, test: str, correction: str
) -> Experiment:
    """Return every measure and the latency of the rerankers shown, tested against a baseline.

    Args:
        view: what is shown.
        k: places that are looked at.
        traditional: the treatment taken as the traditional one.
        baseline: whom the others are compared with.
        test: its name.
        correction: its name.
    """
    timed = latency.with_latency(_list_depths(view, k, traditional), latencies(view.board))
    measures, ties = experiment.experiment_measures(k), ["expected", traditional]
    table = experiment.experiment_table(timed, baseline, measures, ties, test=test, correction=correction)
    note = experiment.experiment_note(table, baseline, test, correction)
    return Experiment(table, experiment.experiment_lines(table), note)
