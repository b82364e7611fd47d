"""Any measure and cut-off, beside the usual ones."""

from opening import opened


def test_a_measure_that_needs_a_cutoff_gets_one_after_one_without():
    page = opened("leaderboard")
    assert "_other_use" not in [button.key for button in page.button], "nothing to use before a choice"
    assert "AP · MAP" in page.selectbox(key="_other").options, "found by its usual name"
    page.selectbox(key="_other").set_value("RR").run()
    page.number_input[-1].set_value(5).run()
    page.number_input[-1].set_value(None).run()
    page.selectbox(key="_other").set_value("F1").run()
    page.button(key="_other_use").click().run()
    assert not page.exception
    assert page.query_params == {"measure": "F1@10"}
