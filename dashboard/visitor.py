"""Know the visitor's browser, and use it: save charts, copy the address, and correct Streamlit's styles."""

from pathlib import Path
from secrets import token_hex
from typing import Literal, cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import streamlit as st

from dashboard.access.admission import is_loopback
from dashboard.access.admitted import sign_in_id
from dashboard.access.sign_in import is_open_to_all, is_sign_in_required
from dashboard.charts.palette import Palette, theme_palette
from dashboard.streamlit_internals import browser_token

BROWSER_KEY = "browser"
"""Key of the component that reports what the browser does."""
_BROWSER = "_browser"
Width = Literal["content", "stretch"]


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
    """Return whether the window is as narrow as a phone's, once the browser reported it."""
    return bool(st.session_state.get(BROWSER_KEY, {}).get("is_narrow", False))


def visitor_zone() -> ZoneInfo:
    """Return the visitor's time zone, UTC if unknown."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


_ASSETS = Path(__file__).parent / "assets"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


_mount = st.components.v2.component("tiescope.browser", js=_asset("browser.js"))
_mount_copy = st.components.v2.component(
    "tiescope.copy", html=_asset("copy.html"), css=_asset("copy.css"), js=_asset("copy.js")
)


def equip_browser() -> None:
    """Add a PNG button to charts, one history entry per page, and the lists of the menu.

    The browser also asks for a rerun when the visitor switches the theme, when the window becomes as narrow as
    a phone's or wide again, and after a lost connection.
    """
    _mount(
        key=BROWSER_KEY,
        data={"scheme": st.context.theme.type, "is_narrow": is_narrow()},
        on_scheme_change=_draw_again,
        on_is_narrow_change=_draw_again,
        on_connection_change=_draw_again,
    )


def _draw_again() -> None:
    """Do nothing: the rerun that follows a callback draws the page."""


def offer_copy(key: str, label: str, text: str = "", width: Width = "content") -> None:
    """Draw a button that copies a text with the address below it, or the address alone.

    The text says if the address opens on this computer only.
    """
    data = {"label": label, "text": text, "is_local": is_local()}
    _mount_copy(key=key, data=data, width=width)


def offer_link(key: str, width: Width = "content") -> None:
    """Draw a button that copies the address of the page, and say if it opens on this computer only."""
    offer_copy(key, "Copy link", width=width)
    if is_local():
        st.caption("This link opens on this computer only. To send the board, download the HTML report.")


def is_local() -> bool:
    """Return whether the visitor reaches the app at an address that only this computer reaches."""
    return is_loopback(urlsplit(st.context.url or "").hostname)


def mend_looks(colours: Palette) -> None:
    """Correct contrast in dark mode, cut texts on cards, and margins and columns at medium widths."""
    st.html(f"<style>{_asset('looks.css')} :root {{ --ground: {colours.ground}; }}</style>")
