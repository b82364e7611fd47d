"""What the visitor's browser says of itself: its theme, and where it is."""

from zoneinfo import ZoneInfo

import streamlit as st

from dashboard.access import sign_in
from dashboard.charts.palette import Palette, theme_palette

_THEME = "_theme"


def theme() -> Palette:
    """Return the colours of the theme this visitor has chosen."""
    return theme_palette(st.context.theme.type)


def visitor_zone() -> ZoneInfo:
    """Return where the visitor's browser says it is."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


@st.fragment(run_every=2)
def follow_visitor() -> None:
    """Draw again when the visitor switches the theme or may not see the app any more: neither reruns a page."""
    now = st.context.theme.type
    if st.session_state.setdefault(_THEME, now) != now or not sign_in.is_still_allowed():
        st.session_state[_THEME] = now
        st.rerun()
