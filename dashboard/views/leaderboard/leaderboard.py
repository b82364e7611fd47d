"""Leaderboard: what each reranker scores, and what of it is sort order."""

from dashboard import cache, session
from dashboard.views.leaderboard.tools import what_tools_say
from dashboard.widgets.components import finding, page_head
from dashboard.widgets.leaderboard_parts import (
    charted_rerankers,
    leaderboard_cards,
    leaderboard_charts,
    leaderboard_table,
)
from metrics import parse
from metrics.studies.leaderboard.leaderboard import leaderboard, leaderboard_finding

view = session.view()
page_head(
    "Leaderboard",
    "Traditional: the order the sort happened to give. Tied: the mean over every order the scores allow; "
    "the bar runs from the worst to the best of them.",
)
measure = session.measure()
name = parse(measure)
board = leaderboard(view.evaluation, measure, view.traditional)
finding(leaderboard_finding(board, name.traditional))
scores = view.evaluation.scores[measure]
loose = scores["optimistic"] - scores["pessimistic"] > 0
leaderboard_cards(board, name, int(loose.sum()), len(loose))
leaderboard_charts(charted_rerankers(board), view.palette, name.traditional)
board["std"] = cache.tie_std_of_means(view.key, measure, view.board, view.evaluation).reindex(board.index)
leaderboard_table(board, name, "leaderboard")
what_tools_say(view, board, measure)
