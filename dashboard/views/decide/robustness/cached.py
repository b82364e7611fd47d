"""Calls of the page Robustness into metrics, kept; keyed by what is shown."""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from dashboard import session
from dashboard.cache import ViewKey, board_turn
from dashboard.library import Board
from dashboard.server.board_results import cached_for_board
from metrics.runs import Runs
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


def shown_noise(view: session.View, measure: str, rerankers: list[str]) -> NoiseCurves:
    """Return what noise does to some of the rerankers shown, over the lists shown.

    Args:
        view: what the sidebar says is shown.
        measure: what is taken.
        rerankers: whose curves.

    Raises:
        UsageError: a list whose orders under noise would take too long.
    """
    queries = view.key.queries(view.evaluation)
    return _noise_curves(view.key, measure, tuple(rerankers), view.board, queries)


def shown_near_ties(view: session.View, measure: str, rerankers: list[str]) -> NearTieCurves:
    """Return what near ties do to some of the rerankers shown; arguments as of `shown_noise`."""
    queries = view.key.queries(view.evaluation)
    return _near_tie_curves(view.key, measure, tuple(rerankers), view.board, queries)


def shown_weightings(
    view: session.View, measure: str, rerankers: list[str], criteria: tuple[str, ...]
) -> pd.DataFrame:
    """Return what rerankers score by each weighted sum of criteria, whatever else ranks on other pages.

    Args:
        view: what the sidebar says is shown.
        measure: what is taken.
        rerankers: whose values.
        criteria: two or three.

    Raises:
        UsageError: further scores are to split ties.
    """
    queries = view.key.queries(view.evaluation)
    key = view.key._replace(scoring=replace(view.scoring, criteria=()))
    return _values_by_weighting(key, measure, tuple(rerankers), criteria, view.board, queries)


@cached_for_board(show_spinner="Adding noise …", max_entries=16)
def _noise_curves(
    view: ViewKey, measure: str, rerankers: tuple[str, ...], _board: Board, _queries: Collection[str] | None
) -> NoiseCurves:
    runs, n_rows = _runs_of(_board, rerankers)
    levels = noise_levels(n_rows)
    drawn_levels = levels[::2]
    n_draws = int(min(max(_CELLS // (len(drawn_levels) * max(n_rows, 1)), _MIN_DRAWS), _MAX_DRAWS))
    with board_turn(_board):
        means = noise_curves(runs, measure, levels, view.scoring, _queries)
        draws = drawn_means(runs, measure, drawn_levels, n_draws, view.scoring, _queries)
        own = own_noise(runs, measure, view.scoring, _queries)
    index = pd.Index(drawn_levels, name="noise")
    chances = order_chances(draws, means.iloc[0].to_numpy()).set_axis(index)
    deviations = pd.DataFrame(draws.std(axis=1, ddof=1), index, means.columns)
    return NoiseCurves(means, chances, deviations, format_noise(runs), n_draws, own)


@cached_for_board(show_spinner="Tying near scores …", max_entries=16)
def _near_tie_curves(
    view: ViewKey, measure: str, rerankers: tuple[str, ...], _board: Board, _queries: Collection[str] | None
) -> NearTieCurves:
    runs, n_rows = _runs_of(_board, rerankers)
    with board_turn(_board):
        return near_tie_curves(runs, measure, near_distances(n_rows), view.scoring, _queries)


@cached_for_board(show_spinner=False, max_entries=16)
def weighed_scores(key: str, _board: Board) -> list[str]:
    """Return the further scores of a board that can be weighed against the score, by its key."""
    return telling_scores(_board.runs)


@cached_for_board(show_spinner="Weighing criteria …", max_entries=16)
def _values_by_weighting(
    view: ViewKey,
    measure: str,
    rerankers: tuple[str, ...],
    criteria: tuple[str, ...],
    _board: Board,
    _queries: Collection[str] | None,
) -> pd.DataFrame:
    with board_turn(_board):
        return values_by_weighting(_runs_of(_board, rerankers)[0], measure, criteria, view.scoring, _queries)


def _runs_of(board: Board, rerankers: tuple[str, ...]) -> tuple[Runs, int]:
    """Return the runs of some rerankers, and how many rows they have."""
    runs = board.runs.arranged({name: name for name in rerankers})
    return runs, sum(len(table) for table in runs.tables.values())
