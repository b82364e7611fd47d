"""Leaderboard: what each reranker scores, and what of it is sort order."""

from dashboard import cache, session
from dashboard.views.leaderboard.rules import rules_section
from dashboard.views.leaderboard.tools import tools_section
from dashboard.widgets.components import finding, page_head
from dashboard.widgets.leaderboard_parts import (
    charted_rerankers,
    leaderboard_cards,
    leaderboard_charts,
    leaderboard_table,
)
from metrics import parse
from metrics.evaluation import EQUAL
from metrics.studies.leaderboard.leaderboard import leaderboard, leaderboard_finding

view = session.view()
page_head(
    "Leaderboard",
    "Traditional: the order the sort happened to give. Tied: the mean over every order the scores allow; "
    "the bar runs from the worst to the best of them.",
)
measure = session.measure()
name = parse(measure)
rows = leaderboard(view.evaluation, measure, view.traditional)
finding(leaderboard_finding(rows, name.traditional, view.traditional))
scores = view.evaluation.scores[measure]
is_movable = scores["optimistic"] - scores["pessimistic"] > EQUAL
leaderboard_cards(rows, name, int(is_movable.sum()), len(is_movable))
if not name.measure.answers:
    leaderboard_charts(charted_rerankers(rows), view.palette, name.traditional)
    rows["std"] = cache.tie_std_of_means(view.key, measure, view.board, view.evaluation).reindex(rows.index)
    leaderboard_table(rows, name, view.treatment, "leaderboard")
rules_section(view, measure)
tools_section(view, rows, measure)
