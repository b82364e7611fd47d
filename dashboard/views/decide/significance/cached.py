"""Calls into the studies of significance, kept."""

import pandas as pd

from dashboard.cache import ShownBoard, board_turn
from dashboard.server.board_results import cached_by_key
from metrics import Evaluation
from metrics.evaluation.holes import difference_bounds
from metrics.studies.significance import significance
from metrics.studies.significance.power import detectable
from metrics.studies.significance.query_differences import SortKey, query_differences
from metrics.studies.tie_breaking.order_stability import OrderStability
from metrics.studies.tie_breaking.variance import variance_split


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
