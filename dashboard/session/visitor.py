"""What the visitor's browser says of itself: its theme, and where it is."""

from zoneinfo import ZoneInfo

import streamlit as st

from dashboard.charts.palette import Palette, theme_palette


def theme() -> Palette:
    """Return the colours of the theme this visitor has chosen."""
    return theme_palette(st.context.theme.type)


def visitor_zone() -> ZoneInfo:
    """Return where the visitor's browser says it is."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
