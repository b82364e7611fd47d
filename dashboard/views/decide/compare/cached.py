"""Calls of the Compare page into the studies of differences, noise and trade-offs, kept."""

from typing import NamedTuple

import pandas as pd

from dashboard.cache import ShownBoard, board_turn, segments
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
from metrics import Evaluation
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.evaluation.holes import difference_bounds
from metrics.runs import Runs
from metrics.studies.leaderboard.segments import segment_table
from metrics.studies.robustness.near_tie_curves import NearTieCurves, near_distances, near_tie_curves
from metrics.studies.robustness.noise_curves import (
    drawn_means,
    format_noise,
    noise_curves,
    noise_levels,
    order_chances,
)
from metrics.studies.robustness.own_noise import NO_OWN_NOISE, own_noise
from metrics.studies.robustness.weightings import telling_scores, values_by_weighting
from metrics.studies.significance import significance
from metrics.studies.significance.power import detectable
from metrics.studies.significance.query_differences import SortKey, query_differences
from metrics.studies.tie_breaking.mean_distributions import variance_split
from metrics.studies.tie_breaking.stability import OrderStability
from metrics.studies.tradeoffs import experiment, latency, tradeoffs
from metrics.studies.tradeoffs.coverage import coverage, coverage_measures

_CELLS = 12_000_000
"""Rows times levels times draws that are scored to see how often an order holds."""
_MIN_DRAWS, _MAX_DRAWS = 10, 40
"""Draws of an order."""


class NoiseCurves(NamedTuple):
    """How a measure changes as noise grows, and what becomes of the order.

    Attributes:
        means: of `noise_curves`.
        chances: of `order_chances`; index: every other level of noise.
        deviations: (n_levels,) a reranker, of its mean over draws; index as of `chances`.
        formats: of `format_noise`.
        n_draws: draws that chances and deviations are of.
        own: of `own_noise`.
    """

    means: pd.DataFrame
    chances: pd.DataFrame
    deviations: pd.DataFrame
    formats: pd.DataFrame
    n_draws: int
    own: pd.DataFrame = NO_OWN_NOISE


