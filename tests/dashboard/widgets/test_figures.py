"""What is drawn, and kept with the results of a board."""

import pandas as pd
from streamlit.testing.v1 import AppTest

from dashboard.cache import drawn
from dashboard.charts.figure import Figure


def test_a_figure_of_the_same_contents_is_drawn_once_and_one_of_others_anew():
    colours = []

    def draw(table, colour):
        colours.append(colour)
        return Figure().draw_scatter(x=table["x"], line={"color": colour})

    table = pd.DataFrame({"x": [1.0, 2.0], "name": ["a", "b"]})
    first = drawn(draw, table, "red")
    assert drawn(draw, table.copy(), "red") is first
    assert list(drawn(draw, table.assign(x=[1.0, 3.0]), "red").data[0].x) == [1, 3]
    assert drawn(draw, table, "blue").data[0].line.color == "blue"
    assert colours == ["red", "red", "blue"]


def _page():
    import pandas as pd  # noqa: PLC0415 AppTest runs this body alone
    import streamlit as st  # noqa: PLC0415

    from dashboard.cache import drawn  # noqa: PLC0415

    def draw(table, name):
        st.session_state["drawn"] = [*st.session_state.get("drawn", []), name]
        st.caption(name)
        with st.container():
            st.dataframe(table)

    table = pd.DataFrame({"x": [1, 2]})
    drawn(draw, table, "first")
    drawn(draw, table.assign(x=[1, 3]), "first")
    drawn(draw, table, name="second")
    drawn(draw, table, name="third")


def test_elements_drawn_once_appear_at_each_requested_position():
    page = AppTest.from_function(_page).run().run()
    assert not page.exception
    assert page.session_state["drawn"] == ["first", "first", "second", "third"]
    assert [caption.value for caption in page.caption] == ["first", "first", "second", "third"]
    assert [table.value["x"].tolist() for table in page.dataframe] == [[1, 2], [1, 3], [1, 2], [1, 2]]
