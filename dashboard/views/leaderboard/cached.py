"""Calls of the Leaderboard into metrics, kept; keyed by what is shown."""

import pandas as pd

from dashboard.cache import ShownBoard, board_turn, segments
from dashboard.server.board_results import cached_by_key
from metrics import Evaluation
from metrics.evaluation import EQUAL
from metrics.studies.leaderboard.leaderboard import leaderboard, mean_std
from metrics.studies.leaderboard.ranks.tiers import rank_intervals
from metrics.studies.tools.tie_rules import tie_answers
from metrics.studies.tools.tool_comparison import by_tool, tool_values


@cached_by_key(show_spinner=False, max_entries=24)
def ranked_rerankers(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the rows of the leaderboard, which nobody changes.

    Args:
        view: what is shown.
        measure: what it is ranked by.
        traditional: the treatment taken as the traditional one.
    """
    return leaderboard(view.evaluation, measure, traditional)


@cached_by_key(show_spinner=False, max_entries=24)
def count_movable(view: ShownBoard, measure: str) -> int:
    """Return how many lists have a worst and a best order that differ."""
    scores = view.evaluation.scores[measure]
    return int((scores["optimistic"] - scores["pessimistic"] > EQUAL).sum())


@cached_by_key(show_spinner="Asking what other tools would say …", max_entries=16)
def tool_table(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return what each tool would report for a measure."""
    owners = segments(view.board)
    queries = set(owners.index[owners.isin(view.segments)]) if view.segments else None
    with board_turn(view.board):
        return tool_values(view.board.runs, measure, view.rerankers, view.scoring, queries)


@cached_by_key(show_spinner=False, max_entries=16)
def tool_rows(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return what `tool_table` holds, a row a tool."""
    return by_tool(tool_table(view, measure))


@cached_by_key(show_spinner="Settling ties …", max_entries=24)
def tie_rules(view: ShownBoard, measures: tuple[str, ...], traditional: str) -> Evaluation:
    """Return a measure and those that settle its ties by their own rules, as `side_by_side` names them.

    Args:
        view: what is shown.
        measures: their names.
        traditional: the treatment taken as the traditional one.
    """
    return view.score(measures, ("expected", "optimistic", "pessimistic", traditional))


@cached_by_key(show_spinner=False, max_entries=24)
def rule_answers(
    view: ShownBoard, measures: tuple[str, ...], traditional: str, _evaluation: Evaluation
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what each rule answers to the ties of a measure, and the leaderboard of that measure.

    Args:
        view: what is shown.
        measures: as in `tie_rules`, the measure first.
        traditional: the treatment taken as the traditional one.
        _evaluation: as `tie_rules` returns it.
    """
    answers = tie_answers(_evaluation, measures[0], traditional)
    return answers, leaderboard(_evaluation, measures[0], traditional)


@cached_by_key(show_spinner=False, max_entries=24)
def tie_std_of_means(view: ShownBoard, measure: str) -> "pd.Series[float]":
    """Return the standard deviation of each mean over random tie-breaking."""
    return mean_std(view.score(measure, "std"), measure)


@cached_by_key(show_spinner=False, max_entries=24)
def intervals(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return between which ranks other queries could put each reranker."""
    return rank_intervals(view.evaluation, measure)
