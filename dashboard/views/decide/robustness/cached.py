"""Calls of the page Robustness into metrics, kept; keyed by what is shown."""

from typing import NamedTuple

import pandas as pd

from dashboard.cache import ShownBoard, board_turn
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
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
