"""Sections of a page, which may fail while the others stay."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from dashboard.escaping import error_markdown, escape_markdown
from metrics.errors import TieScopeError

THIS_PAGE = "This page"
"""Name of a page as the section around all others."""
_LOG = logging.getLogger(__name__)


@contextmanager
def section(name: str) -> Iterator[None]:
    """Show a card in the place of what fails inside, and go on with the page; also decorates a function.

    Streamlit stops and reruns a script by exceptions that are no `Exception`: they pass.
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


def refusal(texts: list[str]) -> str:
    """Return the line on what an address asks for in vain."""
    return f"This link asks for what is not kept here, or not offered: {escape_markdown(', '.join(texts))}."
