"""Calls into the studies of trade-offs, kept."""

import pandas as pd
import streamlit as st

from dashboard.library import Board
from dashboard.session import View
from metrics import Evaluation
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.studies.tradeoffs import tradeoffs
from metrics.studies.tradeoffs.coverage import coverage_measures


@st.cache_resource(show_spinner=False, max_entries=16)
def latencies(key: str, _board: Board) -> dict[str, pd.Series]:
    """Return the seconds of every list of a board."""
    return tradeoffs.latencies(_board.runs)


@st.cache_resource(show_spinner="Counting targets …", max_entries=8)
def _board_coverage(key: str, k: int, scoring: ScoringOptions, _board: Board) -> Evaluation:
    return score_runs(_board.runs, coverage_measures(k), ["expected", "optimistic", "pessimistic"], scoring)


def list_coverage(view: View, k: int) -> Evaluation:
    """Return what the first k places hold, of the lists that are shown."""
    index = view.evaluation.scores.index
    coverage = _board_coverage(view.board.key, k, view.scoring, view.board).only(view.rerankers)
    if len(coverage.scores) == len(index):
        return coverage
    segment_coverage = coverage.only(view.rerankers, set(index.get_level_values("query_id")))
    if len(segment_coverage.scores) == len(index):
        return segment_coverage
    return _board_coverage(view.board.key, k, AS_READ, view.board).only(view.rerankers)
