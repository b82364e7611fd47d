"""Use the visitor's browser: save charts, copy the address, and correct Streamlit's styles."""

from pathlib import Path

import streamlit as st

from dashboard.charts.palette import Palette
from dashboard.visitor import WIDTH_KEY, is_narrow

_ASSETS = Path(__file__).parents[1] / "assets"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


_mount = st.components.v2.component("tiescope.browser", js=_asset("browser.js"))
_mount_copy = st.components.v2.component(
    "tiescope.copy", html=_asset("copy.html"), css=_asset("copy.css"), js=_asset("copy.js")
)
_mount_width = st.components.v2.component("tiescope.width", js=_asset("width.js"))


def equip_browser() -> None:
    """Add a PNG button to charts, one history entry per page, and the lists of the menu.

    The browser also asks for a rerun when the visitor switches the theme, and after a lost connection.
    """
    data = {"scheme": st.context.theme.type}
    _mount(key="browser", data=data, on_scheme_change=_draw_again, on_connection_change=_draw_again)


def _draw_again() -> None:
    """Do nothing: the rerun that follows a callback draws the page."""


def watch_width() -> None:
    """Rerun the page when the window becomes as narrow as a phone's, or wide again."""
    data = {"is_narrow": is_narrow()}
    _mount_width(key=WIDTH_KEY, data=data, on_is_narrow_change=_draw_again)


def offer_copy(key: str, label: str, text: str = "") -> None:
    """Draw a button that copies a Markdown text with a link to the page, or the address alone."""
    _mount_copy(key=key, data={"label": label, "text": text}, width="content" if text else "stretch")


def mend_looks(colours: Palette) -> None:
    """Correct contrast in dark mode, cut texts on cards, and margins and columns at medium widths."""
    st.html(_ASSETS / "looks.css")
    st.html(f"<style>:root {{ --ground: {colours.ground}; }}</style>")
