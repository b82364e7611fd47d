"""Boards: runs and judgments that belong together, and what they are made from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from dashboard.library.arrangement import Names, arranged_runs, repeats_of
from dashboard.library.entry import Columns, Entry
from dashboard.library.storage.stored_upload import MISSING_SCORE
from metrics.errors import ReadError, UsageError
from metrics.runs import (
    File,
    MissingScore,
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
)
from metrics.support.cached import cached_property
from metrics.support.wording import count_of

MOST_FILES = 100
"""Files of one board at most."""
_HASH = 12
"""Letters of its hash in the label of a board that has no id yet."""
_PER_ROW = 32

NamedPaths: TypeAlias = Iterable[str | Path | tuple[str | None, str | Path]]
"""Paths, or pairs of a name and a path."""


@dataclass(frozen=True)
class BoardSpec:
    """What a board is made from.

    Attributes:
        entries: files and how they are read.
        repeated: what is done about a document twice in one list.
        names: rerankers kept, in order: their name in the files, and the one shown; all where None. Those
            shown under one name are repeats of one reranker, which are combined.
        title: what the board is called; else it is told by its size and hash.
    """

    entries: tuple[Entry, ...]
    repeated: Repeated = "error"
    names: Names | None = None
    title: str = ""

    @classmethod
    def of(cls, files: Sequence[File]) -> "BoardSpec":
        """Return files read as they are recognised."""
        return cls(tuple(Entry(file) for file in files))

    @cached_property
    def digest(self) -> str:
        """Hash of its files and of what was chosen, whatever the order of the files."""
        return self._hash([entry.digest for entry in self.entries])

    @cached_property
    def key(self) -> str:
        """Hash of all that shapes the board, whatever the order of the files; results are kept under it."""
        return self._hash([entry.key for entry in self.entries])

    def _hash(self, entries: list[str]) -> str:
        parts = [*sorted(entries), self.repeated, repr(self.names)]
        return sha256("\n".join(parts).encode()).hexdigest()

    def with_choices_of(self, before: "BoardSpec | None") -> "BoardSpec":
        """Return the spec with the choices that were made for the same files before."""
        if before is None:
            return self
        choices = {entry.file.sha256: entry.columns for entry in before.entries}
        entries = tuple(
            replace(entry, columns=choices.get(entry.file.sha256, entry.columns)) for entry in self.entries
        )
        return replace(self, entries=entries, repeated=before.repeated)

    def with_columns(self, position: int, columns: Mapping[str, str]) -> "BoardSpec":
        """Return the spec with one file's columns chosen; what is done about missing scores stays as it is."""
        entries = list(self.entries)
        rule = {name: value for name, value in entries[position].columns if name == MISSING_SCORE}
        entries[position] = replace(entries[position], columns=tuple(sorted({**rule, **columns}.items())))
        return replace(self, entries=tuple(entries), names=None, title="")

    def with_missing_score(self, position: int, rule: MissingScore) -> "BoardSpec":
        """Return the spec with what is done about scores of one file that are no numbers."""
        return self.with_columns(position, {**dict(self.entries[position].columns), MISSING_SCORE: rule})

    def with_files(self, other: "BoardSpec") -> "BoardSpec":
        """Return the spec with more files; a file of a name that is there takes its place."""
        new_names = {entry.file.name for entry in other.entries}
        staying = (entry for entry in self.entries if entry.file.name not in new_names)
        return BoardSpec((*staying, *other.entries), self.repeated)

    def arranged(self, names: Mapping[str, str]) -> "BoardSpec":
        """Return the spec with rerankers renamed, ordered and left out: shown now → shown then."""
        before: dict[str, list[str]] = {}
        for first, now in self.names or ():
            before.setdefault(now, []).append(first)
        pairs = tuple((first, new) for old, new in names.items() for first in before.get(old, [old]))
        return replace(self, names=pairs, title="")

    @property
    def repeats(self) -> dict[str, list[str]]:
        """Reranker shown → those of the files that are its repeats, two or more."""
        return repeats_of(self.names or ())

    def separated(self) -> "BoardSpec":
        """Return the spec with repeats as rerankers of their own, named as in the files.

        A reranker that was given such a name since has its own of the files again.
        """
        names = self.names or ()
        own = {first for first, now in names if now in self.repeats}
        while taken := {first for first, now in names if now in own and first not in own}:
            own |= taken
        pairs = tuple((first, first if first in own else now) for first, now in names)
        return replace(self, names=pairs, title="")

    def without_file(self, position: int) -> "BoardSpec":
        """Return the spec without one file."""
        return BoardSpec((*self.entries[:position], *self.entries[position + 1 :]), self.repeated)


@dataclass(frozen=True, eq=False)
class Board:
    """Runs and judgments that belong together.

    Attributes:
        label: name and hash or number: what the sidebar shows and a link carries.
        spec: what it was made from.
        sources: what each file held.
        runs: all of them joined.
        n_queries: queries of the judgments, else of all runs together.
    """

    label: str
    spec: BoardSpec
    sources: tuple[Source, ...]
    runs: Runs
    n_queries: int

    @property
    def key(self) -> str:
        """What tells its content from any other, whatever it is called; results are kept under it."""
        return self.spec.key

    @property
    def files(self) -> list[File]:
        """The files, as given."""
        return [entry.file for entry in self.spec.entries]

    @property
    def first_view(self) -> dict[str, str]:
        """What it is opened with until somebody saves another view; nothing where controls start so anyway."""
        return {} if self.runs.tie_order == "input" else {"order": self.runs.tie_order}

    @property
    def size(self) -> int:
        """Bytes it holds, about: its files, its tables, and what is kept to look up their rows."""
        tables = sum(source.table.nbytes + _PER_ROW * len(source.table) for source in self.sources)
        return int(tables) + sum(file.size for file in self.files)


