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
_NARROW_PAGE = "@media (min-width: 768px) and (max-width: 1200px)"
"""Windows in which a sidebar leaves too little width for the page's usual margins."""
_WITH_SIDEBAR = "@media (min-width: 768px) { .stApp:has([data-testid=stSidebar][aria-expanded=true])"
"""Windows whose top bar is empty on the left."""
_LOW_WINDOW = "@media (min-width: 768px) and (max-height: 800px)"
"""Windows too low to show all of the sidebar."""
_CARDS = ".stHorizontalBlock:has(> .stColumn > .stVerticalBlock > .stElementContainer > .stMetric) > .stColumn"
_NARROWEST_CARDS = 714
"""Pixels below which four cards form two rows."""
_PAIR = "[class*=st-key-pair-] > * > .stHorizontalBlock > .stColumn"
_NARROWEST_PAIR = 760
"""Pixels below which the columns of `side_by_side` stand one below the other."""
_CHART = "[data-testid=stElementContainer]:has(> [data-testid=stFullScreenFrame] [data-testid=stPlotlyChart])"
_CARD_LABEL, _NOTE = (
    "[data-testid=stMetricLabel] :is(div, p)",
    ":is([data-testid=stMetricDelta] *, .stMarkdownBadge)",
)
_ON_PRIMARY = "[data-testid=stBaseButton-primary]:enabled, [data-testid=stMultiSelect] [data-tag]"


def equip_browser() -> None:
    """Add a PNG button to charts, one history entry per page, and the lists of the menu.

    The browser also asks for a rerun when the visitor switches the theme.
    """
    _mount(key="browser", data={"scheme": st.context.theme.type}, on_scheme_change=_draw_again)


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
    st.html(
        f"<style>{_ON_PRIMARY} {{ color: {colours.ground}; }}"
        f"{_CHART} {{ width: round(down, 100%, 1px) !important; }}"
        f"{_CARD_LABEL} {{ white-space: normal; overflow: visible; }}"
        f"{_NOTE} {{ white-space: normal !important; }}"
        f"{_WITH_SIDEBAR} [data-testid=stMainBlockContainer] {{ padding-top: 1.5rem; }} }}"
        "[data-testid=stMainBlockContainer] h1 { padding-top: 0; }"
        f"{_LOW_WINDOW} {{ [data-testid=stSidebarNavLinkContainer] {{ margin-block: 0; }}"
        "[data-testid=stNavSectionHeader] { margin-block: 0; padding-block: 0; }"
        "[data-testid=stSidebarUserContent] { padding-block: .5rem; }"
        "[data-testid=stSidebarUserContent] [data-testid=stVerticalBlock] { gap: .5rem; } }"
        f"{_NARROW_PAGE} {{ [data-testid=stMainBlockContainer] {{ padding-inline: 2rem; }} }}"
        f"{_CARDS} {{ min-width: {_where_narrower(_NARROWEST_CARDS, 'calc(50% - .5rem)')} !important; }}"
        f"{_PAIR} {{ min-width: {_where_narrower(_NARROWEST_PAIR, '100%')}; }}</style>"
    )


def _where_narrower(pixels: int, length: str) -> str:
    """Return a CSS length that applies in places narrower than so many pixels, and is 0 in others."""
    return f"clamp(0px, ({pixels}px - 100%) * 999, {length})"
