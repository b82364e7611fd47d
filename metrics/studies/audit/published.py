"""Read published tables from files of several formats."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metrics.errors import ReadError, UsageError
from metrics.runs.columns import MAX_COLUMNS, recognise
from metrics.runs.files import File
from metrics.runs.formats.delimited import Head
from metrics.runs.formats.frames import is_frame
from metrics.studies.audit.names import has_measure, is_bounded, our_measure
from metrics.studies.audit.published_layouts import (
    Grid,
    figures_of_grid,
    is_trec_eval,
    parse_number,
    read_delimited,
    read_json,
    read_latex,
    read_markdown,
    read_trec_eval,
)
from metrics.studies.audit.published_table import Figure, PublishedTable
from metrics.support.wording import quote

Path = str | PurePath
Files = Path | Iterable[Path] | Mapping[str, bytes]
"""Paths, or name → bytes."""
_MAX_BYTES, _MAX_LINES, _MAX_FIGURES = 2**25, 500_000, 500_000
"""Largest file in bytes, most lines of it, and most figures."""
_MAX_MARKUP, _MAX_MARKUP_LINES = 2**18, 5_000
"""Most letters and lines of Markdown or LaTeX, which take longer to read."""
_MAX_LINE = 100_000
"""Longest line of a table, in letters."""
_START_LINES, _START_BYTES = 1_000, 2**16
"""Lines and bytes within which a file of results has figures."""
_MAX_JSON = 2**18
"""Largest unpacked JSON file to search for results, in bytes: it is parsed a second time."""
_DASHES = re.compile(":?-+:?")
_LATEX_TABLES = ("\\begin{tab", "\\begin{long", "\\begin{Nice")
_HEAD_LINES = 50
_MOST_DECIMALS = 17
_HIGHEST_PERCENT = 100
_SHORT = 10
"""More decimals than this are those of a float."""


class _PublishedFile(NamedTuple):
    """The contents of one file.

    Attributes:
        figures: printed figures.
        notes: sentences about parts that were left out.
        run_id: run name in the file; without it, the file name or the names in the table count.
        is_typed: whether numbers come from software that drops trailing zeros.
    """

    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    run_id: str = ""
    is_typed: bool = False


def read_published(files: Files) -> PublishedTable:
    """Read printed figures from a path, several paths, or name → bytes.

    The format of each file is recognised: outputs of trec_eval or ir_measures (one file per run), CSV,
    Markdown or LaTeX tables, JSON results of BEIR and MTEB.
    """
    sources = _open_files(files)
    if not sources:
        raise UsageError("Give at least one published table.")
    parts = [_read(file) for file, _ in sources]
    run_ids = Counter(part.run_id for part in parts)
    stems = Counter(file.stem for file, _ in sources)
    figures: list[Figure] = []
    other_names = {}
    for (file, path), part in zip(sources, parts, strict=True):
        folders = PurePath(path).parent.parts[:-3:-1]
        name = file.stem if stems[file.stem] == 1 else "/".join((*folders[::-1], file.stem))
        folder_names = folders if part.is_typed else ()
        if part.run_id and run_ids[part.run_id] == 1:
            name, folder_names = part.run_id, (name, *folder_names)
        figures += [f._replace(reranker=name) if f.reranker == file.stem else f for f in part.figures]
        if len(figures) > _MAX_FIGURES:
            raise ReadError(file.name, f"more than {_MAX_FIGURES:,} figures", "Give only the means.")
        other_names[name] = folder_names
    table = _without_repeats(figures)
    typed = [file.name for (file, _), part in zip(sources, parts, strict=True) if part.is_typed]
    percents = _scale_percents(table)
    _add_zeros(table, typed)
    notes = [note for part in parts for note in part.notes]
    notes += [f"Percentages were divided by 100: {', '.join(percents)}."] if percents else []
    return PublishedTable(table, tuple(dict.fromkeys(notes)), other_names)


def holds_results(file: File) -> bool:
    """Return whether a file has figures of known measures, and is neither a run nor judgments.

    JSON of more than `_MAX_JSON` bytes has none. Of other files the first lines count.
    """
    try:
        is_json = file.head.lstrip().startswith((b"{", b"["))
        if file.unpacks_to(_MAX_JSON) if is_json else "doc_id" in recognise(Head(file).header):
            return False
        start = file if is_json else replace(file, data=_first_lines(file))
        names = {figure.measure for figure in _read(start).figures}
    except ReadError:
        return False
    n_known = sum(map(has_measure, names)) if len(names) <= MAX_COLUMNS else 0
    return n_known > 0 and (not is_json or 2 * n_known > len(names))


def _first_lines(file: File) -> bytes:
    """Return the first `_START_LINES` lines of a file, fewer if they are long, without an incomplete one."""
    lines = file.head.splitlines(keepends=True)
    return b"".join(lines[: -1 if file.unpacks_to(_START_BYTES) else None][:_START_LINES])


def _open_files(files: Files) -> list[tuple[File, str]]:
    if isinstance(files, Mapping) and all(isinstance(data, bytes) for data in files.values()):
        return [(File(name, data), name) for name, data in files.items()]
    paths: list[Any] = [files]
    if isinstance(files, Iterable) and not isinstance(files, Path | Mapping):
        paths = list(files)
    if is_frame(files) or not all(isinstance(path, Path) for path in paths):
        raise UsageError(
            "Give published figures as the path of a table, or as its text in bytes: "
            "{'table.csv': b'reranker,MRR\\nllm,0.9884'}."
        )
    names = Counter(PurePath(path).name for path in paths)
    return [
        (file if names[PurePath(path).name] == 1 else replace(file, name=str(path)), str(path))
        for file, path in zip(map(File.open, paths), paths, strict=True)
    ]


def _read(file: File) -> _PublishedFile:
    file.refuse_binary("Give trec_eval's output, a CSV, Markdown or LaTeX table, or JSON.")
    if file.unpacks_to(_MAX_BYTES):
        raise ReadError(file.name, f"more than {_MAX_BYTES // 2**20} MB", "Give only the means.")
    if file.head.lstrip().startswith((b"{", b"[")):
        return _PublishedFile(*read_json(file), is_typed=True)
    text = _text(file)
    if text.count("\n") > _MAX_LINES:
        raise ReadError(file.name, f"more than {_MAX_LINES:,} lines", "Give only the means.")
    lines = text.split("\n")
    if too_long := next((number for number, line in enumerate(lines, 1) if len(line) > _MAX_LINE), None):
        problem = f"a line of more than {_MAX_LINE:,} letters"
        raise ReadError(file.name, problem, "Give only the means.", line=too_long)
    if any(line.startswith("Queryid (Num)") for line in lines):
        problem = "this is the output of trec_eval before version 8, which rounds and groups its figures"
        raise ReadError(file.name, problem, "Run trec_eval 9, or give a table of reranker, measure and value.")
    if is_trec_eval(lines[:_HEAD_LINES]):
        figures, run_id = read_trec_eval(file.name, text, file.stem)
        return _PublishedFile(figures, (), run_id)
    is_latex = any(map(text.__contains__, _LATEX_TABLES)) or any(map(_is_latex_row, lines))
    if not (is_latex or any(map(_is_markdown_rule, lines))):
        if len(lines) > _START_LINES:  # without figures, it is not read further
            _of_grids(file, read_delimited(file.name, "\n".join(lines[:_START_LINES])), is_typed=True)
        return _of_grids(file, read_delimited(file.name, text), is_typed=True)
    if len(text) > _MAX_MARKUP or len(lines) > _MAX_MARKUP_LINES:
        limits = f"{_MAX_MARKUP // 2**10} KB or {_MAX_MARKUP_LINES:,} lines"
        problem = f"more than {limits} of Markdown or LaTeX"
        raise ReadError(file.name, problem, "Give only the table, or export it as CSV.")
    return _of_grids(file, (read_latex if is_latex else read_markdown)(file.name, text), is_typed=False)


def _is_latex_row(line: str) -> bool:
    """Return whether a line has cells and the end of a LaTeX row after them."""
    return line.rfind("\\\\") > line.find("&") >= 0


def _is_markdown_rule(line: str) -> bool:
    """Return whether a line is the rule below the header of a Markdown table: `|---|:-:|`."""
    cells = [cell.strip(" \t") for cell in line.strip(" \t").removeprefix("|").split("|")]
    return len(cells) > 1 and all(map(_DASHES.fullmatch, cells if cells[-1] else cells[:-1]))


def _text(file: File) -> str:
    data = b"".join(file.blocks())
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error


def _of_grids(file: File, grids: Sequence[Grid], *, is_typed: bool) -> _PublishedFile:
    figures: list[Figure] = []
    notes: list[str] = []
    hint = "Give a table with one row per reranker and one column per measure."
    problem = ReadError(file.name, "the file has no table", hint, line=1)
    for grid in grids:
        try:
            of_grid = figures_of_grid(grid, file.stem)
        except ReadError as error:
            problem = error
        else:
            figures += of_grid[0]
            notes += of_grid[1]
    if not figures:
        raise problem
    return _PublishedFile(figures, notes, is_typed=is_typed)


def _without_repeats(figures: Sequence[Figure]) -> pd.DataFrame:
    keys = ["reranker", "measure", "query_id"]
    table = pd.DataFrame(figures, columns=list(Figure._fields))
    table = table.drop_duplicates([*keys, "text"], ignore_index=True)
    for repeated in table[table.duplicated(keys)].head(1).itertuples():
        names = f"{quote(repeated.measure)} of {quote(repeated.reranker)}"
        line = None if pd.isna(repeated.line) else int(repeated.line)
        hint = "Give each run a separate file, or each row a name."
        raise ReadError(repeated.file, f"{names} is printed twice with different values", hint, line=line)
    return table


def _scale_percents(table: pd.DataFrame) -> list[str]:
    """Divide percents by 100, and return their measures."""
    names, by_column = table["measure"], [table["file"], table["measure"]]
    is_known, is_named, may_be = (
        names.map({name: bool(of_name(name)) for name in names.unique()})
        for of_name in (our_measure, has_measure, is_bounded)
    )
    unsigned = table["value"].where(table["scale"] == 1)
    columns = unsigned.groupby(by_column, sort=False)
    n_over, n_figures = (
        part.groupby(by_column).transform("sum") for part in (unsigned > 1, unsigned.abs() > 0)
    )
    has_decimals = table["decimals"].groupby(by_column).transform("max") > 0
    looks_so = may_be & (is_known | has_decimals) & (2 * n_over > n_figures)
    looks_so &= (columns.transform("max") <= _HIGHEST_PERCENT) & (columns.transform("min") >= 0)
    table["scale"] = table["scale"].mask(looks_so | (is_known & names.str.contains("%")), 100)
    table["value"] /= table["scale"]
    return list(dict.fromkeys(names[(table["scale"] > 1) & is_named]))


def _add_zeros(table: pd.DataFrame, typed: Sequence[str]) -> None:
    """Add trailing zeros that software drops to the decimals: .28 in a column with .2834 is .2800.

    If each measure has one figure, all figures of the file count as the column.
    """
    long = np.flatnonzero(table["decimals"] > _SHORT)
    texts, decimals = table.loc[long, "text"], table.loc[long, "decimals"]
    table.loc[long, "decimals"] = list(map(_decimals_meant, texts, decimals))
    n_rows = table.groupby(["file", "measure"])["text"].transform("size").groupby(table["file"])
    has_one_row = n_rows.transform("max") == 1
    columns = [table["file"], table["measure"].mask(has_one_row, "")]
    ends_in_zero = table["text"].str.endswith("0") & (table["decimals"] > 1)
    leaves_out = table["file"].isin(typed) & ~ends_in_zero.groupby(columns).transform("any")
    n_decimals = table["decimals"].groupby(columns).transform("max")
    table["decimals"] = table["decimals"].mask(leaves_out, n_decimals).clip(upper=_MOST_DECIMALS)


def _decimals_meant(text: str, decimals: int) -> int:
    number = parse_number(text)
    short = parse_number(f"{number.value:.{_SHORT}g}") if number else None
    if number is None or short is None or abs(short.value - number.value) > 2 * np.spacing(abs(number.value)):
        return decimals
    return short.decimals
