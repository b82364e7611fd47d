"""Find the files of a dataset, and cut them into parts that workers can hold."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePath
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError, UsageError
from metrics.runs import File, MissingScore, Source, open_run, with_names
from metrics.runs.files import place_of
from metrics.runs.formats.format import FileTable
from metrics.runs.formats.parquet import ParquetTable
from metrics.runs.query_doc_keys import Hashes, hashes_after, text_hashes
from metrics.support.arrays import IntArray, span_starts
from metrics.support.columns import coded

_Path: TypeAlias = str | PurePath
Paths: TypeAlias = _Path | Iterable[_Path | tuple[str | None, _Path]] | Mapping[str, _Path]
_PATTERN = re.compile(r"[*?\[]")
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class DatasetFile:
    """A file of a dataset.

    Attributes:
        table: the table to read.
        name: its reranker, if other files may hold more of its lists; None takes the name from the file or its
            rows.
    """

    table: FileTable
    name: str | None

    @property
    def names(self) -> bool:
        """True if its rows name their rerankers."""
        return "reranker" in self.table.mapping

    @property
    def is_alone(self) -> bool:
        """True if only this file can hold rows of its lists."""
        return self.name is None and not self.names

    @property
    def reranker(self) -> str:
        """Its reranker, if its rows do not name one."""
        return self.name or self.table.file.stem

    def refuse_without(self, numbers: Iterable[str]) -> None:
        """Raise a UsageError if it lacks one of these score columns."""
        table = self.table
        for name in numbers:
            if name not in table.extras and name not in table.mapping:
                available = ", ".join(table.extras) or "none"
                problem = f"there is no score column {name!r} to rank by"
                raise UsageError(f"{table.file.name}: {problem}. Its other score columns: {available}.")


def dataset_files(
    paths: Paths,
    columns: Mapping[str, str],
    judgments: str | PurePath | None = None,
    missing_score: MissingScore = "error",
    *,
    judged: bool = False,
) -> list[DatasetFile]:
    """Return the files of a dataset in the given order; files of a pattern or folder are sorted by name.

    Raises:
        ReadError: there is no such file, or the columns of a file are known only from all its rows.
        UsageError: two runs have the same name.
    """
    no_run = None if judgments is None else place_of(judgments).resolve()
    files, runs = list[DatasetFile](), list[tuple[str, int | None, int | None]]()
    for group, (name, path) in enumerate(with_names(paths)):
        for folder, place in _expand(path):
            if place.resolve() == no_run:
                continue
            table = open_run(File.open(place), columns, missing_score, judged=judged)
            file = DatasetFile(table, name or (None if "reranker" in table.mapping else folder))
            if file.name or not file.names:
                named_by = None if _partition(place) else group
                runs.append((file.reranker, named_by, len(files) if file.is_alone else None))
            files.append(file)
    if not files:
        raise UsageError("There is no run. Give at least one file.")
    counts = Counter(name for name, *_ in dict.fromkeys(runs))
    _refuse_two_runs(name for name, count in counts.items() if count > 1)
    return files


def _refuse_two_runs(names: Iterable[str]) -> None:
    for name in names:
        raise UsageError(
            f"There are two runs named {name!r}. Give one of them another name (NAME=PATH, or {{NAME: path}}). "
            "If both are parts of one run, put them into one folder."
        )


def with_final_names(files: Sequence[DatasetFile], rerankers: Sequence[Collection[str]]) -> list[DatasetFile]:
    """Return the files with final names: rows that name several rerankers override the name of a file.

    Raises:
        UsageError: two runs have the same name, and one of them gets it from its rows.
    """
    inside: dict[str | None, set[str]] = {}
    for file, names in zip(files, rerankers, strict=True):
        inside.setdefault(file.name, set()).update(names)
    final = [replace(file, name=None) if file.names and len(inside[file.name]) > 1 else file for file in files]
    by_row = {name for file, names in zip(final, rerankers, strict=True) if file.name is None for name in names}
    by_file = [file.reranker for file in final if file.name or not file.names]
    _refuse_two_runs(name for name in by_file if name in by_row)
    return final


def _expand(path: str | PurePath) -> Iterator[tuple[str | None, Path]]:
    place = place_of(path)
    try:
        is_pattern = _PATTERN.search(str(path)) and not place.exists()
        for match in _match_pattern(place) if is_pattern else [place]:
            folder = _folder_name(match) if match.is_dir() else None
            for file in [match] if folder is None else _files_below(match):
                yield _partition(file) or folder, file
    except ReadError:
        raise
    except (OSError, ValueError) as error:
        raise ReadError(str(path), f"cannot be opened ({error})", "Check the path.") from error


def _match_pattern(place: Path) -> list[Path]:
    base = next(parent for parent in place.parents if not _PATTERN.search(str(parent)) or parent.is_dir())
    pattern = place.relative_to(base)
    matches = [
        path
        for path in base.glob(str(pattern))
        if _is_hidden(pattern) or not _is_hidden(path.relative_to(base))
    ]
    files = [path for path in matches if path.is_file()]
    folders = {folder for path in files for folder in path.parents}
    return _sort_by_name(place, [*files, *(path for path in matches if path.is_dir() and path not in folders)])


def _files_below(folder: Path) -> list[Path]:
    paths = [path for path in folder.rglob("*") if not _is_hidden(path.relative_to(folder))]
    return _sort_by_name(folder, [path for path in paths if path.is_file()])


def _sort_by_name(path: Path, matches: list[Path]) -> list[Path]:
    if not matches:
        raise ReadError(str(path), "there is no such file", "Check the path.")
    return sorted(matches, key=lambda match: _natural_key(str(match)))


def _natural_key(name: str) -> tuple[list[str | int], str]:
    return [int(text) if place % 2 else text for place, text in enumerate(_DIGITS.split(name))], name


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)


def _partition(file: Path) -> str | None:
    keys_and_values = (folder.name.partition("=") for folder in file.parents)
    return next((unquote(value) for key, _, value in keys_and_values if key == "reranker" and value), None)


def _folder_name(folder: Path) -> str:
    return File(str(folder if folder.name.strip(".") else folder.resolve()), b"").stem


ROWS = 2**20
"""Minimum rows of a part: few enough for a worker with 1 GB."""
_SCANNED = 8
"""Parts whose queries are scanned in one task."""


@dataclass(frozen=True)
class Part:
    """Rows of one file.

    Attributes:
        member: the file.
        first: its first row; of a Parquet table.
        end: the row after its last; None for the whole file.
    """

    member: DatasetFile
    first: int = 0
    end: int | None = None

    def read(self, columns: Collection[str]) -> Source:
        """Read these columns of the rows, ours or further ones; text files are read with all columns."""
        table = self.member.table
        source = (
            table.select(columns).rows(self.first, self._end)
            if isinstance(table, ParquetTable)
            else table.read()
        )
        return replace(source, name=self.member.name)

    @property
    def n_rows(self) -> int:
        """Number of rows; 0 for text that was not scanned."""
        return self._end - self.first

    @property
    def _end(self) -> int:
        table = self.member.table
        return sum(table.groups) if self.end is None and isinstance(table, ParquetTable) else self.end or 0


class ScannedLists(NamedTuple):
    """The lists in rows that were scanned.

    Attributes:
        starts: (n,) row from which the rows of each list are adjacent; of its row group if lists are scattered.
        keys: (n,) hash of each list.
        end: the row after the last.
        rerankers: names of rerankers in the rows.
    """

    starts: IntArray
    keys: Hashes
    end: int
    rerankers: tuple[str, ...]


def parts_to_scan(member: DatasetFile) -> Iterator[Part]:
    """Yield the parts of a file whose lists other parts may share."""
    if not isinstance(member.table, ParquetTable):
        if not member.is_alone:
            yield Part(member)
        return
    ends = np.cumsum(member.table.groups)
    if len(ends) > 1 or not member.is_alone:
        cuts = np.searchsorted(ends, np.arange(0, ends[-1] if len(ends) else 0, ROWS * _SCANNED))
        bounds = np.unique([0, *ends[cuts], *ends[-1:]])
        yield from (Part(member, first, end) for first, end in pairwise(bounds.tolist()))


def scan_part(part: Part) -> ScannedLists:
    """Return the lists of a part."""
    source = part.read(("reranker", "query_id"))
    n_rows = len(source.table)
    starts, keys = list_spans(source)
    if isinstance(part.member.table, ParquetTable):
        groups = np.cumsum([0, *part.member.table.groups]) - part.first
        groups = groups[(groups >= 0) & (groups < n_rows)]
        pieces = np.union1d(starts, groups)
        starts, keys = pieces, keys[np.searchsorted(starts, pieces, "right") - 1]
        group = groups[np.searchsorted(groups, starts, "right") - 1]
        scattered = pd.DataFrame({"start": group, "key": keys}).drop_duplicates()
        if 2 * len(scattered) < len(starts):
            starts, keys = scattered["start"].to_numpy(), scattered["key"].to_numpy()
    is_named = "reranker" in source.table.column_names
    names = tuple(source.table["reranker"].unique().to_pylist()) if is_named else ()
    return ScannedLists(starts + part.first, keys, part.first + n_rows, names)


def list_spans(source: Source) -> tuple[IntArray, Hashes]:
    """Return the (n,) first row of each span of rows of one list, and the hash of its reranker and query."""
    queries = coded(source.table["query_id"])
    query = queries.indices.to_numpy()
    names = pa.array([source.name or File(source.file, b"").stem])
    owner: npt.NDArray[np.int32] = np.zeros(len(query), np.int32)
    if "reranker" in source.table.column_names:
        rerankers = coded(source.table["reranker"])
        names, owner = rerankers.dictionary, rerankers.indices.to_numpy()
    starts = span_starts(query, owner)
    texts = queries.dictionary.take(pa.array(query[starts]))
    return starts, hashes_after(text_hashes(names), owner[starts], texts)


def cut_file(file: DatasetFile, scans: Sequence[ScannedLists]) -> Iterator[tuple[Part, Hashes]]:
    """Yield parts of a file with their lists' hashes, cut between lists if each list's rows are adjacent."""
    if not scans:
        yield Part(file), np.empty(0, np.uint64)
        return
    starts, keys = (np.concatenate(arrays) for arrays in list(zip(*scans, strict=True))[:2])
    cuts = [0]
    if isinstance(file.table, ParquetTable):
        changes = starts[1:][keys[1:] != keys[:-1]]
        for end in np.cumsum(file.table.groups)[:-1]:  # near the end of a row group, which is read whole
            before = changes[: np.searchsorted(changes, end, "right")]
            if end - cuts[-1] >= ROWS and len(before) and before[-1] > cuts[-1]:
                cuts.append(int(before[-1]))
    for first, end in pairwise([*cuts, scans[-1].end]):
        yield Part(file, first, end), np.unique(keys[slice(*np.searchsorted(starts, [first, end]))])


def lists_in_several(parts: Sequence[Hashes]) -> Hashes:
    """Return the lists that have rows in more than one part."""
    hashes = np.sort(np.concatenate([np.empty(0, np.uint64), *parts]))
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def row_hashes(source: Source) -> Hashes:
    """Return the (n_rows,) hash of each row's list."""
    starts, keys = list_spans(source)
    return np.repeat(keys, np.diff(starts, append=len(source.table)))


def is_among(keys: Hashes, lists: Hashes) -> npt.NDArray[np.bool_]:
    """Return (n_rows,) whether each row belongs to one of these lists, sorted and at least one."""
    near: Hashes = lists[np.minimum(np.searchsorted(lists, keys), len(lists) - 1)]
    return np.equal(near, keys)


def take_rows(source: Source, rows: IntArray) -> Source:
    """Return some rows that keep their line numbers."""
    return replace(source, table=source.table.take(pa.array(rows)), origin=source.origin.take(rows))
