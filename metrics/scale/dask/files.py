"""From paths, patterns, folders and URLs to the files of a dataset."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TypeAlias
from urllib.parse import unquote

from metrics.errors import ReadError, UsageError
from metrics.runs import File, MissingScore, open_blocks, with_names
from metrics.runs.formats.block_table import BlockTable
from metrics.runs.reading.files import place_of

_Path: TypeAlias = str | PurePath
Paths: TypeAlias = _Path | Iterable[_Path | tuple[str | None, _Path]] | Mapping[str, _Path]
_PATTERN = re.compile(r"[*?\[]")
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class DatasetFile:
    """A file of a dataset.

    Attributes:
        table: what is to be read of it.
        name: its reranker, where others may hold lists of the same; None where its stem or its rows say it.
    """

    table: BlockTable
    name: str | None

    @property
    def names(self) -> bool:
        """Whether its rows name their rerankers."""
        return "reranker" in self.table.mapping

    @property
    def is_alone(self) -> bool:
        """Whether no other file can hold rows of its lists."""
        return self.name is None and not self.names

    @property
    def reranker(self) -> str:
        """Its reranker, where its rows do not say."""
        return self.name or self.table.file.stem

    def refuse_without(self, numbers: Iterable[str]) -> None:
        """Raise a UsageError where it has no such columns to rank by."""
        table = self.table
        for name in numbers:
            if name not in table.extras and name not in table.mapping:
                available = ", ".join(table.extras) or "none"
                problem = f"there is no score column {name!r} to rank by"
                raise UsageError(f"{table.file.name}: {problem}. There are: {available}.")


def dataset_files(
    paths: Paths,
    columns: Mapping[str, str],
    judgments: str | PurePath | None = None,
    missing_score: MissingScore = "error",
) -> list[DatasetFile]:
    """Return the files of a dataset, in the order given, those of a pattern or a folder by name.

    Raises:
        ReadError: nothing is there, or a file cannot be read in blocks.
        UsageError: two runs of one name.
    """
    no_run = None if judgments is None else place_of(judgments).resolve()
    opened = [
        [
            (_named(open_blocks(File.open(place), columns, missing_score), name, folder), _partition(place))
            for folder, place in _expand(path)
            if place.resolve() != no_run
        ]
        for name, path in with_names(paths)
    ]
    _refuse_two_runs(_repeated_names(opened))
    files = [file for group in opened for file, _ in group]
    if not files:
        raise UsageError("There is no run. Give at least one file.")
    return files


def _repeated_names(opened: Iterable[Sequence[tuple[DatasetFile, str | None]]]) -> list[str]:
    """Return names of rerankers that stand for more than one run; files of one partition are one."""
    names, partitions = Counter[str](), set[str]()
    for group in opened:
        names.update(file.reranker for file, _ in group if file.is_alone)
        names.update({file.name for file, partition in group if file.name and not partition})
        partitions |= {file.name for file, partition in group if file.name and partition}
    names.update(partitions)
    return [name for name, count in names.items() if count > 1]


def _refuse_two_runs(names: Iterable[str]) -> None:
    """Raise a UsageError where there is a name of rows that are no parts of one run."""
    for name in names:
        hint = "Give one a name (NAME=PATH, or {NAME: path}), or put the parts of one run into a folder."
        raise UsageError(f"There are two runs named {name!r}. {hint}")


def with_final_names(files: Sequence[DatasetFile], rerankers: Sequence[Collection[str]]) -> list[DatasetFile]:
    """Return the files, each as it was named where it is of one run; names in its rows tell several apart.

    Raises:
        UsageError: two runs of one name, one of them named in its rows.
    """
    inside: dict[str | None, set[str]] = {}
    for file, names in zip(files, rerankers, strict=True):
        inside.setdefault(file.name, set()).update(names)
    final = [replace(file, name=None) if file.names and len(inside[file.name]) > 1 else file for file in files]
    by_row = {name for file, names in zip(final, rerankers, strict=True) if file.name is None for name in names}
    by_file = [file.reranker for file in final if file.name or not file.names]
    _refuse_two_runs(name for name in by_file if name in by_row)
    return final


def _named(table: BlockTable, name: str | None, folder: str | None) -> DatasetFile:
    """Return a file whose reranker is named by the user, else by its rows, else by its folder."""
    return DatasetFile(table, name or (None if "reranker" in table.mapping else folder))


def _expand(path: str | PurePath) -> Iterator[tuple[str | None, Path]]:
    """Yield each file that a path means, after the reranker that its folder names."""
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
        raise ReadError(str(path), f"cannot be looked at ({error})", "Check the path.") from error


def _match_pattern(place: Path) -> list[Path]:
    """Return the files of a pattern by name, and the folders of which it has no file."""
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
    """Return the files of a folder and those below, by name."""
    paths = [path for path in folder.rglob("*") if not _is_hidden(path.relative_to(folder))]
    return _sort_by_name(folder, [path for path in paths if path.is_file()])


def _sort_by_name(path: Path, matches: list[Path]) -> list[Path]:
    """Return what a path matches by name, `part-10` after `part-9`; a ReadError where nothing does."""
    if not matches:
        raise ReadError(str(path), "no file is there", "Check the path.")
    return sorted(matches, key=lambda match: _natural_key(str(match)))


def _natural_key(name: str) -> tuple[list[str | int], str]:
    """Return what names are sorted by: numbers in them by value."""
    return [int(text) if place % 2 else text for place, text in enumerate(_DIGITS.split(name))], name


def _is_hidden(path: Path) -> bool:
    """Return whether tools leave out such a file: `_SUCCESS`, what lies in `_temporary` or `.git`."""
    return any(part.startswith(("_", ".")) for part in path.parts)


def _partition(file: Path) -> str | None:
    """Return the reranker that a folder such as `reranker=BM25` names, as Spark, Dask and Arrow write them."""
    keys_and_values = (folder.name.partition("=") for folder in file.parents)
    return next((unquote(value) for key, _, value in keys_and_values if key == "reranker" and value), None)


def _folder_name(folder: Path) -> str:
    """Return the reranker of files without one in a folder: `runs/llm.parquet` gives `llm`."""
    return File(str(folder if folder.name.strip(".") else folder.resolve()), b"").stem
