"""Use the visitor's browser: save charts, copy the address, and correct Streamlit's styles."""

from pathlib import Path

import streamlit as st

from dashboard.charts.palette import Palette
from dashboard.visitor import WIDTH_KEY, is_narrow

_ASSETS = Path(__file__).parents[1] / "assets"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


_mount = st.components.v2.component("tiescope.browser", js=_asset("browser.js"))
_mount_link = st.components.v2.component(
    "tiescope.link", html=_asset("link.html"), css=_asset("link.css"), js=_asset("link.js")
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


def offer_link() -> None:
    """Draw the button that copies the address."""
    _mount_link(key="link")


def mend_looks(colours: Palette) -> None:
    """Correct contrast in dark mode, cut texts on cards, and margins and columns at medium widths."""
    st.html(_ASSETS / "looks.css")
    st.html(f"<style>:root {{ --ground: {colours.ground}; }}</style>")
