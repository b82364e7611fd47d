"""Names as any database can hold them: of boards, of files, and of the rerankers that files name."""

from collections.abc import Sequence
from dataclasses import replace

from dashboard.library.boards import BoardSpec
from dashboard.library.entry import Entry
from metrics.runs import File, Source

_LONGEST, _LONGEST_BOARD = 1000, 200


def clean(text: str, longest: int = _LONGEST) -> str:
    """Return a user's text, at most so long, without spaces at its ends."""
    return _plain(text).strip()[:longest].strip()


def board_name(text: str) -> str:
    """Return the name of a board."""
    return clean(text, _LONGEST_BOARD)


def copy_name(name: str) -> str:
    """Return the name of a copy of a board."""
    end = ", copy"
    return clean(name, _LONGEST_BOARD - len(end)) + end


def file_name(text: str) -> str:
    """Return the name of a file: spaces at its ends tell it from others."""
    return _plain(text)[:_LONGEST]


def storable(spec: BoardSpec, sources: Sequence[Source]) -> tuple[BoardSpec, tuple[Source, ...]]:
    """Return spec and sources with file names as they are kept, so the same when opened again."""
    if all(file_name(entry.file.name) == entry.file.name for entry in spec.entries):
        return spec, tuple(sources)
    names = spec.names
    if names is not None:
        stems = dict(map(_stems, (one for one in sources if "reranker" not in one.table.column_names)))
        names = tuple((stems.get(first, first), now) for first, now in names)
    entries = tuple(map(_entry, spec.entries))
    return replace(spec, entries=entries, names=names), tuple(map(_source, sources))


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _stems(source: Source) -> tuple[str, str]:
    """Return what a file calls its reranker, and what it does under the name that is kept."""
    return File(source.file, b"").stem, File(file_name(source.file), b"").stem


def _entry(entry: Entry) -> Entry:
    return replace(entry, file=replace(entry.file, name=file_name(entry.file.name)))


def _source(source: Source) -> Source:
    name = file_name(source.file)
    noted = tuple(replace(one, file=name) for one in source.noted)
    return replace(source, origin=replace(source.origin, file=name), noted=noted)
