"""Report: one file to send."""

from dashboard import session
from dashboard.views.lab.report.cached import board_report
from dashboard.views.lab.report.options import choose_options
from dashboard.views.lab.report.sections import preview_and_export, summary_cards
from dashboard.views.lab.report.targets import target_sections
from dashboard.widgets.components import finding, page_head

view = session.view()
page_head("Report", "One file to send: what was scored, by which rule for ties, and what holds in every order.")
measure = session.measure()
options = choose_options(view, measure)
report = board_report(view.board, repr(options), options)
finding(report.recommendation, view.rerankers)
summary_cards(report.studies)
preview_and_export(view, report, options)
if options.targets:
    target_sections(view, report.studies)
