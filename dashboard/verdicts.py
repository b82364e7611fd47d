"""Calls into the studies that decide, kept; apart from `cache`, as statistics take half a second to import."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from dashboard.cache import Shown, narrowed, ranking
from dashboard.library import Board
from metrics import Evaluation, evaluate
from metrics.studies.places import places
from metrics.studies.significance import Verdicts
from metrics.studies.significance import verdicts as compare_both
from metrics.studies.stability import above, expected_tau, spread
from metrics.studies.tie_breaking import mean_luck

_SPREAD = ("expected", "optimistic", "pessimistic", "std")


class Chances(NamedTuple):
    """What breaking every tie at random makes of a leaderboard; see `metrics.studies.stability`.

    Attributes:
        spread: how far each mean can move.
        pairs: how likely each reranker is to come out above each other.
        places: where each can finish.
        tau: expected agreement of two leaderboards.
    """

    spread: pd.DataFrame
    pairs: pd.DataFrame
    places: pd.DataFrame
    tau: float


@st.cache_resource(show_spinner="Looking at every order …", max_entries=24)
def spread_of_lists(shown: Shown, measure: str, _board: Board, _evaluation: Evaluation) -> Evaluation:
    """What every list scores on average, at worst, at best, and how far from its mean by chance."""
    made = evaluate(_board.runs, measure, _SPREAD, **shown.scoring._asdict())
    return narrowed(made, shown, _evaluation)


@st.cache_resource(show_spinner="Breaking ties at random …", max_entries=24)
def chances(shown: Shown, measure: str, _board: Board, _lists: Evaluation) -> Chances:
    """How a leaderboard of the rerankers shown moves when every tie is broken at random."""
    values = _lists.only(shown.rerankers)
    rankings = {name: ranking(shown.label, name, _board, shown.scoring) for name in shown.rerankers}
    lucks = mean_luck(values, measure, rankings)
    pairs = above(lucks)
    return Chances(spread(lucks), pairs, places(lucks), expected_tau(pairs))


@st.cache_resource(show_spinner="Testing differences …", max_entries=24)
def compared(
    shown: Shown,
    measure: str,
    traditional: str,
    baseline: str | None,
    test: str,
    correction: str,
    _evaluation: Evaluation,
) -> Verdicts:
    """Which rerankers differ from the baseline, or from each other where there is none."""
    return compare_both(_evaluation, measure, traditional, baseline, test, correction)
