"""Calls into the studies that decide, kept; apart from `cache`, as statistics take half a second to import."""

import streamlit as st

from dashboard.cache import ViewKey, ranking, restrict_to_view
from dashboard.library import Board
from metrics import Evaluation
from metrics.evaluation import score_runs
from metrics.studies.significance.significance import Verdicts
from metrics.studies.significance.significance import verdicts as compare_both
from metrics.studies.tie_breaking.order_stability import OrderStability

_SPREAD = ("expected", "optimistic", "pessimistic", "std")


@st.cache_resource(show_spinner="Looking at every order …", max_entries=24)
def spread_of_lists(shown: ViewKey, measure: str, _board: Board, _evaluation: Evaluation) -> Evaluation:
    """What every list scores on average, at worst, at best, and how far from its mean by chance."""
    made = score_runs(_board.runs, measure, _SPREAD, shown.scoring)
    return restrict_to_view(made, shown, _evaluation)


@st.cache_resource(show_spinner="Breaking ties at random …", max_entries=24)
def chances(shown: ViewKey, measure: str, _board: Board, _lists: Evaluation) -> OrderStability:
    """How a leaderboard of the rerankers shown moves when every tie is broken at random."""
    values = _lists.only(shown.rerankers)
    rankings = {name: ranking(shown.key, name, _board, shown.scoring) for name in shown.rerankers}
    return OrderStability.of(values, measure, rankings)


@st.cache_resource(show_spinner="Testing differences …", max_entries=24)
def compared(
    shown: ViewKey,
    measure: str,
    traditional: str,
    baseline: str | None,
    test: str,
    correction: str,
    _evaluation: Evaluation,
) -> Verdicts:
    """Which rerankers differ from the baseline, or from each other where there is none."""
    return compare_both(_evaluation, measure, traditional, baseline, test, correction)