@cached_by_key(show_spinner="Adding noise …", max_entries=16)
def shown_noise(view: ShownBoard, measure: str) -> NoiseCurves:
    """Return what noise does to the lists shown; UsageError for one whose orders would take too long."""
    runs = view.runs
    n_rows = _n_rows(runs)
    levels = noise_levels(n_rows)
    drawn_levels = levels[::2]
    n_draws = int(min(max(_CELLS // (len(drawn_levels) * max(n_rows, 1)), _MIN_DRAWS), _MAX_DRAWS))
    with board_turn(view.board):
        means = noise_curves(runs, measure, levels, view.scoring, view.queries)
        draws = drawn_means(runs, measure, drawn_levels, n_draws, view.scoring, view.queries)
        own = own_noise(runs, measure, view.scoring, view.queries)
    index = pd.Index(drawn_levels, name="noise")
    chances = order_chances(draws, means.iloc[0].to_numpy()).set_axis(index)
    deviations = pd.DataFrame(draws.std(axis=1, ddof=1), index, means.columns)
    return NoiseCurves(means, chances, deviations, format_noise(runs), n_draws, own)


@cached_by_key(show_spinner="Tying near scores …", max_entries=16)
def shown_near_ties(view: ShownBoard, measure: str) -> NearTieCurves:
    """Return what near ties do to the lists shown."""
    runs = view.runs
    with board_turn(view.board):
        return near_tie_curves(runs, measure, near_distances(_n_rows(runs)), view.scoring, view.queries)


@cached_by_key(show_spinner=False, max_entries=16)
def weighed_scores(board: Board) -> list[str]:
    """Return the further scores of a board that can be weighed against the score."""
    return telling_scores(board.runs)


@cached_by_key(show_spinner="Weighing criteria …", max_entries=16)
def shown_weightings(view: ShownBoard, measure: str, criteria: tuple[str, ...]) -> pd.DataFrame:
    """Return what rerankers score by each weighted sum of criteria.

    Args:
        view: what is shown; what ranks together elsewhere is not among its scoring.
        measure: what is taken.
        criteria: two or three.

    Raises:
        UsageError: further scores are to split ties.
    """
    with board_turn(view.board):
        return values_by_weighting(view.runs, measure, criteria, view.scoring, view.queries)


def _n_rows(runs: Runs) -> int:
    return sum(len(table) for table in runs.tables.values())


@cached_by_key(show_spinner="Looking at every order …", max_entries=24)
def list_spreads(view: ShownBoard, measure: str) -> Evaluation:
    """Return what every list scores on average, at best, at worst, and how far from its mean by chance."""
    return view.score(measure, ("expected", "optimistic", "pessimistic", "std"))


@cached_by_key(show_spinner="Breaking ties at random …", max_entries=24)
def order_stability(view: ShownBoard, measure: str, _lists: Evaluation) -> OrderStability:
    """Return how a leaderboard of the rerankers shown moves when every tie is broken at random.

    Args:
        view: what is shown.
        measure: name of the measure.
        _lists: values as `list_spreads` returns them, of these rerankers and perhaps others.
    """
    rankings = {name: view.ranking(name) for name in view.rerankers}
    with board_turn(view.board):
        return OrderStability.of(_lists.only(view.rerankers), measure, rankings)


@cached_by_key(show_spinner="Testing differences …", max_entries=24)
def verdicts(
    view: ShownBoard, measure: str, traditional: str, baseline: str | None, test: str, correction: str
) -> significance.Verdicts:
    """Return which rerankers differ from the baseline, or from each other where there is none.

    Args:
        view: what is shown.
        measure: which is compared.
        traditional: the treatment taken as the traditional one.
        baseline: whom the others are compared with, None for every pair.
        test: its name.
        correction: its name.
    """
    return significance.verdicts(view.evaluation, measure, traditional, baseline, test, correction)


@cached_by_key(show_spinner="Judging both ways …", max_entries=24)
def differences_allowed(
    view: ShownBoard, measure: str, baseline: str, _bounds: pd.DataFrame | None
) -> pd.DataFrame | None:
    """Return between what differences from the baseline lie over all orders of ties and all judgments.

    Args:
        view: what is shown.
        measure: name of the measure.
        baseline: whom the others are compared with.
        _bounds: of the lists, as `hole_bounds` returns them; None where there are none.
    """
    if _bounds is None:
        return None
    names = [name for name in view.rerankers if name != baseline]
    pairs = pd.DataFrame({"reranker": names, "baseline": baseline}, index=names)
    with board_turn(view.board):
        return difference_bounds(view.runs, measure, pairs, _bounds, view.scoring)


@cached_by_key(show_spinner=False, max_entries=24)
def tie_shares(view: ShownBoard, measure: str, baseline: str, _lists: Evaluation) -> "pd.Series[float]":
    """Return how much of the uncertainty of each reranker's difference from the baseline is ties.

    Args:
        view: what is shown.
        measure: name of the measure.
        baseline: whom the others are compared with.
        _lists: values as `list_spreads` returns them.
    """
    return variance_split(_lists, measure, baseline)["share_ties"]


@cached_by_key(show_spinner=False, max_entries=24)
def least_detectable(view: ShownBoard, measure: str, baseline: str, level: float, is_paired: bool) -> float:  # noqa: FBT001 arguments of what is kept are given by position
    """Return the smallest difference from the baseline that a t-test would detect.

    Args:
        view: what is shown.
        measure: name of the measure.
        baseline: whom the others are compared with.
        level: of the test.
        is_paired: whether the test is paired.
    """
    return detectable(view.evaluation, measure, "expected", baseline, level, paired=is_paired)


@cached_by_key(show_spinner=False, max_entries=8)
def query_rows(
    view: ShownBoard, measure: str, reranker: str, baseline: str, traditional: str, sort_by: SortKey
) -> pd.DataFrame:
    """Return the queries behind a difference, the farthest apart first.

    Args:
        view: what is shown.
        measure: name of the measure.
        reranker: who is compared.
        baseline: with whom.
        traditional: the treatment taken as the traditional one.
        sort_by: farthest by what.
    """
    return query_differences(view.evaluation, measure, reranker, baseline, traditional, sort_by=sort_by)


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
