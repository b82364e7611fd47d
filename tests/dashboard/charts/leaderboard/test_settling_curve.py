"""The chart of what judging settles."""

import pandas as pd
import pytest

from dashboard.charts.leaderboard.settling_curve import settling_curve
from dashboard.charts.palette import LIGHT
from metrics.studies.leaderboard.judging import JudgingPlan, closing_text, plan_finding
from metrics.studies.prose import plain


def plan(in_order, at_random, n_documents=8):
    judged = [0, n_documents // 4, n_documents // 2, n_documents]
    curve = pd.DataFrame({"judged": judged, "in_order": in_order, "at_random": at_random})
    return JudgingPlan("nDCG@10", 10, 2, pd.DataFrame({"doc_id": ["d"] * n_documents}), curve)


STEEP = plan([0.6, 0.4, 0.3, 0.2], [0.6, 0.5, 0.4, 0.2])


def test_the_rule_joins_the_lines_where_half_of_what_holes_leave_open_is_closed():
    figure = settling_curve(STEEP, LIGHT)
    assert (STEEP.halving(), STEEP.halving("at_random")) == (2, 4)
    rule = figure.data[-1]
    assert list(rule.x) == [2, 4]
    assert list(rule.y) == pytest.approx([0.4, 0.4])
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert texts == ["left to ties alone", "<b>2</b> in this order", "<b>4</b> at random"]
    floor = figure.layout.shapes[0]
    assert (floor.y0, floor.y1) == pytest.approx((0.2, 0.2))
    assert (floor.x0, floor.x1, floor.xref) == (0, 1, "x domain")


def test_what_judging_settles_is_said_of_every_plan():
    assert plain(plan_finding(STEEP)) == (
        "2 judgments in this order halve what 8 unjudged documents leave open of nDCG@10, 4 in random order. "
        "Bars are 0.600 wide on average; ties alone leave 0.200."
    )
    assert closing_text(STEEP, 4) == "The first 4 documents close 75% of what unjudged documents leave open."
    level = plan([0.2] * 4, [0.2] * 4)
    assert plain(plan_finding(level)) == "No judgment narrows nDCG@10: ties leave it as open as it is."
    assert len(settling_curve(level, LIGHT).data) == 3
    alone = plan([0.6, 0.6, 0.6, 0.2], [0.6, 0.6, 0.6, 0.2], 1)
    assert "One document is left to judge in the top 10." in plain(plan_finding(alone))
