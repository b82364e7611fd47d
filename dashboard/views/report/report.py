"""Report: one file to send."""

import streamlit as st

from dashboard import session
from dashboard.views.report.sections import (
    asked,
    in_numbers,
    made,
    own_rows,
    preview_and_export,
    targets,
    wanted_targets,
)
from dashboard.widgets.components import Card, cards, finding, page_head
from metrics.report import SECTIONS
from metrics.studies.leaderboard.leaderboard import leaderboard
from metrics.studies.targets.target_summary import target_finding, target_summary

view = session.view()
page_head("Report", "One file to send: what was scored, by which rule for ties, and what holds in every order.")
measure = session.measure()
leader = str(leaderboard(view.evaluation, measure, view.traditional).index[0])
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    title = session.text_input("Title", "title", placeholder="What ties do", max_chars=200, width=240)
    chosen = session.select("Targets for", view.rerankers, "targets_for", leader, width=240)
    wanted = wanted_targets()
sections = session.pills("Sections", list(SECTIONS), "sections")

choices = asked(view, measure, title, wanted, "" if chosen == leader else chosen, sections)
one = made(view.board.key, repr(choices), view.board, choices)
rows = own_rows(one)
finding(target_finding(rows, chosen))

met = target_summary(rows)
only = ", ".join(met.by_sort[:4]) or "none"
cards(
    Card("adjust", "Targets met, tied", f"{met.tied} of {met.targets}", chosen, "blue"),
    Card("adjust", "Targets met, traditional", f"{met.traditional} of {met.targets}", "same targets", "orange"),
    Card("verified", "Met in every order", str(met.always), "even in the worst"),
    Card("casino", "Met by sort order only", str(len(met.by_sort)), only, "orange" if met.by_sort else "gray"),
)

targets(view, one)
preview_and_export(view, one)
in_numbers(one)