def join_runs(spec: BoardSpec, sources: Sequence[Source]) -> Runs:
    """Join files that were read; TieScopeError where they do not go together."""
    for source in sources:
        if not len(source.table):
            raise ReadError(
                source.file, "there is a header and no row", "Export it again and check its size.", line=1
            )
    runs = Runs.from_sources(sources, spec.repeated)
    return runs if spec.names is None else arranged_runs(runs, spec.names)


def make_board(spec: BoardSpec, sources: Sequence[Source], runs: Runs | None = None) -> Board:
    """Return the board of files that were read.

    Args:
        spec: of the board.
        sources: what its files hold.
        runs: they joined, where that is done.

    Raises:
        TieScopeError: they do not go together.
    """
    runs = runs or join_runs(spec, sources)
    board = Board("", spec, tuple(sources), runs, len(runs.every_query))
    return replace(board, label=spec.title or f"{default_name(board)} · {spec.key[:_HASH]}")


def keep_arrangement(board: Board, before: BoardSpec) -> Board:
    """Return a board that more files came to: rerankers keep names and order, new ones follow.

    Args:
        board: of all files, nothing renamed.
        before: what it was made from until now.

    Raises:
        TieScopeError: a new reranker has a name that was given to another.
    """
    if before.names is None:
        return board
    known_files = {(entry.file.name, entry.file.sha256) for entry in before.entries}
    new_files = {file.name for file in board.files if (file.name, file.sha256) not in known_files}
    arranged = [(first, now) for first, now in before.names if first in board.runs.tables]
    firsts = [first for first, _ in arranged]
    notes = {finding.code for finding in board.runs.noted}  # names change where a new file has one of them
    is_told_apart = len(arranged) < len(before.names) and "runs-told-apart" in notes
    new = [
        (name, name)
        for name in board.runs.rerankers
        if name not in firsts and (is_told_apart or board.runs.origins[name].file in new_files)
    ]
    if taken := {name for name, _ in new} & {now for _, now in arranged}:
        raise UsageError(f"{min(taken)!r} is another reranker here: every reranker needs a name of its own.")
    return make_board(replace(board.spec, names=(*arranged, *new)), board.sources)


def default_name(board: Board) -> str:
    """Return what a board without a name is called: its size."""
    return f"{count_of(len(board.runs.tables), 'run')}, {queries_text(board.n_queries)}"


def queries_text(count: int) -> str:
    """Return a number of queries in words."""
    return count_of(count, "query")


def open_files(paths: NamedPaths, qrels: str | None, title: str = "") -> Board:
    """Read files on disk and join them to a board.

    Args:
        paths: of the runs, perhaps after the names their files are called by; may name the judgments, too.
        qrels: of the judgments.
        title: what the board is called; else it is told by its size.

    Returns:
        The board, not kept yet.

    Raises:
        TieScopeError: one cannot be read, or they do not go together.
    """
    entries, sources = read_files(paths, qrels)
    return make_board(BoardSpec(entries, title=title), sources)


def read_files(
    paths: NamedPaths, qrels: str | Path | None, columns: Mapping[str, str] | None = None
) -> tuple[tuple[Entry, ...], tuple[Source, ...]]:
    """Read runs and judgments on disk, each with the choice that reads it as what it is given as.

    Args:
        paths: of the runs, perhaps after the names their files are called by; may name the judgments, too.
        qrels: of the judgments.
        columns: our column → the files', where they have it.

    Returns:
        The files with their choices, and what they hold, in one order.

    Raises:
        TieScopeError: one cannot be read.
    """
    files, sources = [], []
    named_paths = with_names(paths)
    file_names = distinct_file_names([path for _, path in named_paths])
    for (name, path), file_name in zip(named_paths, file_names, strict=True):
        file = File.open(path)
        own_name = name + file.name.removeprefix(file.stem) if name else file_name or file.name
        file = replace(file, name=own_name)
        source = read(file, columns, strict=False)
        if not is_judgments(source, path, qrels):
            files.append(file)
            sources.append(as_run(source))
    if qrels:
        files.append(File.open(qrels))
        sources.append(as_judgments(read(files[-1], columns, strict=False)))
    choices = [_read_as(source, columns or {}) for source in sources]
    return tuple(map(Entry, files, choices)), tuple(sources)


def _read_as(source: Source, columns: Mapping[str, str]) -> Columns:
    """Return the choice that reads a file as it was read, where its own content would not."""
    if may_be_either(source):
        return tuple(sorted(source.mapping.items()))
    choice = {ours: theirs for ours, theirs in columns.items() if not theirs or theirs in source.header}
    if source.kind == "qrels" and "score" in source.mapping:
        choice["score"] = ""
    return tuple(sorted(choice.items()))
