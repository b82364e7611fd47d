"""The topics of the Guide, each laid out from its Markdown files: first what most ask, the rest folded."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import streamlit as st

from dashboard.controls import link_parameters
from dashboard.escaping import escape_markdown
from dashboard.views.guide.prose import Block, ProsePart, read_parts
from dashboard.widgets.components import Colour, heading

_DASHBOARD = Path(__file__).parents[2]
_DEFINITION = re.compile(r"(`[^`]+`|\$[^$]+\$): (.*)", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
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
    fold_parts(tables)


def formulas() -> None:
    """Draw the symbols and the definition; the formula of each family folds."""
    (part,) = read_parts("formulas")
    definition, *families = part.cards
    draw_part(part._replace(cards=[definition]), columns=1)
    for family in families:
        draw_folded(card_title(family), family.blocks)


def measures() -> None:
    """Draw which measure to look at when; how to read each, and every measure, fold."""
    advice, catalogue = read_parts("measures")
    values, *others = read_parts("reading")
    draw_part(advice)
    fold_cards(values)
    fold_parts([*others, catalogue])


def deciding() -> None:
    """Draw when the tied value is the one to look at; tests, ties, audits and targets fold."""
    first, *others = read_parts("deciding")
    draw_part(first)
    fold_parts(others)


def tools() -> None:
    """Draw what tools do about ties, tool by tool, and all treatments."""
    rules, treatments = read_parts("tools")
    fold_cards(rules)
    fold_parts([treatments])


def files() -> None:
    """Draw the columns and limits of files; formats, answers of models and findings fold."""
    formats, answers, columns, limits = read_parts("files")
    draw_part(columns)
    fold_parts([formats, answers, limits])
    (kinds,) = read_parts("findings")
    draw_head(kinds)
    for card in kinds.cards:
        icon, colour = _SEVERITY_BADGES[card.title]
        with st.expander(f":{colour}-badge[:material/{icon}: {card.title}] {card.text}"):
            draw_blocks(card.rest)


def library() -> None:
    """Draw what is kept; where, and what is larger than an upload, fold."""
    kept, *others = read_parts("library")
    draw_part(kept)
    fold_parts([*others, *read_parts("large_results")])


def documents() -> None:
    """Draw where everything of the source documents is here; what they say that is otherwise folds."""
    errors, places = read_parts("documents")
    draw_head(places)
    draw_blocks(places.rest)
    fold_cards(errors)
    part, notebook = notebook_places()
    draw_head(part)
    for place in notebook:
        row = st.container(horizontal=True, vertical_alignment="top", gap="small")
        with row.expander(card_title(place.card)):
            st.markdown(place.card.text)
            if place.figures:
                st.markdown(f":blue[{escape_markdown(', '.join(place.figures))}]")
        row.page_link(
            next(_DASHBOARD.glob(f"views/**/{place.page}/{place.page}.py")).relative_to(_DASHBOARD),
            label=place.label,
            icon=":material/arrow_forward:",
            query_params=link_parameters(place.choices),
            width=330,
        )


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


def draw_part(part: ProsePart, columns: int = 2) -> None:
    """Draw a part: its heading, its blocks, its cards, so many side by side, and its notes."""
    draw_head(part)
    draw_blocks([block for block in part.rest if block.kind != "note"])
    draw_cards(part.cards, columns)
    draw_blocks([block for block in part.rest if block.kind == "note"])


def draw_head(part: ProsePart) -> None:
    """Draw the heading of a part, and its first paragraph below it."""
    heading(part.title, _without_code(part.text))


def draw_cards(
    cards: Sequence[ProsePart], columns: int = 2, width: int = 300, icons: Sequence[str] = ()
) -> None:
    """Draw each part in a box.

    Args:
        cards: the parts.
        columns: boxes side by side.
        width: least width of a box in pixels, where it is not alone in its row.
        icons: Material icon of each, none where empty.
    """
    grid = st.grid(columns, min_column_width=width) if cards and columns > 1 else None
    for position, card in enumerate(cards):
        with grid.container(border=True, height="stretch") if grid else st.container(border=True):
            icon = f":material/{icons[position]}: " if icons else ""
            st.markdown(f"{icon}{card_title(card)}  \n{card.text}")
            draw_blocks(card.rest)


def draw_folded(title: str, blocks: Sequence[Block], cards: Sequence[ProsePart] = (), columns: int = 2) -> None:
    """Draw a title, and on request what is below it.

    Args:
        title: in Markdown.
        blocks: paragraphs, lists, tables, code samples and formulas.
        cards: boxes below them.
        columns: boxes side by side.
    """
    with st.expander(title):
        draw_blocks(blocks)
        draw_cards(cards, columns)


def fold_cards(part: ProsePart) -> None:
    """Draw the heading and the blocks of a part; its cards fold."""
    draw_head(part)
    draw_blocks(part.rest)
    for card in part.cards:
        draw_folded(card_title(card), card.blocks)


def fold_parts(parts: Sequence[ProsePart], columns: int = 2) -> None:
    """Draw parts folded, each by its title."""
    for part in parts:
        draw_folded(f"**{part.title}**", part.blocks, part.cards, columns)


def card_title(card: ProsePart) -> str:
    """Return the title of a card: its name in bold, unless that is code, and what follows the name."""
    name, space, details = card.title.partition(" &nbsp; ")
    return (name if name.startswith("`") else f"**{name}**") + space + details


def draw_blocks(blocks: Sequence[Block]) -> None:
    """Draw paragraphs, lists, tables, code samples and formulas one below the other."""
    for block in blocks:
        match block.kind:
            case "list":
                draw_list(block)
            case "table":
                labels, *rows = block.rows
                st.table(pd.DataFrame(rows, columns=labels), hide_index=True, border="horizontal")
            case "code":
                st.code(block.text, language=block.language, wrap_lines=True)
            case "formula":
                st.latex(block.text)
            case "note":
                st.caption(_without_code(block.text))
            case "text":
                st.markdown(block.text)


def _without_code(text: str) -> str:
    """Return a small grey text without the boxes of code, in which its letters would be too pale."""
    return text.replace("`", "")


def draw_list(block: Block) -> None:
    """Draw the items of a list side by side; a symbol beside its meaning, a measure beside its formula."""
    are_symbols = block.text.startswith("- $")
    grid = st.grid(2, min_column_width=280, gap=("xxsmall", "small") if are_symbols else "small")
    for item in block.items:
        if definition := _DEFINITION.fullmatch(item):
            term, meaning = definition.groups()
            grid.markdown(f"{term} &nbsp; :gray[{meaning}]" if are_symbols else f"{term} &nbsp; {meaning}")
        else:
            grid.markdown(item)
