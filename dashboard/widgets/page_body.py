"""What a click on a page draws again: the page alone, and not the frame around it."""

from collections.abc import Callable
from functools import wraps
from itertools import count

import streamlit as st

from dashboard.access.sign_in import is_admitted
from dashboard.escaping import escape_markdown
from dashboard.session.address import refused
from dashboard.session.boards import has_message, is_still_open
from dashboard.session.long_work import waiting_shown


def page_body(draw: Callable[[], None]) -> Callable[[], None]:
    """Have a function, which draws all of a page, called alone when one of its controls is used.

    The frame draws the page first, and says who may see it. A click asks again: whoever may no longer is shown
    the frame. A page that changes what the frame shows, too, calls `st.rerun()`.
    """
    run_number = count()

    @wraps(draw)
    def draw_body() -> None:
        is_click = next(run_number) > 0
        if is_click and not (is_admitted() and is_still_open()):
            st.rerun()
        refusals = st.empty()
        with waiting_shown():
            draw()
        if is_click and has_message():
            st.rerun()  # without the message; before the page was drawn, what was clicked would be lost
        if is_click and (texts := refused()):
            refusals.warning(refusal(texts))

    return st.fragment(draw_body)


def refusal(texts: list[str]) -> str:
    """Return the line on what an address asks for in vain."""
    return f"This link asks for what is not kept here, or not offered: {escape_markdown(', '.join(texts))}."
