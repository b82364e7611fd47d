"""Any measure and cut-off, beside the usual ones."""

from opening import opened


def test_a_measure_that_needs_a_cutoff_is_given_one_after_a_look_at_one_that_needs_none():
    page = opened("leaderboard")
    for name in ("AP", "F1"):
        page.selectbox(key="_other").set_value(name).run()
    page.button(key="_other_use").click().run()
    assert not page.exception
    assert page.query_params == {"measure": "F1@10"}
