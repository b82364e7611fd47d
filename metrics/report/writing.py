"""Render reports as Markdown, HTML, LaTeX and text; all text but our own markup is escaped."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import PurePath

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from metrics.report.tables import Cell, Table
from metrics.studies.prose import Prose, Strong
from metrics.support import escaping
from metrics.support.escaping import clean, latex, latin

LINE = 37.0
"""Width of a line in em."""
GAP = 0.7
"""Space between columns: twice the tabcolsep of the template."""
MIN_WIDTH = 8.0
"""Narrowest wrapped column."""
LONGEST = 500
"""Most letters of a cell: a longer row would not fit a page, so longer text loses its middle."""
_LINES_OF_A_FLOAT = 40
_PIECE = 7.5
"""Widest run of letters without a break."""
_BOLD = 1.17
_WIDTHS = {
    **dict.fromkeys("ijlI.,:;'!|()[]`/ ", 0.42),
    **dict.fromkeys('frst-*\\"', 0.5),
    **dict.fromkeys("mwMW@%±×−…—<>=+→", 1.1),
}
_CAPITAL, _LETTER, _CODE = 0.82, 0.6, 3.0
_BREAKS = re.compile(r"(?<=[-_/:;=+@|])(?<!\d[-/:])(?=\w)|(?<=[.,])(?=[^\W\d])|(?<=[a-z])(?=[A-Z])")
_SOFT = Markup(r"\allowbreak{}")
_HARD = Markup(r"\penalty5000{}")


@dataclass(frozen=True)
class Block:
    """A table in LaTeX that fits the width of a page.

    Attributes:
        columns: column specification of LaTeX's tabular.
        headings: heading of each column.
        rows: cells.
        is_float: whether it fits one page.
    """

    columns: Markup
    headings: tuple[Markup, ...]
    rows: tuple[tuple[Markup, ...], ...]
    is_float: bool


def text_width(text: str) -> float:
    """Return an upper estimate of the width of a text on one line, in em."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if latin(letter) is None:
        return _CODE
    return _CAPITAL if letter.isupper() else _LETTER


def wrapped(text: str) -> Markup:
    """Return a text as LaTeX that can break within long names, at punctuation if possible."""
    words = clean(text).split(" ")
    return Markup(" ").join(_SOFT.join(map(_cut, _BREAKS.split(word))) for word in words)


def _cut(piece: str) -> Markup:
    parts, width = [""], 0.0
    for letter in piece:
        step = min(_letter_width(letter), 1.0)
        if width + step > _PIECE:
            parts.append("")
            width = 0.0
        parts[-1] += letter
        width += step
    return _HARD.join(Markup(latex(part)) for part in parts)  # noqa: S704 escaped


def blocks(table: Table) -> list[Block]:
    """Split a table into blocks that fit a line; each repeats the columns that name the rows."""
    headings, rows = table.headings, table.rows
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    natural = [_natural_width(heading, cells) for heading, cells in columns]
    return [
        _block(
            [headings[column] for column in group],
            [[row[column] for column in group] for row in rows],
            [natural[column] for column in group],
        )
        for group in _groups(headings, natural)
    ]


def _natural_width(heading: Cell, cells: Iterable[Cell]) -> float:
    """Return the width of a column without wrapped cells."""
    words = max(map(text_width, re.split(r"[\s-]", heading.text)))
    return max([words + 0.5, *(text_width(cell.text) * (_BOLD if cell.strong else 1) for cell in cells)])


def _groups(headings: Sequence[Cell], natural: Sequence[float]) -> Iterator[list[int]]:
    """Yield the columns of each block."""
    pairs = zip(headings, natural, strict=True)
    narrowest = [GAP + (width if heading.number else min(width, MIN_WIDTH)) for heading, width in pairs]
    n_names = next((place for place, heading in enumerate(headings) if not heading.number), 0) + 1
    group = names = list(range(n_names))
    for column in range(n_names, len(headings)):
        if len(group) > n_names and sum(narrowest[each] for each in (*group, column)) > LINE:
            yield group
            group = names
        group = [*group, column]
    yield group


def _block(headings: Sequence[Cell], rows: Sequence[Sequence[Cell]], natural: Sequence[float]) -> Block:
    widths = _widths(headings, natural)
    n_lines = sum(
        ceil(max(1.0, *(1.25 * text_width(cell.text) / width for cell, width in zip(row, widths, strict=True))))
        for row in rows
    )
    columns, titles = "", []
    for heading, width in zip(headings, widths, strict=True):
        text = wrapped(heading.text)
        if heading.number:
            columns += "r"
            titles.append(Markup(r"\parbox[b]{%.2fem}{\raggedleft %s}") % (width, text))
        else:
            columns += f"p{{{width:.2f}em}}"
            titles.append(Markup(r"\raggedright ") + text)
    return Block(
        Markup(f"@{{}}{columns}@{{}}"),  # noqa: S704 ours
        tuple(titles),
        tuple(tuple(map(_cell, row)) for row in rows),
        n_lines <= _LINES_OF_A_FLOAT,
    )


def _widths(headings: Sequence[Cell], natural: Sequence[float]) -> list[float]:
    """Share the line among the columns: numbers keep their width, and the narrowest texts theirs."""
    widths = list(natural)
    texts = [column for column, heading in enumerate(headings) if not heading.number]
    room = LINE - GAP * len(widths) - sum(natural) + sum(natural[column] for column in texts)
    for n_taken, column in enumerate(sorted(texts, key=natural.__getitem__)):
        widths[column] = min(widths[column], room / (len(texts) - n_taken))
        room -= widths[column]
    return widths


def _cell(cell: Cell) -> Markup:
    text = Markup(latex(cell.text)) if cell.number else wrapped(clean(cell.text, LONGEST))  # noqa: S704 escaped
    if cell.strong:
        text = Markup(r"\textbf{{{}}}").format(text)
    return text if cell.number else Markup(r"\raggedright ") + text


Escape = Callable[[str], str]
_KINDS: dict[str, tuple[Escape, str]] = {
    ".md": (escaping.markdown, "**{}**"),
    ".html": (escaping.html, "<strong>{}</strong>"),
    ".tex": (wrapped, r"\textbf{{{}}}"),
    ".txt": (escaping.clean, "{}"),
}
"""Suffix of a template → how to escape text, and the format of strong words."""
_ENDS = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


def render(template: str, **context: object) -> str:
    """Render a template, with all text escaped for its kind of file."""
    ending = PurePath(template).suffix
    text = _templates(*_KINDS[ending]).get_template(template).render(context)
    return text if ending == ".html" else _tidy(text)


@cache
def _templates(escape: Escape, strong: str) -> Environment:

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704 escaped

    def emphasised(text: str) -> Markup:
        inner = text.strip()
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        return Markup(before + strong.format(escape(inner)) + after) if inner else Markup(text)  # noqa: S704 likewise

    def prose_markup(prose: Prose) -> Markup:
        parts = (emphasised(part.text) if isinstance(part, Strong) else escaped(part) for part in prose)
        return Markup("").join(parts)

    templates = Environment(
        loader=PackageLoader("metrics.report", "templates"),
        autoescape=True,
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "prose": prose_markup,
        "emphasised": emphasised,
        "inside_script": _inside_script,
        "blocks": blocks,
        "braced": lambda text: Markup("{") + escaped(text) + Markup("}"),
        "comment": lambda text: Markup(escaping.latex(text)),  # noqa: S704 a line that LaTeX does not read
    }
    return templates


def _inside_script(json: str) -> Markup:
    return Markup(json.translate(_ENDS))  # noqa: S704 nothing of HTML is left in it


def _tidy(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
