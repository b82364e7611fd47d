"""Cached calls into metrics: keyed by the hash of what was uploaded and by parameters, never by the data."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.library.board_file import Imported, load
from dashboard.library.boards import Board, BoardSpec, Entry, join_runs, make_board, open_files
from dashboard.library.loaded import LoadedBoards
from dashboard.library.records import Record
from dashboard.library.store import Library
from dashboard.library.turns import DEAR_BYTES, DEAR_ROWS, turn
from dashboard.server.board_results import board_results, cached_by_key, cached_for_board
from metrics import Evaluation
from metrics.errors import LibraryError, ReadError, TieScopeError, UsageError
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import File, Runs, Source, named_judgments
from metrics.studies.leaderboard import query_segments
from metrics.ties import Ranking

_SAMPLE_DATA = next(
    path for folder in Path(__file__).parents[:2] if (path := folder / "sample_data").is_dir()
)  # inside this package where it is installed, beside it in the repository
SAMPLE_LABEL, SIMULATED_LABEL = "Sample: docstring search", "Sample: simulated rerankers"
PROMPTS_LABEL = "Sample: five prompts"
SAMPLES = {
    SAMPLE_LABEL: _SAMPLE_DATA / "docsearch" / "docsearch.parquet",
    SIMULATED_LABEL: _SAMPLE_DATA / "llm_rerankers.csv",
    PROMPTS_LABEL: _SAMPLE_DATA / "docsearch" / "prompts.parquet",
}
"""Data there is without any upload; the app opens on the first."""
MEASURES = ("RR", "RR@10", "AP", "nDCG@10", "P@10", "R@10", "Hits@1", "Hits@3", "Hits@5", "Hits@10")
"""Measures that are scored at once."""
OFFERED = ("RR", "AP", "nDCG@10", "R@10", "Hits@10")
"""Those in sight; the others are a click away."""
TRADITIONAL = ("input", "docid_desc", "docid_asc", "optimistic", "pessimistic", "random:0")
"""Treatments the pages offer as the traditional one."""
_TIES = ("expected", *TRADITIONAL)


class ViewKey(NamedTuple):
    """What of the data is shown: enough to tell one view from another.

    Attributes:
        key: of the board.
        scoring: how lists are scored.
        rerankers: those shown, in order.
        segments: those shown, none where all are.
    """

    key: str
    scoring: ScoringOptions
    rerankers: tuple[str, ...]
    segments: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShownBoard:
    """What is shown of a board, and how it is scored.

    Attributes:
        board: the data.
        rerankers: those shown, in order.
        scoring: how lists are scored.
        evaluation: the values shown; its lists are those counted.
        segments: those shown, none where all are.
    """

    board: Board
    rerankers: list[str]
    scoring: ScoringOptions
    evaluation: Evaluation
    segments: tuple[str, ...]

    @property
    def key(self) -> ViewKey:
        """What tells this view from another, whatever page it is seen on."""
        return ViewKey(self.board.key, self.scoring, tuple(self.rerankers), self.segments)

    @property
    def queries(self) -> set[str] | None:
        """The queries shown; None where no segment is chosen, so that all are."""
        return set(self.evaluation.scores.index.get_level_values("query_id")) if self.segments else None

    @property
    def runs(self) -> Runs:
        """The runs of the rerankers that are shown."""
        runs = self.board.runs
        is_whole = self.rerankers == runs.rerankers
        return runs if is_whole else runs.arranged({name: name for name in self.rerankers})

    def ranking(self, reranker: str) -> Ranking:
        """Return the lists of a reranker, cut into tie groups as they are scored."""
        return ranking(self.board, reranker, self.scoring)

    def score(self, measures: str | Sequence[str], ties: str | Sequence[str]) -> Evaluation:
        """Return further values of what is shown; scores all of the board, in turn."""
        with board_turn(self.board):
            evaluation = score_runs(self.board.runs, measures, ties, self.scoring)
        return evaluation.only(self.rerankers, self.queries)


@st.cache_resource(show_spinner=False)
def open_library() -> Library:
    """Return the library: on this server, or in the database it was told of.

    Raises:
        LibraryError: the environment asks for what cannot be.
    """
    library = Library.open()
    with suppress(LibraryError):
        library.sweep()
    return library


@st.cache_resource(show_spinner=False)
def loaded_boards() -> LoadedBoards:
    """Return the boards in memory."""
    return LoadedBoards()


def load_record(record: Record) -> Board:
    """Return a board that was kept; TieScopeError where a file of it cannot be read (any more)."""
    board = loaded_boards().get(record.spec.key)
    if board is None:
        built = build_board(record.spec, [read_entry(entry) for entry in record.spec.entries])
        if isinstance(built, TieScopeError):
            raise built
        board = loaded_boards().hold(built)
    _note_loaded(board)
    return replace(board, label=record.label)


def update_loaded(board: Board, record: Record) -> None:
    """Hold a board just kept as the library gives it back: it is not read again."""
    if board.key == record.spec.key:
        for source, entry in zip(board.sources, record.spec.entries, strict=True):
            source.origin.move(entry.provenance(source))  # so that the bytes can go
        loaded_boards().hold(kept := replace(board, spec=record.spec))
        _note_loaded(kept)


def _note_loaded(board: Board) -> None:
    """Have a board that the library keeps leave memory with the last page that shows it."""
    board_results.weigh(board.key, sum(source.table.nbytes for source in board.sources))
    board_results.note(board.key, loaded_boards().drop, board.key)


@st.cache_resource(show_spinner=False)
def sample_board(label: str = SAMPLE_LABEL) -> Board:
    """Return one of the sample boards, read when it is first asked for."""
    return open_files([str(SAMPLES[label])], None, label)


def read_entry(entry: Entry) -> Source | TieScopeError:
    """Return what one file holds, or why it cannot be read."""
    try:
        return _source(entry)
    except LibraryError as error:  # not kept: the next try may find it mended
        return error


@cached_by_key(show_spinner=False, max_entries=32)
def _source(entry: Entry) -> Source | TieScopeError:
    try:
        with turn(is_dear=entry.file.size >= DEAR_BYTES):
            return entry.read()
    except (ReadError, UsageError) as error:
        return error


@cached_for_board(show_spinner="Unpacking …", max_entries=4)
def load_board_file(sha256: str, _file: File) -> Imported | TieScopeError:
    """Return the board a file holds that somebody exported, or why it cannot be read."""
    try:
        with turn(is_dear=_file.size >= DEAR_BYTES):
            return load(_file)
    except TieScopeError as error:
        return error


def build_board(spec: BoardSpec, sources: Sequence[Source | TieScopeError]) -> Board | TieScopeError:
    """Return the board of a spec whose files hold these sources, or the first error."""
    error = next((source for source in sources if isinstance(source, TieScopeError)), None)
    if error is not None:
        return error
    read = [source for source in sources if isinstance(source, Source)]
    runs = _join(spec, read)
    return runs if isinstance(runs, TieScopeError) else make_board(spec, read, runs)


@cached_by_key(show_spinner="Joining …", max_entries=4)
def _join(spec: BoardSpec, _sources: Sequence[Source]) -> Runs | TieScopeError:
    """Return the runs of a board: of the board itself, the files as given would stay in memory."""
    try:
        with turn(is_dear=_n_rows(_sources) >= DEAR_ROWS):
            return join_runs(spec, _sources)
    except TieScopeError as error:
        return error


def evaluation(
    board: Board, scoring: ScoringOptions = AS_READ, measures: tuple[str, ...] = MEASURES
) -> Evaluation:
    """Return measures under every treatment the pages offer.

    Args:
        board: the data.
        scoring: how lists are scored.
        measures: their names.
    """
    return _evaluation(board.key, board, scoring, measures)


@cached_for_board(show_spinner="Scoring every order …", max_entries=12)
def _evaluation(key: str, _board: Board, scoring: ScoringOptions, measures: tuple[str, ...]) -> Evaluation:
    with board_turn(_board):
        return score_runs(_board.runs, measures, _TIES, scoring)


def _n_rows(sources: Sequence[Source]) -> int:
    return sum(len(source.table) for source in sources)


def board_turn(board: Board) -> AbstractContextManager[None]:
    """Return a turn for work on all rows of a board, waited for where these are many."""
    return turn(is_dear=_n_rows(board.sources) >= DEAR_ROWS)


@cached_by_key(show_spinner=False, max_entries=16)
def ranking(board: Board, reranker: str, scoring: ScoringOptions) -> Ranking:
    """Return the lists of one reranker, cut into tie groups.

    Args:
        board: the data.
        reranker: whose lists.
        scoring: how lists are scored.
    """
    return scoring.ranking(board.runs, reranker)


@cached_by_key(show_spinner=False, max_entries=16)
def segments(board: Board) -> "pd.Series[str]":
    """Return query → its segment, of those that have one."""
    return query_segments(board.runs)


@cached_by_key(show_spinner=False, max_entries=16)
def lookalike_text(board: Board) -> str:
    """Return the sentence that names the data sets whose judgments a board seems to have, or nothing."""
    runs = board.runs
    if runs.qrels is None:
        return ""
    return named_judgments.lookalike_text(len(runs.judged_pairs.queries), runs.qrels["relevance"].to_numpy())


@cached_by_key(show_spinner=False, max_entries=16)
def grade_counts(board: Board) -> dict[float, int]:
    """Return grade above 0 → how many judgments have it; where lists hold their grades, how many rows."""
    runs = board.runs
    tables = [runs.qrels] if runs.qrels is not None else list(runs.tables.values())
    grades = np.concatenate([table["relevance"].to_numpy() for table in tables])
    values, counts = np.unique(grades[grades > 0], return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


@cached_by_key(show_spinner="Looking for what is odd …", max_entries=8)
def findings(board: Board) -> pd.DataFrame:
    """Return what is worth knowing of a board's runs."""
    with board_turn(board):
        return board.runs.findings


def file_version(path: Path) -> tuple[str, int, int]:
    """Return what tells a file from what it was before it changed: path, time of change, size.

    Raises:
        ReadError: it is gone.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise ReadError(path.name, "it is gone", "Open it again.") from error
    return str(path), status.st_mtime_ns, status.st_size
