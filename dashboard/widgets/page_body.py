"""A page apart from the frame around it, which a click does not draw again; its sections, which may fail."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import count

import streamlit as st

from dashboard.access.sign_in import is_admitted
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.session.address import refused
from dashboard.session.boards import has_message, is_still_open
from dashboard.session.long_work import waiting_shown
from metrics.errors import TieScopeError

THIS_PAGE = "This page"
"""Name of a page as the section around all others."""
_LOG = logging.getLogger(__name__)


@contextmanager
def section(name: str) -> Iterator[None]:
    """Show a card in the place of what fails inside, and go on with the page; also decorates a function.

    Streamlit stops and reruns a script by exceptions that are no `Exception`: they pass.

    Args:
        name: what the card says could not be shown.
    """
    try:
        yield
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
    except Exception as error:  # noqa: BLE001 whatever it is, the other sections stay
        show_failure(name, error)


def show_failure(name: str, error: Exception) -> None:
    """Say that a section failed, and log where: the page names neither files nor lines of the server."""
    _LOG.error("%s could not be shown", name, exc_info=error)
    st.error(
        f"**{name} could not be shown** ({type(error).__name__}). Reload the page or change a setting. If it "
        "fails again, report it with the traceback in the log of the server.",
        icon=":material/error:",
    )


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
        with waiting_shown(), section(THIS_PAGE):
            draw()
        if is_click and has_message():
            st.rerun()  # without the message; before the page was drawn, what was clicked would be lost
        if is_click and (texts := refused()):
            refusals.warning(refusal(texts))

    return st.fragment(draw_body)


def refusal(texts: list[str]) -> str:
    """Return the line on what an address asks for in vain."""
    return f"This link asks for what is not kept here, or not offered: {escape_markdown(', '.join(texts))}."
