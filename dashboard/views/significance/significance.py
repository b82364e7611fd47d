"""Significance: is a difference larger than chance, and would it survive another order of the ties?"""

import streamlit as st

from dashboard import session
from dashboard.views.significance import cached
from dashboard.views.significance.sections import (
    differences,
    every_pair,
    farthest_queries,
    leading,
    order_under_ties,
    results,
    stability,
    where_they_finish,
)
from dashboard.widgets.components import Card, cards, finding, page_head
from metrics import parse
from metrics.studies.significance.power import detectable
from metrics.studies.significance.significance import significance_finding
from metrics.studies.significance.test_registry import CORRECTIONS, TESTS, is_significant

tests = {one.label.removesuffix(" test").removeprefix("paired "): one.name for one in TESTS}
corrections = {one.label: one.name for one in CORRECTIONS}
view = session.view()
page_head(
    "Significance",
    "Is the difference between two rerankers larger than chance, and would it survive another order of ties?",
)
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    baseline = session.select("Baseline", view.rerankers, "baseline", width=240)
    measure = session.measure()
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    test = tests[session.segmented("Test", list(tests), "test")]
    correction = corrections[session.segmented("Correction", list(corrections), "correction")]
name = parse(measure).traditional

arguments = measure, view.traditional
found = cached.compared(view.key, *arguments, baseline, test, correction, view.evaluation)
finding(significance_finding(found, name, test))
known, known_before = (
    f"{int(is_significant(rows['p_adjusted'].to_numpy(), found.level).sum())} of {len(rows)}"
    for rows in (found.tied, found.traditional)
)
least = detectable(view.evaluation, measure, "expected", baseline)
queries = f"80% power, {int(found.tied['n'].median()):,} queries" if len(found.tied) else "nothing to compare"
cards(
    Card("verified", "Significant, tied", known, f"against {baseline}", "blue"),
    Card("rule", "Significant, traditional", known_before, "same test, same level", "orange"),
    Card("swap_horiz", "Verdicts that change", f"{int(found.changed.sum())} of {len(found.tied)}", "by ties"),
    Card("straighten", "Detectable difference", f"{least:.3f}" if least < 1 else "none", queries),
)

if len(view.rerankers) > 1:
    few = leading(view, measure)
    lists = cached.spread_of_lists(view.key, measure, view.board, view.evaluation)
    chances = cached.chances(few.key, measure, view.board, lists)
    left, right = st.columns([5, 3], gap="large")
    with left:
        differences(view, found, name)
    with right:
        order_under_ties(view, chances)
    stability(chances, name)
    left, right = st.columns([5, 3], gap="large")
    with left:
        where_they_finish(few, chances, measure, name)
    with right:
        pairs = cached.compared(few.key, *arguments, None, test, correction, few.evaluation)
        every_pair(few, pairs, chances, correction)
    results(found, lists, measure, test, correction)
    farthest_queries(view, measure, baseline)
