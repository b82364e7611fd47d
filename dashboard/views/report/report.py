"""Report: one file to send."""

from dashboard import session
from dashboard.views.report.cached import board_report
from dashboard.views.report.options import choose_options
from dashboard.views.report.sections import preview_and_export, target_cards, target_charts, target_table
from dashboard.widgets.components import finding, page_head
from metrics.studies.leaderboard.leaderboard import leaderboard
from metrics.studies.targets.target_summary import target_finding

view = session.view()
page_head("Report", "One file to send: what was scored, by which rule for ties, and what holds in every order.")
measure = session.measure()
leader = str(leaderboard(view.evaluation, measure, view.traditional).index[0])
options = choose_options(view, measure, leader)
report = board_report(view.board.key, repr(options), view.board, options)
targets, reranker = report.studies.targets, report.studies.targets_for
own_targets = targets[targets["reranker"] == reranker]
finding(target_finding(own_targets, reranker))
target_cards(own_targets, reranker)
target_charts(view, targets, reranker)
preview_and_export(view, report, options)
target_table(targets)
