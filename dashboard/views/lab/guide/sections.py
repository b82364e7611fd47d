"""The sections of the Guide, each with the Markdown file it lays out."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import streamlit as st

from dashboard.views.lab.guide.example import one_minute
from dashboard.views.lab.guide.layout import (
    draw_blocks,
    draw_cards,
    draw_file,
    draw_folded,
    draw_head,
    draw_part,
)
from dashboard.views.lab.guide.noise import noise
from dashboard.views.lab.guide.notebook import notebook
from dashboard.views.lab.guide.prose import read_parts
from dashboard.widgets.components import Colour

_VERDICT_COLOURS: dict[str, Literal["green", "yellow", "orange", "blue", "gray"]] = {
    "stable": "green",
    "tie-sensitive": "yellow",
    "tie-inflated": "orange",
    "tie-deflated": "blue",
    "own rule": "gray",
}
_SEVERITY_BADGES: dict[str, tuple[str, Colour]] = {
    "error": ("error", "red"),
    "warning": ("warning", "orange"),
    "info": ("info", "blue"),
}


def words() -> None:
    """Draw the verdicts of the leaderboard as it shows them, what words mean, and what counts."""
    verdicts, *tables = read_parts("words")
    draw_head(verdicts)
    grid = st.grid(2, min_column_width=300)
    for card in verdicts.cards:
        with grid.container(border=True, height="stretch", gap="xxsmall"):
            st.badge(card.title, color=_VERDICT_COLOURS[card.title])
            st.markdown(card.text)
    for part in tables:
        draw_head(part)
        draw_blocks(part.rest)


def findings() -> None:
    """Draw every kind of finding, by severity."""
    (part,) = read_parts("findings")
    draw_head(part)
    for card in part.cards:
        icon, colour = _SEVERITY_BADGES[card.title]
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge(card.title, icon=f":material/{icon}:", color=colour)
                st.caption(card.text)
            draw_blocks(card.rest)


def measures() -> None:
    """Draw which measure to look at when, how to read each, and every measure."""
    advice, catalogue = read_parts("measures")
    draw_part(advice)
    values, *others = read_parts("reading")
    draw_folded(values)
    for part in others:
        draw_part(part)
    draw_head(catalogue)
    draw_cards(catalogue.cards, columns=3, width=280)


SECTIONS: dict[str, Callable[[], None]] = {
    "One minute": one_minute,
    "Words": words,
    "Formulas": partial(draw_file, "formulas", columns=1),
    "Noise": noise,
    "Measures": measures,
    "Deciding": partial(draw_file, "deciding"),
    "Tools": partial(draw_file, "tools"),
    "Findings": findings,
    "Files": partial(draw_file, "files"),
    "Library": partial(draw_file, "library"),
    "Large results": partial(draw_file, "large_results"),
    "Notebook": notebook,
    "Documents": partial(draw_file, "documents", columns=1),
}
"""Section → what draws it."""
