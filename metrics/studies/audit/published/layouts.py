"""Tables as text: separated or aligned columns, Markdown and LaTeX."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from metrics.errors import ReadError
from metrics.studies.audit.published.grids import Grid, parse_number

DELIMITERS = "\t,;|"
_BOLD = re.compile(r"(\*\*|__)(.+)\1([^\w*]*)")
_BOLD_COMMAND = re.compile(r"\\(?:textbf|textit|underline|emph|mathbf)\{([^{}]*)\}")
_HEAD, _HEAD_LINES = 65_536, 20
"""Letters and lines in which the delimiter is looked for."""
_MAX_ALIGNED, _MAX_WIDTH = 2**20, 2_000
"""Letters of an aligned table, and of a line of it, that are looked at."""
_GAP = re.compile(r"\S {2,}\S")
_WORD = re.compile(r"\S+")
_COLUMN = re.compile(r"x+(?: x+)*")


def read_delimited(name: str, text: str) -> list[Grid]:
    """Return the table of a file of separated values, all its text; a ReadError where it is none."""
    head = text[:_HEAD].splitlines(keepends=True)[:_HEAD_LINES]
    delimiter, n_parted = _delimiter(head)
    if 2 * n_parted < sum(map(bool, map(str.strip, head))) and (rows := _aligned(text[:_MAX_ALIGNED])):
        return [Grid(name, rows)]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [
            Grid(
                name,
                [(reader.line_num, [_cell_text(cell) for cell in cells]) for cells in reader],
                delimiter,
            )
        ]
    except csv.Error as error:
        raise ReadError(name, f"no table: {error}", "Export it again.", line=reader.line_num) from error


def _aligned(text: str) -> list[tuple[int, list[str]]]:
    """Return line and cells of each row of a table whose columns are two spaces apart, as pandas prints it.

    A line of a title, without such a space, is no row, nor is one of dashes.
    """
    rows = enumerate(text.splitlines(), 1)
    lines = [(number, line) for number, line in rows if _GAP.search(line) and line.strip("-=+ ")]
    width = max((len(line) for _, line in lines), default=0)
    if width > _MAX_WIDTH:
        return []
    is_filled = [False] * width
    for _, line in lines:
        for match in _WORD.finditer(line):
            is_filled[match.start() : match.end()] = [True] * (match.end() - match.start())
    spans = [match.span() for match in _COLUMN.finditer("".join(" x"[filled] for filled in is_filled))]
    return [
        (number, [_cell_text(line[start:end]) for start, end in spans]) for number, line in lines if spans[1:]
    ]


def _cell_text(cell: str) -> str:
    """Return the text of a cell without what makes all of it bold, in Markdown or LaTeX."""
    if match := _BOLD.fullmatch(cell.strip()):
        return match[2] + match[3]
    return _BOLD_COMMAND.sub(r"\1", _BOLD_COMMAND.sub(r"\1", cell)) if "\\" in cell else cell


def _delimiter(lines: Sequence[str]) -> tuple[str, int]:
    """Return what parts most of the first lines into equally many cells, the more the better, and how many."""

    def agreement(mark: str) -> tuple[int, int]:
        widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=mark) if len(cells) > 1)
        width, n_lines = widths.most_common(1)[0] if widths else (0, 0)
        return n_lines, width

    delimiter = max(DELIMITERS, key=agreement)
    return delimiter, agreement(delimiter)[0]


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
            rows[-1][1].append(_markdown_text(token.children or []))
    return grids


_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,40}\](?!:)")
_CELL_LEVEL = 4
"""Depth of what stands in a cell: below table, head or body, row and cell."""


def _markdown_text(tokens: list[Token]) -> str:
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


_TABLE = re.compile(
    r"\\begin\{(tabular|tabularx|tabular\*|longtable|tabu|NiceTabular)\}(.*?)(?:\\end\{\1\}|\Z)", re.DOTALL
)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|endhead|endfirsthead|endfoot|endlastfoot|hdashline|noalign)\b"
    r"|\\(?:cmidrule|cline|specialrule|addlinespace|Xhline)\s*(?:\([^)]{0,20}\))?(?:\[[^\]]{0,40}\])?(?:\{[^{}]{0,40}\})*"
)
_SPANNED = re.compile(r"\\multicolumn\s*\{\s*(\d{1,3})\s*\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*")
_MULTIROW = re.compile(r"\\multirow(?:\[[^\]]*\])?\s*\{[^{}]*\}(?:\[[^\]]*\])?\s*\{[^{}]*\}")
_DROPPED = re.compile(
    r"\\(?:cite[a-z]*|footnote|label|ref|textsuperscript|cellcolor|rowcolor|color"
    r"|hspace\*?|vspace\*?|tnote|rlap)(?:\[[^\]]*\])*\{[^{}]*\}|\\footnotemark(?:\[[^\]]*\])?"
)
_COLOURED = re.compile(r"\\(?:textcolor|colorbox)(?:\[[^\]]*\])?\{[^{}]*\}(?=\{)")
_RAISED = re.compile(r"(?<!\\)[\^_](?:\{[^{}]*\}|\\[A-Za-z]+|[^\s{}\\])")
_LOWERED = re.compile(r"\\textsubscript\b|(?<!\\)_")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?")
_BRACES = re.compile(r"(?<!\\)[{}]")
_SIGNS = {r"\pm": "±", r"\textpm": "±", r"\textasciitilde": "~", r"\textendash": "–", r"\textemdash": "—"}
_LETTERS = re.compile(r"\\([&%$#_{}])")
_MAX_NESTING = 12
_MAX_CELL = 2000
"""Letters of a cell that are read."""


def read_latex(name: str, text: str) -> list[Grid]:
    """Return the tables of a LaTeX file; a text without an environment of tables is taken for rows of one."""
    without_comments = _COMMENT.sub("", text)
    bodies = [(match.start(2), match[2]) for match in _TABLE.finditer(without_comments)] or [
        (0, without_comments)
    ]
    return [Grid(name, _rows(without_comments.count("\n", 0, start) + 1, body)) for start, body in bodies]


def _rows(line: int, body: str) -> list[tuple[int, list[str]]]:
    """Return line and cells of each row of a table, whose body begins in this line."""
    rows = []
    for row in re.split(r"\\\\(?:\[[^\]\n]{0,20}\])?|\\tabularnewline\b|\\cr\b", body):
        content = _RULES.sub(" ", row)
        first = line + row.count("\n", 0, len(row) - len(row.lstrip()))
        line += row.count("\n")
        if "&" in content:
            cells = [part for cell in re.split(r"(?<!\\)&", content) for part in _spanned(cell)]
            rows.append((first, cells))
    return rows


def _spanned(cell: str) -> list[str]:
    """Return the plain text of a cell, as often as it spans columns."""
    cell = cell[:_MAX_CELL]
    match = _SPANNED.search(cell)
    times = int(match[1]) if match else 1
    return [_latex_text(_SPANNED.sub("", cell))] * max(1, times)


def _latex_text(text: str) -> str:
    """Return a text without commands, raised marks, braces, and subscripts of a number."""
    without = _without_commands(_LOWERED.sub("_", text))
    return without if parse_number(without) else _without_commands(_LOWERED.sub(" ", text))


def _without_commands(text: str) -> str:
    """Return a text without commands, raised and lowered marks and braces."""
    text = _MULTIROW.sub("", text)
    for _ in range(_MAX_NESTING):
        shorter = _COLOURED.sub("", _RAISED.sub("", _DROPPED.sub("", text)))
        shorter = re.sub(r"\\[A-Za-z]+\*?\s*\{([^{}]*)\}", r"\1", shorter)
        if shorter == text:
            break
        text = shorter
    for command, sign in _SIGNS.items():
        text = text.replace(command, sign)
    text = _COMMAND.sub("", text).replace("~", " ")
    text = re.sub(r"\\[,;:! ]|(?<!\\)\$", "", text)
    text = _LETTERS.sub(r"\1", _BRACES.sub("", text))
    return " ".join(text.split())
