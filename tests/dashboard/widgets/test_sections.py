"""What shows of a section that fails."""

import tomllib

import pytest
from boards import COARSE, QRELS, STRICT, board
from opening import APP, DATA_PAGES, leaks, opened, show_failure, title
from streamlit.testing.v1 import AppTest

from dashboard import cache
from dashboard.charts.figure import Figure
from dashboard.widgets import components


@pytest.fixture
def _failures_are_shown(monkeypatch):
    monkeypatch.setattr(components, "show_failure", show_failure)


def sections_of_which_one_fails():
    import streamlit as st  # noqa: PLC0415 this body is run alone

    from dashboard.widgets.components import section  # noqa: PLC0415 likewise
    from metrics.errors import ReadError  # noqa: PLC0415 likewise

    with section("The chart"):
        st.text("before")
        raise FileNotFoundError("/srv/secret/board.parquet")
    with section("The table"):
        raise ReadError("run_*.trec", "it is gone", "Open it again")
    with section("The rest"):
        st.text("after")
        st.stop()
    st.text("not reached")


@pytest.mark.usefixtures("_failures_are_shown")
def test_a_section_that_fails_is_one_card_and_the_others_stay(caplog):
    page = AppTest.from_function(sections_of_which_one_fails).run()
    chart, table = (card.value for card in page.error)
    assert chart.startswith("**The chart could not be shown** (FileNotFoundError).")
    assert "/srv" not in chart
    assert table == r"run\_\*\.trec\: it is gone\. Open it again"
    assert [text.value for text in page.text] == ["before", "after"]
    assert not page.exception
    assert "/srv/secret/board.parquet" in caplog.text
    assert "sections_of_which_one_fails" in caplog.text


@pytest.mark.usefixtures("_failures_are_shown")
@pytest.mark.parametrize("view", DATA_PAGES)
def test_a_page_whose_charts_fail_keeps_its_other_sections(monkeypatch, caplog, view):
    def fail(*_, **__):
        raise ValueError(f"cannot draw {APP}")

    monkeypatch.setattr(Figure, "to_plotly", fail)
    unseen = board(failing_trec=COARSE, strict_trec=STRICT, qrels_txt=QRELS)  # drawn by no other test, nor kept
    page = opened(view, data=cache.loaded_boards().add(unseen).label, table="file-order")
    assert title(page) == DATA_PAGES[view]
    assert not leaks(page)
    assert len(page.error) == caplog.text.count(f"ValueError: cannot draw {APP}")
    assert page.error or view in ("guide", "share"), "whose figures are no charts, or are in a file"


def test_a_browser_is_sent_no_stack_of_what_fails_outside_of_sections():
    settings = tomllib.loads((APP.parent / ".streamlit" / "config.toml").read_text())
    assert settings["client"]["showErrorDetails"] == "type"
