"""How parts of the Guide's Markdown files are laid out on the page."""

import re
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.views.lab.guide.prose import Block, ProsePart, read_parts
from dashboard.widgets.components import heading

_DEFINITION = re.compile(r"(`[^`]+`|\$[^$]+\$): (.*)", re.DOTALL)


def draw_file(name: str, columns: int = 2) -> None:
    """Draw all parts of a file, so many of their cards side by side."""
    for part in read_parts(name):
        draw_part(part, columns)


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


def draw_folded(part: ProsePart) -> None:
    """Draw the heading of a part, and its cards below it, folded."""
    draw_head(part)
    for card in part.cards:
        with st.expander(card_title(card)):
            st.markdown(card.text)
            draw_blocks(card.rest)


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
