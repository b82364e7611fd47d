"""What the visitor's browser says of itself: its theme, and where it is."""

from zoneinfo import ZoneInfo

import streamlit as st

from dashboard.charts.palette import Palette, theme_palette

WIDTH_KEY = "width"
"""Of what tells the width of the window."""


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
