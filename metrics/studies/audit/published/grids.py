"""Tables of cells: which say rerankers, measures, queries and figures."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import NamedTuple

from metrics.errors import ReadError
from metrics.studies.audit.names import is_bounded, measures_within, our_measure
from metrics.studies.audit.published.table import Figure
from metrics.support.wording import quote

_NUMBER = re.compile(r"([-+−]?)((?:\d[\d,.\u00a0\u202f']*)|(?:[.,]\d+))((?:[eE][-+]?\d{1,3})?)\s*(%?)")
_ASIDE = re.compile(
    r"[\s*†‡§¶#◦▲▼△▽↑↓¹²³⁰⁴-⁹ⁱⁿᵃ-ᶿʰ-ʸˠ-ˤ𐞥ªº^]*+(?:(?:±|\+/-|\+-)\s*[\d.,]+\s*+%?)?(?:[\s*†‡§¶]*+[(\[][^)\]]*[)\]])?[\s*†‡§¶#]*"
)
"""What may stand after a number: marks of significance, a deviation, an interval."""
_LETTERS = re.compile("".join(rf"[\s,]*+{letter}?+" for letter in "abcdefghijkl") + r"[\s,]*+")
"""Letters of significance after decimals, each a reranker that is beaten: 0.72ab."""
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_MAX_TEXT = 100


class PrintedNumber(NamedTuple):
    """A number as it was printed.

    Attributes:
        text: the number alone, as printed.
        value: what it says.
        decimals: digits after the point.
        is_percent: whether a percent sign follows.
    """

    text: str
    value: float
    decimals: int
    is_percent: bool


def parse_number(cell: str, *, decimal_comma: bool = False) -> PrintedNumber | None:
    """Return the number in a printed cell, without stars, deviations and intervals; None where none is."""
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
    return PrintedNumber(match[0].strip(), value, max(0, n_decimals), bool(percent))


def has_decimal_comma(cells: Iterable[str], *, has_thousands: bool = True) -> bool:
    """Return whether cells print a comma before decimals: 0,284 or 28,4; 28,412 unless it may be thousands."""
    has_comma = False
    for cell in cells:
        match = _NUMBER.match(cell.strip()[:_MAX_TEXT])
        digits = match[2] if match else ""
        if "." in digits and digits.rfind(".") > digits.rfind(","):
            return False
        is_short = digits.startswith(("0,", ",")) or not _THOUSANDS.fullmatch(digits)
        has_comma |= "," in digits and (is_short or not has_thousands)
    return has_comma


RERANKER_HEADINGS = {
    *("reranker", "run", "runid", "run id", "run_id", "run name", "run_name", "system", "model", "model name"),
    *("model_name", "method", "name", "ranker", "retriever", "tag", "submission", "approach"),
}
_MEASURE = {"measure", "metric", "measures", "metrics", "metric_name"}
_VALUE = {"value", "score", "mean", "result", "values", "scores", "figure"}
_QUERY = {"query", "query_id", "queryid", "query id", "qid", "topic", "topic_id", "topicid"}
_ALL_QUERIES = {"all", "amean", "mean", "average", "avg", "overall", ""}
"""What stands in the place of a query where a figure is a mean."""
_BLANKS = {"", "-", "–", "—", "−", "--", "---", "n/a", "na", "nan", "n.a", "none", "?"}
"""What stands in the place of a figure that nobody has."""
_FIGURE_LIKE = re.compile(r"[^\w@.,]*[.,]?\d")
_SHAPE_HINT = "Give a row for each reranker and a column for each measure, or columns reranker, measure, value."


class Grid(NamedTuple):
    """A table of cells.

    Attributes:
        file: name of the file.
        rows: (line, cells without mark-up), the header first.
        delimiter: what parts the cells in the file; empty where mark-up does.
    """

    file: str
    rows: Sequence[tuple[int, list[str]]]
    delimiter: str = ""


def figures_of_grid(grid: Grid, stem: str) -> tuple[list[Figure], list[str]]:
    """Return the figures of a table, of `stem` where it names no reranker, and notes on what is left out."""
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in grid.rows if any(map(str.strip, cells))]
    if not rows:
        raise ReadError(grid.file, "there is no table", _SHAPE_HINT, line=1)
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    rows = [(line, (cells + [""] * width)[:width]) for line, cells in rows]
    cells_in_order = [cell for _, cells in rows for cell in cells]
    is_of_shares = grid.delimiter == ";" and any(our_measure(c) and is_bounded(c) for c in cells_in_order)
    comma = has_decimal_comma(cells_in_order, has_thousands=not is_of_shares)
    notes = ["Commas are read as decimal points."] if comma else []
    header, body = _split_header(rows)
    if _is_transposed(header, body):
        header, body = _transposed(header, body)
    table = _Table(grid.file, _distinct(header), body, comma, stem)
    figures, more_notes = _long_figures(table) if table.is_long else _wide_figures(table)
    if not figures:
        raise ReadError(grid.file, "there is no figure in this table", _SHAPE_HINT, line=rows[0][0])
    return figures, notes + more_notes


class _Table(NamedTuple):
    """A table whose header is known.

    Attributes:
        file: its name.
        header: of its columns.
        body: line and cells of each row.
        comma: whether decimals follow a comma.
        stem: the reranker where no column says it.
    """

    file: str
    header: list[str]
    body: list[tuple[int, list[str]]]
    comma: bool
    stem: str

    @property
    def is_long(self) -> bool:
        """Whether it has a row for each figure."""
        return None not in (self.place("measure"), self.place("value"))

    def place(self, role: str) -> int | None:
        """Return the column of a role, by its name; of values beside measures, the one of numbers will do."""
        names = _ROLES[role]
        by_name = next((place for place, cell in enumerate(self.header) if cell.casefold() in names), None)
        if by_name is not None or role != "value" or self.place("measure") is None:
            return by_name
        roles = {self.place(role) for role in _ROLES if role != "value"}
        numeric = [
            place
            for place in range(len(self.header))
            if place not in roles
            and any(parse_number(cells[place], decimal_comma=self.comma) for _, cells in self.body)
        ]
        return numeric[0] if len(numeric) == 1 else None

    @property
    def reranker_place(self) -> int | None:
        """The column of rerankers: by its name, else the first of texts that is no measure's."""
        if (by_name := self.place("reranker")) is not None:
            return by_name
        for place, name in enumerate(self.header):
            cells = [cells[place] for _, cells in self.body if cells[place]]
            is_text = any(parse_number(cell, decimal_comma=self.comma) is None for cell in cells)
            if is_text and not _is_measure(name) and place != self.place("query"):
                return place
        return None


