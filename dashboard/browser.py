"""What only the visitor's browser can do: charts as SVG and PNG from their own menu, and a short way back."""

from pathlib import Path

import streamlit as st

_SCRIPT = (Path(__file__).parent / "assets" / "browser.js").read_text(encoding="utf-8")
_mount = st.components.v2.component("tiescope.browser", js=_SCRIPT)


def equip_browser() -> None:
    """Give every chart a button for PNG beside that for SVG, and one step in the history to a page."""
    _mount(key="browser")
