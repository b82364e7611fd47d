"""What the visitor's browser says of itself: which it is, its theme, and where it is."""

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
"""Of what tells the width of the window."""
_BROWSER = "_browser"


def visitor_id() -> str:
    """Return whom alone a board opens for that is not kept: a sign-in, a browser, or whoever uses this machine.

    A browser has a random token, for its forms: it stays over a refresh, and until the browser is closed.
    """
    if is_sign_in_required():
        return sign_in_id(st.user.to_dict())
    if not is_open_to_all() and is_loopback(st.get_option("server.address")):
        return ""
    return browser_token(st.context.cookies) or cast("str", st.session_state.setdefault(_BROWSER, token_hex()))


def theme() -> Palette:
    """Return the colours of the theme this visitor has chosen."""
    return theme_palette(st.context.theme.type)


def is_narrow() -> bool:
    """Return whether this visitor's window is as narrow as a phone's, once `watch_width` has heard of it."""
    return bool(st.session_state.get(WIDTH_KEY, {}).get("is_narrow", False))


def visitor_zone() -> ZoneInfo:
    """Return where the visitor's browser says it is."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
