"""Escape names in written files for Markdown, HTML, LaTeX and spreadsheets."""

import csv
import html as _html
import re
import unicodedata
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 1000
"""Most letters of a text that are written; names may have 65,536."""

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
_ADDRESS = re.compile(r"(?i)(://|www\.|(?<!\w)@|@(?=[\w-]+\.\w))")
_MARKS = re.compile(r"([\\`*\[\]<#|~$]|&(?=#|\w+;)|(?<!\w)_|_(?!\w))")
"""Characters with a meaning in Markdown; an underscore inside a word has none."""
_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    **{mark: f"{{{mark}}}" for mark in "[]*`'"},  # \\ would read [ and * as its arguments
    "\N{MINUS SIGN}": "$-$",
    "±": r"$\pm$",
    "…": r"\ldots{}",
    "²": r"$^2$",
    "ρ": r"$\rho$",
    "∞": r"$\infty$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "→": r"$\to$",
    "≈": r"$\approx$",
    "\N{EN DASH}": "--",
    "—": "---",
    "\u2018": "{`}",
    "\u2019": "{'}",
    "\u201c": "{``}",
    "\u201d": "{''}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "\u0131": r"\i{}",
    "µ": r"$\mu$",
    "°": r"$^\circ$",
    "§": r"\S{}",
}
_MARKS_ABOVE = "\u0300\u0301\u0302\u0303\u0308\u0304\u0306\u0307\u030a\u030b\u030c\u0327\u0323"
_ACCENTS = dict(zip(_MARKS_ABOVE, "`'^~\"=u.rHvcd", strict=True))
"""Combining mark → LaTeX's accent."""
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")  # noqa: RUF001 spreadsheets accept the wide ones


_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters of terminals and text direction, except tab and line feed."""


def visible(text: str) -> str:
    """Return a text for a terminal, with control characters escaped as in JSON."""
    return _STEERING.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)


def clean(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, without control characters and shortened in the middle."""
    plain = text
    if not (text.isascii() and text.isprintable()):
        letters = "".join(letter for letter in text if unicodedata.category(letter) not in _UNSEEN)
        plain = re.sub(r"\s", " ", letters)
    if len(plain) <= longest:
        return plain
    tail = longest // 2
    return f"{plain[: longest - tail - 1]}…{plain[-tail:]}"


def clean_lines(text: str) -> str:
    """Return a text of several lines without control characters."""
    return "\n".join(clean(line) for line in text.split("\n"))


def markdown(text: str) -> str:
    """Escape a text for Markdown: no mark-up, HTML, links or mentions."""
    apart = _ADDRESS.sub("\N{WORD JOINER}\\1", clean(text))
    return _MARKS.sub(r"\\\1", apart)


def html(text: str) -> str:
    """Escape a text for an HTML element or attribute."""
    return _html.escape(clean(text))


def latex(text: str) -> str:
    """Escape a text for LaTeX, also at the start of a table row.

    XeLaTeX and LuaLaTeX print non-Latin letters; pdfLaTeX prints their code points.
    """
    parts = []
    letters = unicodedata.normalize("NFC", clean(text))
    for is_latin, run in groupby(letters, lambda letter: latin(letter) is not None):
        if is_latin:
            parts += [latin(letter) or "" for letter in run]
        else:
            foreign = "".join(run)
            codes = " ".join(f"{ord(letter):04X}" for letter in foreign)
            parts.append(rf"\ifdefined\Umathcode {foreign}\else{{\scriptsize U+{codes}}}\fi{{}}")
    return "".join(parts)


@cache
def latin(letter: str) -> str | None:
    """Return LaTeX for a letter with its accent; None for non-Latin letters."""
    if letter in _LATEX:
        return _LATEX[letter]
    if letter.isascii():
        return letter
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if len(marks) == 1 and base.isascii() and marks[0] in _ACCENTS:
        return f"\\{_ACCENTS[marks[0]]}{{{base}}}"
    return None


def csv_text(table: "pd.DataFrame", *, header: bool = True) -> str:
    """Return a table as CSV; unlike pandas, quotes carriage returns."""
    texts = table.select_dtypes(exclude=["number", "bool"])
    cells = (table.columns, *(column for _, column in texts.items()))
    has_return = any("\r" in str(text) for column in cells for text in column)
    quoting = csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL
    return str(table.to_csv(index=False, lineterminator="\n", header=header, quoting=quoting))


def spreadsheet_csv(table: "pd.DataFrame") -> bytes:
    """Return a table as CSV for spreadsheets, with an apostrophe before texts that look like formulas."""
    safe = table.copy()
    for name, column in table.select_dtypes(exclude=["number", "bool"]).items():
        safe[name] = column.map(_without_formula)
    return csv_text(safe.rename(columns=_without_formula)).encode()


def _without_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
