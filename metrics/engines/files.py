"""From paths, patterns, folders and URLs to the files of a dataset."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from metrics.errors import ReadError, UsageError
from metrics.runs import File, in_blocks
from metrics.runs.blocks import Delimited
from metrics.runs.files import place_of
from metrics.runs.parquet import Parquet

Paths = str | PurePath | Iterable[str | PurePath] | Mapping[str, str | PurePath]
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Member:
    """A file of a dataset.

    Attributes:
        table: what is to be read of it.
        name: its reranker, where it names none and others may hold lists of the same; else its stem is.
    """

    table: Delimited | Parquet
    name: str | None

    @property
    def is_alone(self) -> bool:
        """Whether no other file can hold rows of its lists."""
        return self.name is None and "reranker" not in self.table.mapping

    @property
    def reranker(self) -> str:
        """Its reranker, where it names none."""
        return self.name or self.table.file.stem


def members(paths: Paths, columns: Mapping[str, str]) -> list[Member]:
    """The files of a dataset, in the order given, those of a pattern or a folder by name.

    Args:
        paths: paths, URLs, patterns such as `runs/*.parquet`, or folders whose files are parts of one
            table; as a mapping, of reranker to one of these: its files are parts of one run.
        columns: our column → the files', as in `read_runs`.

    Raises:
        ReadError: nothing is there, or a file cannot be read in blocks.
        UsageError: two runs of one name.
    """
    named: Iterable[tuple[str | None, str | PurePath]]
    if isinstance(paths, Mapping):
        named = paths.items()
    else:
        named = [(None, path) for path in ([paths] if isinstance(paths, str | PurePath) else paths)]
    found = [_member(file, one, columns) for name, path in named for one, file in _expanded(path, name)]
    alone = Counter(one.reranker for one in found if one.is_alone)
    if twice := [name for name, count in alone.items() if count > 1]:
        hint = "Rename one file, or put the parts of one run into a folder."
        raise UsageError(f"There are two runs named {twice[0]!r}. {hint}")
    if not found:
        raise UsageError("There is no run. Give at least one file.")
    return found


def _member(file: Path, name: str | None, columns: Mapping[str, str]) -> Member:
    table = in_blocks(File.open(file), columns)
    return Member(table, None if "reranker" in table.mapping else name)


def _expanded(path: str | PurePath, name: str | None) -> Iterator[tuple[str | None, Path]]:
    """Reranker and place of each file that a path means."""
    place = place_of(path)
    try:
        if place.is_dir():
            inside = [one for one in place.rglob("*") if one.is_file() and not one.name.startswith(("_", "."))]
            yield from ((name or place.name, one) for one in sorted(inside, key=str))
        elif place.is_file() or not _PATTERN.search(str(path)):
            yield name, place
        else:
            yield from ((name, one) for one in _matching(place))
    except (OSError, ValueError) as error:
        raise ReadError(str(path), f"cannot be looked at ({error})", "Check the path.") from error


def _matching(place: Path) -> list[Path]:
    """The files of a pattern, by name."""
    base = next(one for one in place.parents if not _PATTERN.search(str(one)))
    pattern = str(place)[len(str(base)) :].lstrip("/\\")
    found = sorted((one for one in base.glob(pattern) if one.is_file()), key=str)
    if not found:
        raise ReadError(str(place), "no file is there", "Check the pattern.")
    return found
