"""What a click on a page asks before it draws the page without its frame."""

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.widgets import page_body


def drawn_then_clicked():
    import streamlit as st  # noqa: PLC0415 this body is run alone

    from dashboard.widgets.page_body import page_body  # noqa: PLC0415 likewise

    @page_body
    def page():
        st.text("shown")

    page()
    if "is_clicked" not in st.session_state:
        st.session_state["is_clicked"] = True
        page()


@pytest.mark.parametrize(("is_admitted", "is_open"), [(True, True), (False, True), (True, False)])
def test_a_click_draws_the_page_where_it_may_still_be_seen_and_else_asks_the_frame(
    monkeypatch, is_admitted, is_open
):
    monkeypatch.setattr(page_body, "is_admitted", lambda: is_admitted)
    monkeypatch.setattr(page_body, "is_still_open", lambda: is_open)
    session = AppTest.from_function(drawn_then_clicked).run()
    assert not session.exception
    assert len(session.text) == (2 if is_admitted and is_open else 1)
