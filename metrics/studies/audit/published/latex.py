"""LaTeX: the tables in it, their cells without mark-up."""

import re

from metrics.studies.audit.published.grids import Grid
from metrics.studies.audit.published.numbers import parse_number

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
    return [_plain(_SPANNED.sub("", cell))] * max(1, times)


def _plain(text: str) -> str:
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
