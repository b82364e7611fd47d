"""The baseline: BM25 or the first while nobody chose another, however the rerankers shown change."""

from streamlit.testing.v1 import AppTest

PAGE = """
import streamlit as st
from dashboard.controls import read_address, write_address
from dashboard.choices import choose_baseline

read_address("compare")
choose_baseline(["a", "b"] if st.checkbox("Without BM25", value=True) else ["bm25", "a", "b"])
write_address()
"""


def test_a_default_that_moves_is_followed_and_is_no_choice():
    page = AppTest.from_string(PAGE).run()
    assert page.selectbox(key="baseline").value == "a"
    page.checkbox[0].uncheck().run()
    assert page.selectbox(key="baseline").value == "bm25"
    assert "baseline" not in page.query_params
    page.selectbox(key="baseline").set_value("b").run()
    page.checkbox[0].check().run()
    assert page.selectbox(key="baseline").value == "b"
    assert page.query_params["baseline"] == "b"
