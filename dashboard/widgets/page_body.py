"""What a click on a page draws again: the page alone, and not the frame around it."""

from collections.abc import Callable
from functools import wraps
from itertools import count

import streamlit as st

from dashboard.escaping import escape_markdown
from dashboard.session.address import refused
from dashboard.session.long_work import waiting_shown


def page_body(draw: Callable[[], None]) -> Callable[[], None]:
    """Have a function, which draws all of a page, called alone when one of its controls is used.

    What it sets of the frame, a control that stands there as well or the board, asks for `st.rerun()`.
    """
    clicks = count()

    @wraps(draw)
    def draw_body() -> None:
        refusals = st.empty()
        with waiting_shown():
            draw()
        if next(clicks) and (texts := refused()):  # after the first time; then the frame says so
            refusals.warning(refusal(texts))

    return st.fragment(draw_body)


def refusal(texts: list[str]) -> str:
    """Return the line on what an address asks for in vain."""
    return f"This link asks for what is not kept here, or not offered: {escape_markdown(', '.join(texts))}."
