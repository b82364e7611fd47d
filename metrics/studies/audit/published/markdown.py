"""Markdown: the tables in it, their cells without mark-up."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from metrics.studies.audit.published.grids import Grid
from metrics.studies.audit.published.numbers import parse_number


def read_markdown(name: str, text: str) -> list[Grid]:
    """Return the tables of a Markdown file, all its text."""
    grids: list[Grid] = []
    line = 0
    rows: list[tuple[int, list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(_FOOTNOTE.sub("", text)):
        if token.type == "table_open":
            rows = []
            grids.append(Grid(name, rows))
        elif token.type == "tr_open":
            line = token.map[0] + 1 if token.map else line
            rows.append((line, []))
        elif token.type == "inline" and rows and token.level >= _CELL_LEVEL:
            rows[-1][1].append(_plain(token.children or []))
    return grids


_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,40}\](?!:)")
_CELL_LEVEL = 4
"""Depth of what stands in a cell: below table, head or body, row and cell."""


def _plain(tokens: list[Token]) -> str:
    """Return the text of a cell, without superscripts, as of significance, nor subscripts of a number."""
    texts: dict[str, list[str]] = {"": [], "sub": [], "sup": []}
    place = ""
    for token in tokens:
        if token.type == "html_inline":
            tag = token.content.casefold()
            if tag.startswith(("<sup", "<sub")):
                place = tag[1:4]
                texts["sub"].append(" ")
            elif tag.startswith(("</sup", "</sub")):
                place = ""
        else:
            text = token.content if token.type in ("text", "code_inline") else ""
            text = " " if token.type in ("softbreak", "hardbreak") else text
            texts[place].append(text)
            if not place:
                texts["sub"].append(text)
    plain = "".join(texts[""])
    return plain if parse_number(plain) else "".join(texts["sub"])
