"""Calls into the studies of significance, kept."""

import pandas as pd

from dashboard.cache import ViewKey, board_turn, ranking, restrict_to_view, shown_runs
from dashboard.library import Board
from dashboard.server.board_results import cached_for_board
from metrics import Evaluation
from metrics.evaluation import score_runs
from metrics.evaluation.holes import difference_bounds
from metrics.studies.significance import significance
from metrics.studies.tie_breaking.order_stability import OrderStability

_TIES = ("expected", "optimistic", "pessimistic", "std")


@cached_for_board(show_spinner="Looking at every order …", max_entries=24)
def list_spreads(view: ViewKey, measure: str, _board: Board, _evaluation: Evaluation) -> Evaluation:
    """Return what every list scores on average, at best, at worst, and how far from its mean by chance.

    Args:
        view: what is shown of the board, and how it is scored.
        measure: name of the measure.
        _board: the board.
        _evaluation: the values shown; its lists are those returned.
    """
    with board_turn(_board):
        evaluation = score_runs(_board.runs, measure, _TIES, view.scoring)
    return restrict_to_view(evaluation, view, _evaluation)


@cached_for_board(show_spinner="Breaking ties at random …", max_entries=24)
def order_stability(view: ViewKey, measure: str, _board: Board, _lists: Evaluation) -> OrderStability:
    """Return how a leaderboard of the rerankers shown moves when every tie is broken at random.

    Args:
        view: what is shown of the board, and how it is scored.
        measure: name of the measure.
        _board: the board.
        _lists: values as `list_spreads` returns them.
    """
    values = _lists.only(view.rerankers)
    rankings = {name: ranking(view.key, name, _board, view.scoring) for name in view.rerankers}
    with board_turn(_board):
        return OrderStability.of(values, measure, rankings)


@cached_for_board(show_spinner="Testing differences …", max_entries=24)
def verdicts(
    view: ViewKey,
    measure: str,
    traditional: str,
    baseline: str | None,
    test: str,
    correction: str,
    _evaluation: Evaluation,
) -> significance.Verdicts:
    """Return which rerankers differ from the baseline, or from each other where there is none.

    Args:
        view: what is shown.
        measure: which is compared.
        traditional: the treatment taken as the traditional one.
        baseline: whom the others are compared with, None for every pair.
        test: its name.
        correction: its name.
        _evaluation: the values.
    """
    return significance.verdicts(_evaluation, measure, traditional, baseline, test, correction)


@cached_for_board(show_spinner="Judging both ways …", max_entries=24)
def differences_allowed(
    view: ViewKey, measure: str, baseline: str, _board: Board, _bounds: pd.DataFrame | None
) -> pd.DataFrame | None:
    """Return between what differences from the baseline lie over all orders of ties and all judgments.

    Args:
        view: what is shown of the board, and how it is scored.
        measure: name of the measure.
        baseline: whom the others are compared with.
        _board: the board.
        _bounds: of the lists, as `hole_bounds` returns them; None where there are none.
    """
    if _bounds is None:
        return None
    names = [name for name in view.rerankers if name != baseline]
    pairs = pd.DataFrame({"reranker": names, "baseline": baseline}, index=names)
    with board_turn(_board):
        return difference_bounds(shown_runs(_board.runs, view.rerankers), measure, pairs, _bounds, view.scoring)
