"""Boards: runs and judgments that belong together, and how they are read and named."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TypeAlias

from dashboard.library.uploads import DROP_SELF, RULES, StoredFile, split_choices
from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.runs import (
    File,
    Repeated,
    Runs,
    Source,
    as_judgments,
    as_run,
    distinct_file_names,
    is_judgments,
    may_be_either,
    read,
    with_names,
    with_predictions,
)
from metrics.runs.files import FileProvenance, no_ranks
from metrics.runs.roles import Content, RolesError, column_roles
from metrics.support.cached import cached_property
from metrics.support.wording import count_of, first_names

MOST_FILES = 100
"""Maximum files of a board."""
_HASH = 12
"""Letters of the hash in the label of an unsaved board."""
_PER_ROW = 32
_LONGEST, _LONGEST_BOARD = 1000, 200

NamedPaths: TypeAlias = Iterable[str | Path | tuple[str | None, str | Path]]
"""Paths, or pairs of name and path."""
Columns: TypeAlias = tuple[tuple[str, str], ...]
"""Chosen columns (ours, the file's), and rules."""
Names: TypeAlias = tuple[tuple[str, str], ...]
"""(name in the files, shown name) of each shown reranker."""


@dataclass(frozen=True)
class Entry:
    """A file and how it is read. Its name becomes one that the database can store."""

    file: File
    columns: Columns = ()

    def __post_init__(self) -> None:
        if (name := file_name(self.file.name)) != self.file.name:
            object.__setattr__(self, "file", replace(self.file, name=name))

    @cached_property
    def key(self) -> str:
        """Hash of name, content and columns, which identifies a file of a board."""
        return self._hash(self.columns)

    @cached_property
    def columns_digest(self) -> str:
        """Hash like `key` without rules, which do not change the rerankers."""
        return self._hash(tuple(pair for pair in self.columns if pair[0] not in RULES))

    def _hash(self, columns: Columns) -> str:
        identity = f"{self.file.name} {self.file.sha256} {columns}"
        return sha256(identity.encode("utf-8", "replace")).hexdigest()

    def read(self) -> Source:
        """Return the content of the file; TieScopeError if it cannot be read."""
        source = self._load()
        if isinstance(self.file, StoredFile):
            source.origin.move(self.provenance(source))  # so that the bytes can go
        return source

    def _load(self) -> Source:
        columns, missing_score = split_choices(dict(self.columns))
        if isinstance(self.file, StoredFile):
            source = self.file.read(columns, missing_score)
        else:
            source = read(self.file, columns, missing_score=missing_score)
        source = _with_rows(source)
        return source.without_own_queries() if DROP_SELF in dict(self.columns) else source

    def provenance(self, source: Source) -> FileProvenance:
        """Return where rows are in the file, which is only read again if needed."""
        origin, first = cache(lambda: self._load().origin), _first_line(source)
        return FileProvenance(
            self.file.name,
            lambda row: origin().line_of(row) if first is None else first + row,
            source.origin.unit,
            no_ranks if source.origin.ranks is no_ranks else lambda: origin().ranks(),
        )


def _with_rows(source: Source) -> Source:
    """Return a source, or raise a ReadError if it has no rows."""
    if not len(source.table):
        raise ReadError(
            source.file, "the file has only a header", "Export it again and check its size.", line=1
        )
    return source


def _first_line(source: Source) -> int | None:
    """Return the line of the first row if rows are consecutive."""
    line_of, n_rows = source.origin.line_of, len(source.table)
    first = line_of(0)
    is_contiguous = all(line_of(row) == first + row for row in (min(1, n_rows - 1), n_rows - 1))
    return first if is_contiguous else None


@dataclass(frozen=True)
class BoardSpec:
    """Files of a board and how they are read.

    Attributes:
        names: shown rerankers in order; None for all.
    """

    entries: tuple[Entry, ...]  # files and how they are read
    repeated: Repeated = "error"  # rule for documents that are repeated in a list
    names: Names | None = None
    title: str = ""  # name of the board; empty for a default name

    @classmethod
    def of(cls, files: Sequence[File]) -> "BoardSpec":
        """Return a spec of files with recognized columns."""
        return cls(tuple(Entry(file) for file in files))

    @cached_property
    def key(self) -> str:
        """Hash of the files in order and of the choices, which determine the board.

        Of repeated documents the first file is kept, and files of one name are numbered in order.
        """
        parts = [*(entry.key for entry in self.entries), self.repeated, repr(self.names)]
        return sha256("\n".join(parts).encode()).hexdigest()

    def with_choices_of(self, before: "BoardSpec | None") -> "BoardSpec":
        """Return the spec with the choices made earlier for the same files."""
        if before is None:
            return self
        choices = {entry.file.sha256: entry.columns for entry in before.entries}
        entries = tuple(
            replace(entry, columns=choices.get(entry.file.sha256, entry.columns)) for entry in self.entries
        )
        return replace(self, entries=entries, repeated=before.repeated)

    def with_columns(self, position: int, columns: Mapping[str, str]) -> "BoardSpec":
        """Return the spec with the columns of one file, keeping its rules."""
        entries = list(self.entries)
        rules = {name: rule for name, rule in entries[position].columns if name in RULES}
        choices = {name: choice for name, choice in {**rules, **columns}.items() if choice or name not in RULES}
        entries[position] = replace(entries[position], columns=tuple(sorted(choices.items())))
        return replace(self, entries=tuple(entries), names=None, title="")

    def with_rule(self, position: int, name: str, rule: str) -> "BoardSpec":
        """Return the spec with a rule for one file, one of `RULES`, or without it if empty."""
        return self.with_columns(position, {**dict(self.entries[position].columns), name: rule})

    def with_files(self, other: "BoardSpec") -> "BoardSpec":
        """Return the spec with further files; a file replaces one of the same name."""
        new_names = {entry.file.name for entry in other.entries}
        staying = (entry for entry in self.entries if entry.file.name not in new_names)
        return BoardSpec((*staying, *other.entries), self.repeated)

    def without_file(self, position: int) -> "BoardSpec":
        """Return the spec without one file."""
        return BoardSpec((*self.entries[:position], *self.entries[position + 1 :]), self.repeated)


@dataclass(frozen=True, eq=False)
class Board:
    """Runs and judgments that belong together."""

    label: str  # name and hash or ID, shown in the sidebar and in links
    spec: BoardSpec  # its files and how they are read
    sources: tuple[Source, ...]  # content of each file
    runs: Runs  # the joined runs
    n_queries: int  # number of judged queries, or of all queries without judgments

    @property
    def key(self) -> str:
        """Hash of the content, independent of names; results are cached under it."""
        return self.spec.key

    @property
    def files(self) -> list[File]:
        """The files, as uploaded."""
        return [entry.file for entry in self.spec.entries]

    @property
    def size(self) -> int:
        """Approximate bytes of files, tables and row indices."""
        tables = sum(source.table.nbytes + _PER_ROW * len(source.table) for source in self.sources)
        return int(tables) + sum(file.size for file in self.files)


def join_runs(spec: BoardSpec, sources: Sequence[Source]) -> Runs:
    """Join the sources of a board, which may lack judgments; TieScopeError if they do not match."""
    has_runs = any(source.kind == "run" for source in sources)
    is_judged = any(
        source.kind == "qrels" or source.judgments or "relevance" in source.table.column_names
        for source in sources
    )
    runs = Runs.from_sources(sources, spec.repeated, judged=is_judged or not has_runs)
    return runs if spec.names is None else runs.arranged(dict(spec.names))


def with_roles(
    spec: BoardSpec,
    sources: Sequence[Content],
    read_entry: Callable[[Entry], Content],
    **options: bool,
) -> BoardSpec:
    """Return the spec with the columns that the files together tell; a RolesError if the visitor has to.

    `options` are those of `column_roles`.
    """
    chosen = {
        at for at, entry in enumerate(spec.entries) if {"score", "relevance"} & dict(entry.columns).keys()
    }

    def with_columns(spec: BoardSpec, at: int, columns: Mapping[str, str]) -> BoardSpec:
        return spec.with_columns(at, {**dict(spec.entries[at].columns), **columns})

    try:
        roles = column_roles(
            sources, lambda at, columns: read_entry(with_columns(spec, at, columns).entries[at]), **options
        )
    except RolesError as question:
        if chosen.issuperset(question.places):
            return spec
        raise
    for at, columns in roles.items():
        if at not in chosen:
            spec = with_columns(spec, at, columns)
    return spec


def make_board(spec: BoardSpec, sources: Sequence[Source], runs: Runs | None = None) -> Board:
    """Return the board of files that were read."""
    runs = runs or join_runs(spec, sources)
    board = Board("", spec, tuple(sources), runs, len(runs.every_query))
    return replace(board, label=spec.title or f"{default_name(board)} · {spec.key[:_HASH]}")


def keep_arrangement(board: Board, before: BoardSpec) -> Board:
    """Return a board with the earlier names and order of rerankers, followed by new rerankers."""
    if before.names is None:
        return board
    known_files = {(entry.file.name, entry.file.sha256) for entry in before.entries}
    new_files = {file.name for file in board.files if (file.name, file.sha256) not in known_files}
    arranged = [(first, now) for first, now in before.names if first in board.runs.tables]
    firsts = [first for first, _ in arranged]
    notes = {finding.code for finding in board.runs.noted}  # names change where a new file has one of them
    are_renamed = len(arranged) < len(before.names) and "runs-renamed" in notes
    new = [
        (name, name)
        for name in board.runs.rerankers
        if name not in firsts and (are_renamed or board.runs.origins[name].file in new_files)
    ]
    if conflicts := {name for name, _ in new} & {now for _, now in arranged}:
        raise UsageError(
            f"{min(conflicts)!r} is the name of another reranker. Every reranker needs a unique name."
        )
    return make_board(replace(board.spec, names=(*arranged, *new)), board.sources)


_SAYS_NOTHING = {"run", "runs", "result", "results", "reranked", "reranker", "trec", "output"}
"""Words of run names that do not name a collection."""
_SHORT = 40
"""Letters up to which a default name lists runs."""


def default_name(board: Board) -> str:
    """Return the default name of a board: what it holds, as `new vs old` or `scifact · 7 runs`."""
    names = list(board.runs.tables)
    if not names:
        return queries_text(board.n_queries)
    words = [re.findall(r"[^\W_]+(?:\.[^\W_]+)*", name) for name in names]
    shared = [word for word in words[0] if all(word in others for others in words)]
    files = {origin.file for origin in board.runs.origins.values()}
    subject_words = [word for word in shared if word.casefold() not in _SAYS_NOTHING and not word.isdigit()]
    subject = PurePath(min(files)).name.partition(".")[0] if len(files) == 1 else " ".join(subject_words)
    if len(names) == 2:  # noqa: PLR2004 a pair
        own = [" ".join(word for word in own_words if word not in shared) for own_words in words]
        name = " vs ".join(own if all(own) and own[0] != own[1] else names)
    elif len(names) > 1 and subject:
        name = f"{subject} · {len(names):,} runs"
    elif len(names) > 1 and len(first_names(names)) > _SHORT:
        name = f"{count_of(len(names), 'run')}, {queries_text(board.n_queries)}"
    else:
        name = first_names(names)
    return board_name(name)


def queries_text(count: int) -> str:
    """Return a number of queries in words."""
    return count_of(count, "query")


def open_files(paths: NamedPaths, qrels: str | Path | None, title: str = "") -> Board:
    """Read local files and join them to a board."""
    named_paths = with_names(paths)
    distinct_names = distinct_file_names([path for _, path in named_paths])
    files = []
    for (name, path), distinct_name in zip(named_paths, distinct_names, strict=True):
        file = File.open(path)
        own_name = name + file.name.removeprefix(file.stem) if name else distinct_name or file.name
        files.append(replace(file, name=file_name(own_name)))
    spec = BoardSpec.of(files)
    contents = [_content(entry) for entry in spec.entries]
    spec = with_roles(spec, contents, _content, judged=bool(qrels), has_run=True)
    judgments = File.open(qrels) if qrels else None
    judged = [as_judgments(_with_rows(read(judgments, strict=False)))] if judgments else []
    contents = [
        _content(entry) if entry.columns else content
        for entry, content in zip(spec.entries, contents, strict=True)
    ]
    entries, sources = [], []
    for entry, source, (name, path) in zip(
        spec.entries, with_predictions(contents, judged), named_paths, strict=True
    ):
        if isinstance(source, TieScopeError):
            raise source
        if is_judgments(source, path, qrels):
            continue
        is_run = source.kind == "run" or qrels or name or len(files) == 1 or may_be_either(source)
        sources.append(as_run(source) if is_run else source)
        entries.append(replace(entry, columns=entry.columns or _role(sources[-1])))
    if judgments:
        sources += judged
        entries.append(Entry(judgments, _role(sources[-1])))
    return make_board(BoardSpec(tuple(entries), title=title), sources)


def _content(entry: Entry) -> Content:
    try:
        return _with_rows(read(entry.file, dict(entry.columns), strict=False))
    except ReadError as error:
        return error


def _role(source: Source) -> Columns:
    """Return the choices that the file's content does not imply and that read it again in its role."""
    if may_be_either(source):
        return tuple(sorted(source.mapping.items()))
    return (("score", ""),) if source.kind == "qrels" and "score" in source.mapping else ()


def clean(text: str, longest: int = _LONGEST) -> str:
    """Return a user's text without control characters and surrounding spaces, shortened."""
    return _plain(text).strip()[:longest].strip()


def board_name(text: str) -> str:
    """Return a valid board name."""
    return clean(text, _LONGEST_BOARD)


def copy_name(name: str) -> str:
    """Return the name of a board's copy."""
    end = ", copy"
    return clean(name, _LONGEST_BOARD - len(end)) + end


def file_name(text: str) -> str:
    """Return a valid file name; surrounding spaces are significant."""
    return _plain(text)[:_LONGEST]


def _plain(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
