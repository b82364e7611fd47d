"""Ties vs gap: any two measures, the notebook's summary, and what its orders would cost."""

import pytest
from opening import charts, metrics, opened, table, texts

from dashboard import cache
from metrics.studies.gaps.gap import gaps
from metrics.studies.gaps.gap_summary import ALL_LISTS


def test_the_panels_and_the_summary_are_of_any_two_measures():
    page = opened("ties", data=cache.SIMULATED_LABEL, first="nDCG@7", second="TsRR")
    assert page.selectbox(key="first").value == "nDCG@7"
    titles = {note["text"] for note in charts(page)["gap-panels"]["layout"]["annotations"]}
    assert {"Gap in nDCG@7", "Gap in TsRR"} <= titles
    assert "Tie ratio, nDCG@7 gap" in metrics(page)
    board = cache.sample_board(cache.SIMULATED_LABEL)
    lists = gaps(cache.evaluation(board.key, board, measures=("nDCG@7",)), {"n": "nDCG@7"}, "input")
    rows = table(page, "Summary").set_index("reranker")
    assert rows.index.to_list() == [ALL_LISTS, *board.runs.rerankers]
    assert rows.loc[ALL_LISTS, "first_gap_mean"] == pytest.approx(lists["n_gap"].abs().mean())
    assert rows.loc[ALL_LISTS, ["n", "with_ties"]].to_list() == [400, (lists["tie_ratio"] > 0).sum()]
    assert "sample standard deviation over lists (ddof 1" in texts(page)


def test_a_measure_with_its_own_rule_is_not_said_to_have_gaps():
    page = opened("ties", data=cache.SIMULATED_LABEL)
    page.selectbox(key="_other_first").set_value("taRR").run()
    page.button(key="_other_first_use").click().run()
    assert not page.exception
    assert page.selectbox(key="first").value == "taRR"
    assert "taRR has a rule of its own for ties" in texts(page)
