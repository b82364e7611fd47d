"""Identify the visitor's browser, its theme, width and time zone."""

from secrets import token_hex
from typing import cast
from zoneinfo import ZoneInfo

import streamlit as st

from dashboard.access.admission import is_loopback
from dashboard.access.admitted import sign_in_id
from dashboard.access.sign_in import is_open_to_all, is_sign_in_required
from dashboard.charts.palette import Palette, theme_palette
from dashboard.streamlit_internals import browser_token

WIDTH_KEY = "width"
"""Key of the component that reports the width of the window."""
_BROWSER = "_browser"


def visitor_id() -> str:
    """Return the ID for which boards in memory open: a sign-in, a browser, or "" on one's own machine.

    A browser's random token survives a refresh, and lasts until the browser is closed.
    """
    if is_sign_in_required():
        return sign_in_id(st.user.to_dict())
    if not is_open_to_all() and is_loopback(st.get_option("server.address")):
        return ""
    return browser_token(st.context.cookies) or cast("str", st.session_state.setdefault(_BROWSER, token_hex()))


def theme() -> Palette:
    """Return the colours of the visitor's theme."""
    return theme_palette(st.context.theme.type)


def is_narrow() -> bool:
    """Return whether the window is as narrow as a phone's, once `watch_width` reported it."""
    return bool(st.session_state.get(WIDTH_KEY, {}).get("is_narrow", False))


def visitor_zone() -> ZoneInfo:
    """Return the visitor's time zone, UTC if unknown."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
