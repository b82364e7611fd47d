"""What the Leaderboard says first: its finding and its cards."""

from collections.abc import Sequence

import pandas as pd

from dashboard.widgets.components import finding
from dashboard.widgets.holes import hole_cards
from dashboard.widgets.leaderboard_parts import leaderboard_cards
from metrics import parse
from metrics.studies.leaderboard.holes import hole_finding
from metrics.studies.leaderboard.leaderboard import leaderboard_finding


def draw_summary(
    leaderboard: pd.DataFrame,
    measure: str,
    traditional: str,
    rerankers: Sequence[str],
    n_lists: tuple[int, int],
    unjudged: pd.DataFrame | None,
) -> None:
    """Draw the finding and the cards.

    Args:
        leaderboard: as `with_holes` returns it.
        measure: what it is ranked by.
        traditional: the treatment taken as the traditional one.
        rerankers: those shown.
        n_lists: how many lists ties can move, and all.
        unjudged: as `count_unjudged` returns them.
    """
    name = parse(measure)
    prose = (
        leaderboard_finding(leaderboard, name.traditional, traditional)
        if unjudged is None or "highest" not in leaderboard
        else hole_finding(leaderboard, unjudged, name)
    )
    finding(prose, rerankers)
    leaderboard_cards(leaderboard, name, *n_lists, hole_cards(leaderboard, name, unjudged))
