"""The section of the Guide on the notebook: each of its tables and figures, and where it is here."""

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from dashboard.controls import link_parameters
from dashboard.escaping import escape_markdown
from dashboard.views.lab.guide.layout import card_title, draw_head
from dashboard.views.lab.guide.prose import ProsePart, read_parts

_DASHBOARD = Path(__file__).parents[3]
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


class NotebookPlace(NamedTuple):
    """Where the app shows a table, a figure or a block of lines of the notebook.

    Attributes:
        card: what the notebook calls it, and what is in it.
        figures: some of the notebook's own that stand there, each named and at its end.
        label: of the link to the place: the page's title, and the heading or its beginning.
        page: folder of the page.
        choices: those of the link that the page needs.
    """

    card: ProsePart
    figures: tuple[str, ...]
    label: str
    page: str
    choices: dict[str, str]

    @property
    def heading(self) -> str:
        """Heading of the place on its page, or its beginning."""
        return self.label.partition(", ")[2]


def notebook() -> None:
    """Draw what the notebook prints and draws, in its order."""
    part, places = notebook_places()
    draw_head(part)
    grid = st.grid(2, min_column_width=300)
    for place in places:
        with grid.container(border=True, height="stretch"):
            figures = f"  \n:blue[{escape_markdown(', '.join(place.figures))}]" if place.figures else ""
            st.markdown(f"{card_title(place.card)}  \n{place.card.text}{figures}")
            st.page_link(
                next(_DASHBOARD.glob(f"views/**/{place.page}/{place.page}.py")).relative_to(_DASHBOARD),
                label=place.label,
                icon=":material/arrow_forward:",
                query_params=link_parameters(place.choices),
            )


def notebook_places() -> tuple[ProsePart, list[NotebookPlace]]:
    """Return the part on the notebook, and the place of every table and figure the notebook prints."""
    (part,) = read_parts("notebook")
    return part, [_read_place(card) for card in part.cards]


def _read_place(card: ProsePart) -> NotebookPlace:
    """Read figures in emphasis and the link from below what a card says."""
    *emphasis, link = (block.text for block in card.rest)
    label, address = _LINK.findall(link)[0]
    parts = urlsplit(address)
    return NotebookPlace(
        card=card,
        figures=tuple(figure for text in emphasis for figure in text.strip("*").split(", ")),
        label=label,
        page=parts.path.strip("/") or "leaderboard",
        choices=dict(parse_qsl(parts.query)),
    )