def _split_header(rows: list[tuple[int, list[str]]]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header, its lines put together column by column, and the rows with more than a heading.

    It ends before the first line with a number, or with what begins as one below a measure.
    """
    n_lines = 1
    places = [place for place, cell in enumerate(rows[0][1]) if _is_measure(cell)]
    while n_lines < len(rows) - 1:
        cells = rows[n_lines][1]
        if any(map(parse_number, cells[1:])) or any(_FIGURE_LIKE.match(cells[place]) for place in places):
            break
        n_lines += 1
    lines = [cells for _, cells in rows[:n_lines] if sum(map(bool, cells)) > 1] or [rows[0][1]]
    columns = zip(*lines, strict=True)
    header = [" ".join(dict.fromkeys(cell for cell in column if not _is_blank(cell))) for column in columns]
    return header, [(line, cells) for line, cells in rows[n_lines:] if sum(map(bool, cells)) > 1]


def _distinct(header: Sequence[str]) -> list[str]:
    """Return names of columns; those of one name say which column they are."""
    counts = Counter(header)
    return [
        f"{name} (column {place})" if name and counts[name] > 1 else name
        for place, name in enumerate(header, 1)
    ]


_ROLES = {"reranker": RERANKER_HEADINGS, "measure": _MEASURE, "value": _VALUE, "query": _QUERY}


def _is_measure(name: str) -> bool:
    return bool(our_measure(name) or measures_within(name))


def _is_transposed(header: Sequence[str], body: Sequence[tuple[int, list[str]]]) -> bool:
    """Return whether measures stand in the first column and rerankers in the header."""
    if any(_is_measure(cell) or cell.casefold() in _MEASURE | _VALUE for cell in header[1:]):
        return False
    return any(_is_measure(cells[0]) for _, cells in body)


def _transposed(
    header: list[str], body: Sequence[tuple[int, list[str]]]
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return header and rows of the table turned; its rows have the line of the first."""
    turned = [list(cells) for cells in zip(header, *(cells for _, cells in body), strict=True)]
    return ["", *turned[0][1:]], [(body[0][0], cells) for cells in turned[1:]]


def _long_figures(table: _Table) -> tuple[list[Figure], list[str]]:
    """Return the figures of a table with a row for each; a value that is no number is an error."""
    places = {role: table.place(role) for role in _ROLES}
    figures = []
    for line, cells in table.body:
        text = {role: "" if place is None else cells[place] for role, place in places.items()}
        number = parse_number(text["value"], decimal_comma=table.comma)
        if number is None and not _is_blank(text["value"]):
            hint = "Write the figure alone, or leave the cell empty."
            raise ReadError(table.file, f"{text['value'][:40]!r} is no number", hint, line=line)
        if number is not None:
            reranker = table.stem if places["reranker"] is None else text["reranker"]
            query = None if text["query"].casefold() in _ALL_QUERIES else text["query"]
            figures.append(_figure(reranker, text["measure"], query, number, (table.file, line)))
    return figures, []


def _wide_figures(table: _Table) -> tuple[list[Figure], list[str]]:
    """Return the figures of a table with a column for each measure, and what of it is none."""
    reranker, query = table.reranker_place, table.place("query")
    places = [place for place, name in enumerate(table.header) if name and place not in (reranker, query)]
    figures, notes, silent = [], [], dict.fromkeys(places)
    for line, cells in table.body:
        name = table.stem if reranker is None else cells[reranker]
        query_id = None if query is None or cells[query].casefold() in _ALL_QUERIES else cells[query]
        for place in places if name else ():
            number = parse_number(cells[place], decimal_comma=table.comma)
            if number is not None:
                figures.append(_figure(name, table.header[place], query_id, number, (table.file, line)))
                silent.pop(place, None)
            elif _is_measure(table.header[place]) and not _is_blank(cells[place]):
                notes.append(f"{table.file}, line {line}: {quote(cells[place])} is no number, and left out.")
    names = [table.header[place] for place in silent]
    return figures, [*notes, *([f"Columns without numbers are left out: {', '.join(names)}."] if names else [])]


def _figure(
    reranker: str, measure: str, query: str | None, number: PrintedNumber, place: tuple[str, int]
) -> Figure:
    """Return a figure; a percent sign says its scale, its value stays as printed until all scales are known."""
    scale = 100 if number.is_percent else 1
    return Figure(reranker, measure, query, number.value, number.text, number.decimals, scale, *place)


def _is_blank(cell: str) -> bool:
    return cell.casefold().strip(" .*") in _BLANKS
