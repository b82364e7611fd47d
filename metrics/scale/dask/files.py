"""From paths, patterns, folders and URLs to the files of a dataset."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from urllib.parse import unquote

from metrics.errors import ReadError, UsageError
from metrics.runs import File, open_blocks
from metrics.runs.formats.block_table import BlockTable
from metrics.runs.reading.files import place_of

Paths = str | PurePath | Iterable[str | PurePath] | Mapping[str, str | PurePath]
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
        """Raise a UsageError where it has no such columns to break ties by."""
        table = self.table
        for name in numbers:
            if name not in table.extras and name not in table.mapping:
                there = ", ".join(table.extras) or "none"
                problem = f"there is no score column {name!r} to break ties by"
                raise UsageError(f"{table.file.name}: {problem}. There are: {there}.")


def members(
    paths: Paths, columns: Mapping[str, str], judgments: str | PurePath | None = None
) -> list[DatasetFile]:
    """The files of a dataset, in the order given, those of a pattern or a folder by name.

    Args:
        paths: paths, URLs, patterns such as `runs/*.parquet`, or folders whose files are parts of one
            table; as a mapping, of reranker to one of these: its files are parts of one run.
        columns: our column → the files', as in `read_runs`.
        judgments: a file that is no run, though a pattern or a folder may hold it.

    Raises:
        ReadError: nothing is there, or a file cannot be read in blocks.
        UsageError: two runs of one name.
    """
    named: Iterable[tuple[str | None, str | PurePath]]
    if isinstance(paths, Mapping):
        named = paths.items()
    else:
        named = [(None, path) for path in ([paths] if isinstance(paths, str | PurePath) else paths)]
    passed = None if judgments is None else place_of(judgments).resolve()
    found, names, partitions = list[DatasetFile](), Counter[str](), set[str]()
    for given, path in named:
        some = [
            (file, _member(file, given, folder, columns))
            for folder, file in _expanded(path)
            if file.resolve() != passed
        ]
        found += [member for _, member in some]
        names.update(member.reranker for _, member in some if member.is_alone)
        names.update({member.name for file, member in some if member.name and not _partition(file)})
        partitions |= {member.name for file, member in some if member.name and _partition(file)}
    names.update(partitions)
    if twice := [name for name, count in names.items() if count > 1]:
        raise _two_runs(twice[0])
    if not found:
        raise UsageError("There is no run. Give at least one file.")
    return found


def _two_runs(name: str) -> UsageError:
    """The error of rows of one reranker that are no parts of one run."""
    hint = "Rename one file, or put the parts of one run into a folder."
    return UsageError(f"There are two runs named {name!r}. {hint}")


def renamed(some: Sequence[DatasetFile], rerankers: Sequence[Collection[str]]) -> list[DatasetFile]:
    """The same, each as it was named where it is of one run alone; names in its rows tell several apart.

    Args:
        some: the files of a dataset.
        rerankers: those that the rows of each name.

    Raises:
        UsageError: two runs of one name, one of them named in its rows.
    """
    inside: dict[str | None, set[str]] = {}
    for one, names in zip(some, rerankers, strict=True):
        inside.setdefault(one.name, set()).update(names)
    found = [replace(one, name=None) if one.names and len(inside[one.name]) > 1 else one for one in some]
    pairs = list(zip(found, rerankers, strict=True))
    named = {name for one, names in pairs if one.name is None for name in names}
    if twice := [one.reranker for one in found if (one.name or not one.names) and one.reranker in named]:
        raise _two_runs(twice[0])
    return found


def _member(file: Path, given: str | None, folder: str | None, columns: Mapping[str, str]) -> DatasetFile:
    table = open_blocks(File.open(file), columns)
    return DatasetFile(table, given or (None if "reranker" in table.mapping else folder))


def _expanded(path: str | PurePath) -> Iterator[tuple[str | None, Path]]:
    """Each file that a path means, and the reranker that its folder names."""
    place = place_of(path)
    try:
        is_pattern = _PATTERN.search(str(path)) and not place.exists()
        for one in _matching(place) if is_pattern else [place]:
            folder = _called(one) if one.is_dir() else None
            for file in [one] if folder is None else _inside(one):
                yield _partition(file) or folder, file
    except ReadError:
        raise
    except (OSError, ValueError) as error:
        raise ReadError(str(path), f"cannot be looked at ({error})", "Check the path.") from error


def _matching(place: Path) -> list[Path]:
    """The files of a pattern by name, and the folders of which it has no file."""
    base = next(one for one in place.parents if not _PATTERN.search(str(one)) or one.is_dir())
    pattern = place.relative_to(base)
    found = [
        one for one in base.glob(str(pattern)) if _is_hidden(pattern) or not _is_hidden(one.relative_to(base))
    ]
    files = [one for one in found if one.is_file()]
    opened = {folder for one in files for folder in one.parents}
    return _by_name(place, [*files, *(one for one in found if one.is_dir() and one not in opened)])


def _inside(folder: Path) -> list[Path]:
    """The files of a folder and those below, by name."""
    found = [one for one in folder.rglob("*") if not _is_hidden(one.relative_to(folder))]
    return _by_name(folder, [one for one in found if one.is_file()])


def _by_name(given: Path, found: list[Path]) -> list[Path]:
    """What is there by name, `part-10` after `part-9`.

    Raises:
        ReadError: it is nothing.
    """
    if not found:
        raise ReadError(str(given), "no file is there", "Check the path.")
    return sorted(found, key=lambda one: _natural(str(one)))


def _natural(name: str) -> tuple[list[str | int], str]:
    """What names are sorted by: numbers in them by value."""
    return [int(one) if at % 2 else one for at, one in enumerate(_DIGITS.split(name))], name


def _is_hidden(path: Path) -> bool:
    """Whether tools leave out such a file: `_SUCCESS`, what lies in `_temporary` or `.git`."""
    return any(part.startswith(("_", ".")) for part in path.parts)


def _partition(file: Path) -> str | None:
    """The reranker that a folder such as `reranker=BM25` names, as Spark, Dask and Arrow write them."""
    named = (one.name.partition("=") for one in file.parents)
    return next((unquote(value) for key, _, value in named if key == "reranker" and value), None)


def _called(folder: Path) -> str:
    """The reranker of files without one in a folder: `runs/llm.parquet` gives `llm`."""
    return File(str(folder if folder.name.strip(".") else folder.resolve()), b"").stem
