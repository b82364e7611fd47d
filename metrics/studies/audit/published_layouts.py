"""Layouts of published figures: tables of cells, Markdown, LaTeX, output of trec_eval, JSON."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from metrics.errors import ReadError
from metrics.runs.columns import refuse_many_columns
from metrics.runs.files import BlockStream, File
from metrics.runs.formats.delimited import Cut, split_lines
from metrics.runs.formats.json_records import parse, refuse_much_memory
from metrics.studies.audit.names import has_measure, is_bounded, is_measure_of, our_measure
from metrics.studies.audit.published_table import Figure
from metrics.support.wording import quote

_NUMBER = re.compile(r"([-+−]?)((?:\d[\d,.\u00a0\u202f']*)|(?:[.,]\d+))((?:[eE][-+]?\d{1,3})?)\s*(%?)")
_ASIDE = re.compile(
    r"[\s*†‡§¶#◦▲▼△▽↑↓¹²³⁰⁴-⁹ⁱⁿᵃ-ᶿʰ-ʸˠ-ˤ𐞥ªº^]*+(?:(?:±|\+/-|\+-)\s*[\d.,]+\s*+%?)?(?:[\s*†‡§¶]*+[(\[][^)\]]*[)\]])?[\s*†‡§¶#]*"
)
"""Text after a number: marks of significance, a deviation, an interval."""
_LETTERS = re.compile("".join(rf"[\s,]*+{letter}?+" for letter in "abcdefghijkl") + r"[\s,]*+")
"""Letters of significance after decimals: 0.72ab."""
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_MAX_TEXT = 100


class PrintedNumber(NamedTuple):
    """A printed number: its value, text, number of decimals, and 100 before a percent sign, else 1."""

    value: float
    text: str
    decimals: int
    scale: int


def parse_number(cell: str, *, decimal_comma: bool = False) -> PrintedNumber | None:
    """Return the number in a cell without stars, deviations and intervals, or None."""
    text = cell.strip()
    match = _NUMBER.match(text) if len(text) <= _MAX_TEXT else None
    if match is None:
        return None
    sign, digits, exponent, percent = match.groups()
    letters = _LETTERS.match(text, match.end()) if {*".,"} & {*digits} else None
    if not _ASIDE.fullmatch(text, letters.end() if letters else match.end()):
        return None
    plain = re.sub(r"[\u00a0\u202f']", "", digits)
    plain = plain.replace(".", "").replace(",", ".") if decimal_comma else plain.replace(",", "")
    if plain.count(".") > 1 or not plain.strip("."):
        return None
    n_decimals = len(plain.partition(".")[2]) - int(exponent[1:] or 0)
    value = float(f"{sign.replace('−', '-')}{plain}{exponent}")
    if not isfinite(value):
        return None
    return PrintedNumber(value, match[0].strip(), max(0, n_decimals), 100 if percent else 1)


def has_decimal_comma(cells: Iterable[str], *, has_thousands: bool = True) -> bool:
    """Return whether cells have decimal commas: 0,284 or 28,4; 28,412 only without thousands separators."""
    has_comma = False
    for cell in cells:
        match = _NUMBER.match(cell.strip()[:_MAX_TEXT])
        digits = match[2] if match else ""
        if "." in digits and digits.rfind(".") > digits.rfind(","):
            return False
        is_short = digits.startswith(("0,", ",")) or not _THOUSANDS.fullmatch(digits)
        has_comma |= "," in digits and (is_short or not has_thousands)
    return has_comma


_HEADINGS = {
    "reranker": {
        *("reranker", "run", "runid", "run id", "run_id", "run name", "run_name", "system", "model"),
        *("model name", "model_name", "method", "name", "ranker", "retriever", "tag", "submission", "approach"),
    },
    "query": {"query", "query_id", "queryid", "query id", "qid", "topic", "topic_id", "topicid"},
    "measure": {"measure", "metric", "measures", "metrics", "metric_name"},
    "value": {"value", "score", "mean", "result", "values", "scores", "figure"},
}
"""Role of a column → its headings."""
_ALL_QUERIES = {"all", "amean", "mean", "average", "avg", "overall", ""}
"""Query names of means."""
_BLANKS = {"", "-", "–", "—", "−", "--", "---", "n/a", "na", "nan", "n.a", "none", "?"}
"""Cells without a figure."""
_FIGURE_LIKE = re.compile(r"[^\w@.,]*[.,]?\d")
_SHAPE_HINT = (
    "Give one row per reranker and one column per measure, or three columns: reranker, measure and value."
)


Row = tuple[int, list[str]]
"""Line and cells without markup."""


class Grid(NamedTuple):
    """A table of cells: rows, the header first; the delimiter is empty for tables with markup."""

    file: str
    rows: Sequence[Row]
    delimiter: str = ""


def figures_of_grid(grid: Grid, stem: str) -> tuple[list[Figure], list[str]]:
    """Return the figures of a table, of reranker `stem` if it names none, and notes on omissions."""
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in grid.rows if any(map(str.strip, cells))]
    if not rows:
        raise ReadError(grid.file, "the file has no table", _SHAPE_HINT, line=1)
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    refuse_many_columns(grid.file, range(width))
    rows = [(line, (cells + [""] * width)[:width]) for line, cells in rows]
    cells_in_order = [cell for _, cells in rows for cell in cells]
    is_of_shares = grid.delimiter == ";" and any(our_measure(c) and is_bounded(c) for c in cells_in_order)
    comma = has_decimal_comma(cells_in_order, has_thousands=not is_of_shares)
    parse = partial(parse_number, decimal_comma=comma)
    header, body = _split_header(rows)
    reranker, query, measure, value = _column_roles(header, body, parse)
    headings = {column: name for column, name in enumerate(header) if name and column not in (reranker, query)}
    figures, notes = [], ["Commas were read as decimal points."] if comma else []
    for line, cells in body:
        name = stem if reranker is None else cells[reranker]
        query_id = None if query is None or cells[query].casefold() in _ALL_QUERIES else cells[query]
        if measure is None or value is None:
            printed = [(heading, cells[column]) for column, heading in headings.items()] if name else []
        else:  # one figure per row
            printed = [(cells[measure], cells[value])]
        for measure_name, cell in printed:
            if number := parse(cell):
                figures.append(Figure(name, measure_name, query_id, *number, grid.file, line))
            elif _is_blank(cell):
                continue
            elif value is not None:
                hint = "Write only the number, or leave the cell empty."
                raise ReadError(grid.file, f"{cell[:40]!r} is not a number", hint, line=line)
            elif has_measure(measure_name):
                notes.append(f"{grid.file}, line {line}: {quote(cell)} is not a number and was left out.")
    if not figures:
        raise ReadError(grid.file, "this table has no figure", _SHAPE_HINT, line=rows[0][0])
    with_figures = {figure.measure for figure in figures}
    silent = [name for name in headings.values() if value is None and name not in with_figures]
    notes += [f"Columns without numbers were left out: {', '.join(silent)}."] if silent else []
    return figures, notes


def _column_roles(
    header: Sequence[str], body: Sequence[Row], parse: Callable[[str], PrintedNumber | None]
) -> tuple[int | None, int | None, int | None, int | None]:
    """Return the columns of rerankers, queries, measures and values; values only beside measures.

    Values have such a heading, or are the only other column with numbers. In a table without them, rerankers
    have such a heading, or are the first column with text that is not a measure.
    """
    columns = {column: [cells[column] for _, cells in body] for column in range(len(header))}
    reranker, query, measure, value = (
        next((column for column, name in enumerate(header) if name.casefold() in names), None)
        for names in _HEADINGS.values()
    )
    if measure is None:
        value = None
    elif value is None:
        others = columns.keys() - {reranker, query, measure}
        numeric = [column for column in others if any(map(parse, columns[column]))]
        value = numeric[0] if len(numeric) == 1 else None
    if reranker is None and value is None:
        names = (column for column in columns if column != query and not has_measure(header[column]))
        reranker = next((column for column in names if None in map(parse, filter(None, columns[column]))), None)
    return reranker, query, measure, value


def _split_header(rows: Sequence[Row]) -> tuple[list[str], list[Row]]:
    """Return the names of the columns, and the rows with more than a heading.

    The header ends before the first line with a number, or with the start of one below a measure; its lines are
    joined column by column. If only the first column has measures, rows and columns are exchanged.
    """
    n_lines = 1
    below = [column for column, cell in enumerate(rows[0][1]) if has_measure(cell)]
    while n_lines < len(rows) - 1:
        cells = rows[n_lines][1]
        if any(map(parse_number, cells[1:])) or any(_FIGURE_LIKE.match(cells[column]) for column in below):
            break
        n_lines += 1
    lines = [cells for _, cells in rows[:n_lines] if sum(map(bool, cells)) > 1] or [rows[0][1]]
    header = [
        " ".join(dict.fromkeys(cell for cell in column if not _is_blank(cell)))
        for column in zip(*lines, strict=True)
    ]
    body = [(line, cells) for line, cells in rows[n_lines:] if sum(map(bool, cells)) > 1]
    headings = _HEADINGS["measure"] | _HEADINGS["value"]
    has_measures = any(has_measure(name) or name.casefold() in headings for name in header[1:])
    if not has_measures and any(has_measure(cells[0]) for _, cells in body):
        names, *columns = zip(header, *(cells for _, cells in body), strict=True)
        header, body = ["", *names[1:]], [(body[0][0], list(column)) for column in columns]
    counts = Counter(header)
    distinct = [
        f"{name} (column {number})" if name and counts[name] > 1 else name
        for number, name in enumerate(header, 1)
    ]
    return distinct, body


def _is_blank(cell: str) -> bool:
    return cell.casefold().strip(" .*") in _BLANKS


DELIMITERS = "\t,;|"
_BOLD = re.compile(r"(\*\*|__)(.+)\1([^\w*]*)")
_BOLD_COMMAND = re.compile(r"\\(?:textbf|textit|underline|emph|mathbf)\{([^{}]*)\}")
_HEAD, _HEAD_LINES = 65_536, 20
"""Letters and lines for finding the delimiter."""
_MAX_ALIGNED, _MAX_WIDTH = 2**20, 2_000
"""Most letters of an aligned table and of a line of it."""
_GAP = re.compile(r"\S {2,}\S")
_COLUMN = re.compile(r"x+(?: x+)*")


def read_delimited(name: str, text: str) -> list[Grid]:
    """Read separated or aligned values; raise ReadError if they are neither."""
    lines = text[:_HEAD].splitlines(keepends=True)[:_HEAD_LINES]
    head = "".join(lines)
    agreements = {}
    for mark in DELIMITERS:
        widths = Counter(len(cells) for _, cells in _cells(head, mark) if len(cells) > 1)
        agreements[mark] = max(((n_lines, width) for width, n_lines in widths.most_common(1)), default=(0, 0))
    delimiter = max(agreements, key=agreements.__getitem__)
    n_lines = sum(map(bool, map(str.strip, lines)))
    if 2 * agreements[delimiter][0] < n_lines and (rows := _aligned(text[:_MAX_ALIGNED])):
        return [Grid(name, rows)]
    try:
        rows = [(line, [_cell_text(cell) for cell in cells]) for line, cells in _cells(text, delimiter)]
    except csv.Error as error:
        raise ReadError(name, f"no table: {error}", "Export it again.") from error
    return [Grid(name, rows, delimiter)]


def _cells(text: str, delimiter: str) -> Iterator[Row]:
    """Yield the last line of each row, and its cells."""
    for line, cells in split_lines(BlockStream([text.encode()]), Cut(delimiter)):
        yield line + "".join(cells).count("\n"), cells


def _aligned(text: str) -> list[Row]:
    """Return the rows of a table whose columns are two spaces apart, as pandas prints it.

    Titles without such a gap and lines of dashes are skipped.
    """
    rows = enumerate(text.splitlines(), 1)
    lines = [(number, line) for number, line in rows if _GAP.search(line) and line.strip("-=+ ")]
    width = max((len(line) for _, line in lines), default=0)
    if width > _MAX_WIDTH:
        return []
    is_filled = {place for _, line in lines for place, letter in enumerate(line) if not letter.isspace()}
    marks = "".join("x" if place in is_filled else " " for place in range(width))
    spans = [match.span() for match in _COLUMN.finditer(marks)]
    return [
        (number, [_cell_text(line[start:end]) for start, end in spans]) for number, line in lines if spans[1:]
    ]


def _cell_text(cell: str) -> str:
    if match := _BOLD.fullmatch(cell.strip()):
        return match[2] + match[3]
    return _BOLD_COMMAND.sub(r"\1", _BOLD_COMMAND.sub(r"\1", cell)) if "\\" in cell else cell


def read_markdown(name: str, text: str) -> list[Grid]:
    """Read the tables of a Markdown file."""
    grids: list[Grid] = []
    line = 0
    rows: list[Row] = []
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
_SCRIPT = re.compile(r"<(/?)(su[bp])", re.IGNORECASE)
_CELL_LEVEL = 4
"""Depth of the text of a cell: below table, head or body, row and cell."""


def _markdown_text(tokens: list[Token]) -> str:
    """Return the text of a cell without superscripts, and without subscripts of a number."""
    texts: list[tuple[str, str]] = []
    place = ""
    for token in tokens:
        if token.type in ("text", "code_inline"):
            texts.append((place, token.content))
        elif token.type in ("softbreak", "hardbreak"):
            texts.append((place, " "))
        elif token.type == "html_inline" and (match := _SCRIPT.match(token.content)):
            place = "" if match[1] else match[2].casefold()
            texts += [] if match[1] else [("sub", " ")]
    plain = "".join(text for place, text in texts if not place)
    return plain if parse_number(plain) else "".join(text for place, text in texts if place != "sup")


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
_ESCAPED = re.compile(r"\\([&%$#_{}])")
_MAX_NESTING = 12
_MAX_CELL, _MAX_SPAN = 2000, 20
"""Most letters of a cell, and most columns that one spans."""


def read_latex(name: str, text: str) -> list[Grid]:
    """Read the tables of a LaTeX file; text without a table environment counts as rows of one."""
    without_comments = _COMMENT.sub("", text)
    tables = [(match.start(2), match[2]) for match in _TABLE.finditer(without_comments)]
    return [
        Grid(name, _rows(without_comments.count("\n", 0, start) + 1, body))
        for start, body in tables or [(0, without_comments)]
    ]


def _rows(line: int, body: str) -> list[Row]:
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
    cell = cell[:_MAX_CELL]
    match = _SPANNED.search(cell)
    times = min(int(match[1]), _MAX_SPAN) if match else 1
    return [_latex_text(_SPANNED.sub("", cell))] * max(1, times)


def _latex_text(text: str) -> str:
    without = _without_commands(_LOWERED.sub("_", text))
    return without if parse_number(without) else _without_commands(_LOWERED.sub(" ", text))


def _without_commands(text: str) -> str:
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
    text = _ESCAPED.sub(r"\1", _BRACES.sub("", text))
    return " ".join(text.split())


_NAMES = {"runid", "relstring"}
_COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret"}
"""Lines with counts of queries and documents."""
_ALL = {"all", "amean"}
_NO_NUMBERS = {"nan", "-nan", "inf", "-inf"}
"""Values that trec_eval prints for undefined results."""
_FIELDS = (2, 3)
_TREC_EVAL_HINT = "Give the output of trec_eval: each line has a measure, a query (or all) and a value."


def is_trec_eval(lines: Iterable[str]) -> bool:
    """Return whether the first lines of a file look like output of trec_eval."""
    rows = [_fields(line) for line in lines if line.strip()]
    return bool(rows) and all(
        len(row) in _FIELDS and (row[0] in _NAMES or row[-1] in _NO_NUMBERS or parse_number(row[-1]))
        for row in rows
    )


def read_trec_eval(name: str, text: str, stem: str) -> tuple[list[Figure], str]:
    """Return the figures of one run, named like its file, and its `runid` or ""."""
    figures: list[Figure] = []
    run_id = ""
    for line, row in enumerate(text.splitlines(), 1):
        fields = _fields(row)
        if not fields or fields[-1] in _NO_NUMBERS or fields[0] in _COUNTS:
            continue
        if fields[0] in _NAMES:
            if fields[:2] == ["runid", "all"]:
                if run_id:
                    raise ReadError(name, "the file has several runs", "Give each run its own file.", line=line)
                run_id = fields[-1]
            continue
        number = parse_number(fields[-1]) if len(fields) in _FIELDS else None
        if number is None:
            raise ReadError(name, f"{row[:60]!r} is not a figure", _TREC_EVAL_HINT, line=line)
        query = None if len(fields) == _FIELDS[0] or fields[1] in _ALL else fields[1]
        figures.append(Figure(stem, fields[0], query, *number, name, line))
    return figures, run_id


def _fields(line: str) -> list[str]:
    """Split a line at tabs, else at spaces; the name of a run may contain spaces."""
    by_tabs = [field.strip() for field in line.strip().split("\t")]
    return by_tabs if len(by_tabs) == _FIELDS[1] else line.strip().split(maxsplit=2)


_MAX_ENTRIES = 10_000
_SUBSET, _SCORES = "hf_subset", "scores"
_JSON_HINT = (
    "Give one JSON object of measures and values, one such object per model, or the MTEB results of one task."
)


def read_json(file: File) -> tuple[list[Figure], list[str]]:
    """Return the figures of a JSON file and notes on omissions; raise ReadError without figures."""
    refuse_much_memory(file)
    value = parse(file, b"".join(file.blocks()))
    if isinstance(value, (Mapping, list)) and len(value) > _MAX_ENTRIES:
        raise ReadError(file.name, f"more than {_MAX_ENTRIES:,} entries", "Give only the means.")
    if isinstance(value, dict) and isinstance(value.get(_SCORES), dict) and "task_name" in value:
        values = _mteb_values(file.stem, value[_SCORES])
    else:
        values = _json_values(file.stem, value, ())
    figures, infinite = [], dict[str, None]()
    for reranker, measure, value in values:
        if number := _parse_json_number(value):
            figures.append(Figure(reranker, measure, None, *number, file.name, None))
        else:
            infinite[measure] = None
    if not figures:
        raise ReadError(file.name, "this JSON has no figure", _JSON_HINT)
    refuse_many_columns(file.name, {figure.measure for figure in figures})
    notes = [f"{file.name}: infinite values were left out: {', '.join(infinite)}."] if infinite else []
    return figures, notes


def _json_values(stem: str, value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str, float]]:  # noqa: ANN401 whatever JSON holds
    """Yield reranker, measure and number; keys and names from the root to the value are its `path`.

    Measures can be above rerankers, as pandas writes tables, or above their cut-offs, as in BEIR's
    `{"ndcg": {"NDCG@10": ...}}`.
    """
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, Mapping):
            continue
        names = next((part[key] for key in part if key.casefold() in _HEADINGS["reranker"]), None)
        own_path = (*path, names) if isinstance(names, str) else path
        for key, inner in part.items():
            if _is_number(inner) and len(own_path) == 1 and our_measure(own_path[0]) and not our_measure(key):
                yield key, own_path[0], inner
            elif _is_number(inner):
                owners = [name for name in own_path if not is_measure_of(key, name)]
                yield " / ".join(owners) or stem, key, inner
            elif isinstance(inner, Mapping) and isinstance(names, Mapping) and our_measure(key):
                rows = [(str(names[row]), key, number) for row, number in inner.items() if row in names]
                yield from (row for row in rows if _is_number(row[-1]))
            elif isinstance(inner, (Mapping, list)):
                yield from _json_values(stem, inner, (*own_path, key))


def _mteb_values(stem: str, splits: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    results = [
        (split, result)
        for split, of_split in splits.items()
        for result in (of_split if isinstance(of_split, list) else [])
        if isinstance(result, Mapping)
    ]
    for split, result in results:
        before = f"{split} {result.get(_SUBSET, '')} " if len(results) > 1 else ""
        yield from ((stem, before + str(key), value) for key, value in result.items() if _is_number(value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _parse_json_number(value: float) -> PrintedNumber | None:
    try:
        return parse_number(repr(float(value)))
    except OverflowError:  # a whole number beyond the largest float
        return None
