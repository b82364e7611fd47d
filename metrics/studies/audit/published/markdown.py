"""Markdown: the tables in it, their cells without mark-up."""

from markdown_it import MarkdownIt
from markdown_it.token import Token

from metrics.studies.audit.published.grids import Grid

_SUPERSCRIPT = ("<sup", "<sub")


def read_markdown(name: str, text: str) -> list[Grid]:
    """Return the tables of a Markdown file.

    Args:
        name: of the file.
        text: all of it.
    """
    grids: list[Grid] = []
    line = 0
    rows: list[tuple[int, list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            rows = []
            grids.append(Grid(name, rows))
        elif token.type == "tr_open":
            line = token.map[0] + 1 if token.map else line
            rows.append((line, []))
        elif token.type == "inline" and rows and token.level >= _CELL_LEVEL:
            rows[-1][1].append(_plain(token.children or []))
    return grids


_CELL_LEVEL = 4
"""Depth of what stands in a cell: below table, head or body, row and cell."""


def _plain(tokens: list[Token]) -> str:
    """Return the text of a cell, without superscripts, which are marks of significance."""
    texts, is_raised = [], False
    for token in tokens:
        if token.type == "html_inline":
            tag = token.content.casefold()
            is_raised = tag.startswith(_SUPERSCRIPT) or (is_raised and not tag.startswith(("</sup", "</sub")))
        elif token.type in ("softbreak", "hardbreak"):
            texts.append(" ")
        elif token.type in ("text", "code_inline") and not is_raised:
            texts.append(token.content)
    return "".join(texts)
