"""Cached calls into metrics, keyed by content hashes and parameters instead of data."""

import json
import os
import pickle
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from dashboard.library.boards import (
    Board,
    BoardSpec,
    Entry,
    join_runs,
    keep_arrangement,
    make_board,
    open_files,
)
from dashboard.library.loaded import LoadedBoards
from dashboard.library.records import Record
from dashboard.library.store import Library
from dashboard.library.turns import DEAR_BYTES, DEAR_ROWS, turn
from dashboard.settings import OPEN
from metrics.errors import LibraryError, ReadError, TieScopeError, UsageError
from metrics.evaluation import Evaluation, ScoringOptions, score_runs
from metrics.runs import Runs, Source, with_predictions
from metrics.studies.leaderboard import query_segments
from metrics.studies.pair_findings import Verdicts, verdicts
from metrics.studies.pairs import Family
from metrics.ties import Ranking

_SAMPLE_DATA = next(
    path for folder in Path(__file__).parents[:2] if (path := folder / "sample_data").is_dir()
)  # part of the installed package, but a sibling in the repository
SAMPLE_LABEL, SIMULATED_LABEL = "Sample: docstring search", "Sample: simulated rerankers"
PROMPTS_LABEL = "Sample: five prompts"
SAMPLES = {
    SAMPLE_LABEL: _SAMPLE_DATA / "docsearch" / "docsearch.parquet",
    SIMULATED_LABEL: _SAMPLE_DATA / "llm_rerankers.csv",
    PROMPTS_LABEL: _SAMPLE_DATA / "docsearch" / "prompts.parquet",
}
"""Boards without an upload; the app opens the first."""
MEASURES = ("RR", "RR@10", "AP", "nDCG@10", "P@10", "R@10", "Hits@1", "Hits@3", "Hits@5", "Hits@10")
"""Measures that are scored together."""
OFFERED = ("RR", "AP", "nDCG@10", "R@10", "Hits@10")
"""Measures shown directly; the others are one click away."""
TRADITIONAL = ("input", "docid_desc", "docid_asc", "optimistic", "pessimistic", "random:0")
"""Tie orders offered for the traditional score."""
_TIES = ("expected", *TRADITIONAL)
_SECONDS = 1800
"""Seconds for which results are cached."""


P = ParamSpec("P")
Result = TypeVar("Result")


@dataclass(frozen=True)
class ShownBoard:
    """The part of a board that is shown, and how it is scored."""

    board: Board  # the data
    rerankers: list[str]  # shown rerankers, in order
    scoring: ScoringOptions  # how lists are scored
    evaluation: Evaluation  # scores of the shown rerankers and queries
    segments: tuple[str, ...]  # shown query groups; all if empty

    @cached_property
    def key(self) -> str:
        """Identity of this view on all pages, a text because caches hash it fastest."""
        return repr((self.board.key, self.scoring, self.rerankers, self.segments))

    @property
    def queries(self) -> set[str] | None:
        """The shown queries; None if all are shown."""
        return set(self.evaluation.scores.index.get_level_values("query_id")) if self.segments else None

    @property
    def runs(self) -> Runs:
        """The runs of the shown rerankers."""
        runs = self.board.runs
        is_whole = self.rerankers == runs.rerankers
        return runs if is_whole else runs.arranged({name: name for name in self.rerankers})

    def ranking(self, reranker: str) -> Ranking:
        """Return a reranker's lists, cut into tie groups."""
        return ranking(self.board, reranker, self.scoring)

    def score(self, measures: str | Sequence[str], ties: str | Sequence[str]) -> Evaluation:
        """Return further scores of the shown part; scores the whole board, waiting for a turn."""
        with board_turn(self.board):
            evaluation = score_runs(self.board.runs, measures, ties, self.scoring)
        return evaluation.only(self.rerankers, self.queries)

    def study(self, study: Callable[..., Result], *args: object, **options: object) -> Result:
        """Return a study of the shown scores, cached by its name and arguments."""
        result: Result = _study(self, _name_of(study), args, tuple(options.items()), study)
        return result


def cached(
    *, max_entries: int, show_spinner: str | bool = False
) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Return `st.cache_resource` for functions of boards, views, files or texts; `_...` are not hashed."""
    key = attrgetter("key")
    return cast(
        "Callable[[Callable[P, Result]], Callable[P, Result]]",
        st.cache_resource(
            ttl=_SECONDS,
            max_entries=max_entries,
            show_spinner=show_spinner,
            hash_funcs={Board: key, BoardSpec: key, Entry: key, ShownBoard: key, "dashboard.choices.View": key},
        ),
    )


Options: TypeAlias = tuple[tuple[str, object], ...]


def _name_of(study: Callable[..., object]) -> str:
    return f"{study.__module__}.{study.__qualname__}"


@cached(max_entries=24)
def _study(
    view: ShownBoard, name: str, args: tuple[object, ...], options: Options, _study: Callable[..., Any]
) -> Any:  # noqa: ANN401 of any study
    return _study(view.evaluation, *args, **dict(options))


def drawn(draw: Callable[P, Result], *arguments: P.args, **options: P.kwargs) -> Result:
    """Return the figure or table that a function makes, or show its elements: cached by its arguments."""
    content = blake2b(pickle.dumps((arguments, options), protocol=5), digest_size=16).hexdigest()
    return _drawn(_name_of(draw), content, draw, arguments, options)


@cached(max_entries=192)
def _drawn(
    name: str,
    content: str,
    _draw: Callable[..., Result],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> Result:
    return _draw(*_arguments, **_options)


@st.cache_resource(show_spinner=False)
def open_library() -> Library:
    """Return the library that the environment names."""
    library = Library.open()
    with suppress(LibraryError):
        library.end_expired()
    return library


@st.cache_resource(show_spinner=False)
def loaded_boards() -> LoadedBoards:
    """Return the boards in memory."""
    return LoadedBoards()


def load_record(record: Record) -> Board:
    """Return a stored board; raise a TieScopeError if one of its files cannot be read."""
    board = loaded_boards().get(record.spec.key)
    if board is None:
        built = build_board(record.spec, [read_entry(entry) for entry in record.spec.entries])
        if isinstance(built, TieScopeError):
            raise built
        board = loaded_boards().hold(built)
    return replace(board, label=record.label)


def update_loaded(board: Board, record: Record) -> None:
    """Keep a board in memory after saving it, so that it is not read again."""
    if board.key == record.spec.key:
        for source, entry in zip(board.sources, record.spec.entries, strict=True):
            source.origin.move(entry.provenance(source))  # so that the bytes can go
        loaded_boards().hold(replace(board, spec=record.spec))


@st.cache_resource(show_spinner=False)
def command_board() -> Board | None:
    """Return the board of the command line's runs, read on first use; None without runs."""
    files = json.loads(os.environ.get(OPEN) or "{}")
    runs = [tuple(run) if isinstance(run, list) else run for run in files.get("runs", [])]
    return loaded_boards().hold(open_files(runs, files["qrels"])) if runs else None


@st.cache_resource(show_spinner=False)
def sample_board(label: str = SAMPLE_LABEL) -> Board:
    """Return a sample board, read on first use."""
    return open_files([str(SAMPLES[label])], None, label)


def read_entry(entry: Entry) -> Source | TieScopeError:
    """Return the content of a file, or the error that prevents reading it."""
    try:
        return _source(entry)
    except LibraryError as error:  # not kept: the next try may find it mended
        return error


@cached(max_entries=32)
def _source(entry: Entry) -> Source | TieScopeError:
    try:
        with turn(is_dear=entry.file.unpacks_to(DEAR_BYTES)):
            return entry.read()
    except (ReadError, UsageError) as error:
        return error


def build_board(
    spec: BoardSpec, sources: Sequence[Source | TieScopeError], before: BoardSpec | None = None
) -> Board | TieScopeError:
    """Return the board of a spec and its sources, or the first error.

    Rerankers keep the names and order that they have on the board `before`.
    """
    sources = with_predictions(sources)
    error = next((source for source in sources if isinstance(source, TieScopeError)), None)
    if error is not None:
        return error
    read = [source for source in sources if isinstance(source, Source)]
    runs = _join(spec, read)
    if isinstance(runs, TieScopeError):
        return runs
    board = make_board(spec, read, runs)
    try:
        return keep_arrangement(board, before) if before else board
    except TieScopeError as arrangement_error:
        return arrangement_error


@cached(show_spinner="Joining …", max_entries=4)
def _join(spec: BoardSpec, _sources: Sequence[Source]) -> Runs | TieScopeError:
    """Join the runs of a board. Caching the board would keep the uploaded files in memory."""
    try:
        with turn(is_dear=_n_rows(_sources) >= DEAR_ROWS):
            return join_runs(spec, _sources)
    except TieScopeError as error:
        return error


@cached(show_spinner="Scoring every order …", max_entries=12)
def evaluation(board: Board, scoring: ScoringOptions, measures: tuple[str, ...]) -> Evaluation:
    """Return measures under every treatment that the pages offer."""
    with board_turn(board):
        return score_runs(board.runs, measures, _TIES, scoring)


@cached(max_entries=12)
def shown_evaluation(
    board: Board,
    measures: tuple[str, ...],
    rerankers: tuple[str, ...],
    query_groups: tuple[str, ...],
    scoring: ScoringOptions,
) -> Evaluation:
    """Return the usual measures and others of the lists shown; all query groups if empty.

    Rerankers without a scored list are left out; if none has one, there are no scores.
    """
    board_scores = evaluation(board, scoring, MEASURES)
    if further := tuple(name for name in measures if name not in MEASURES):
        other_scores = evaluation(board, scoring, further)
        board_scores = replace(
            board_scores,
            scores=pd.concat([board_scores.scores, other_scores.scores], axis=1),
            lists=board_scores.lists.assign(**other_scores.lists),
            measures=(*board_scores.measures, *other_scores.measures),
        )
    group_of = segments(board)
    queries = set(group_of.index[group_of.isin(query_groups)]) if query_groups else None
    is_whole = queries is None and rerankers == (*board_scores.policies.index,)
    page_scores = board_scores if is_whole else board_scores.only(rerankers, queries)
    scored = set(page_scores.scores.index.unique("reranker"))
    names = [name for name in rerankers if name in scored]
    return page_scores.only(names) if 0 < len(names) < len(rerankers) else page_scores


def _n_rows(sources: Sequence[Source]) -> int:
    return sum(len(source.table) for source in sources)


def board_turn(board: Board) -> AbstractContextManager[None]:
    """Return a turn for work on all rows of a board; large boards wait for it."""
    return turn(is_dear=_n_rows(board.sources) >= DEAR_ROWS)


@cached(max_entries=16)
def ranking(board: Board, reranker: str, scoring: ScoringOptions) -> Ranking:
    """Return one reranker's lists, cut into tie groups."""
    return Ranking.of(board.runs, reranker, scoring)


@cached(max_entries=16)
def segments(board: Board) -> "pd.Series[str]":
    """Return query → query group, for queries that have one."""
    return query_segments(board.runs)


@cached(max_entries=16)
def grade_counts(board: Board) -> dict[float, int]:
    """Return grade above 0 → number of judgments, each document of a query once."""
    runs, columns = board.runs, ["query_id", "doc_id", "relevance"]
    if not runs.is_judged:
        return {}
    tables = [runs.qrels] if runs.qrels is not None else list(runs.tables.values())
    judged = pa.concat_tables(table.select(columns).filter(pc.field("relevance") > 0) for table in tables)
    if len(tables) > 1:
        judged = judged.unify_dictionaries().group_by(columns).aggregate([])
    values, counts = np.unique(judged["relevance"].to_numpy(), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


@cached(show_spinner="Checking the runs …", max_entries=8)
def findings(board: Board, relevant_from: float) -> pd.DataFrame:
    """Return the findings about a board's runs with this smallest relevant grade."""
    with board_turn(board):
        return board.runs.findings_from(relevant_from)


def file_version(path: Path) -> tuple[str, int, int]:
    """Return path, modification time and size, which change with the file."""
    try:
        status = path.stat()
    except OSError as error:
        raise ReadError(path.name, "it is gone", "Open it again.") from error
    return str(path), status.st_mtime_ns, status.st_size


class Testing(NamedTuple):
    """How pairs are tested, as `compare` takes it."""

    test: str = "flips"
    correction: str | None = None
    family: Family = "all"


def pair_verdicts(view: ShownBoard, measure: str, traditional: str) -> Verdicts:
    """Return all pairs of the shown rerankers, tied and traditional, corrected for all pairs of the board."""
    return compared_pairs(view, measure, traditional, "", Testing())


@cached(show_spinner="Comparing rerankers …", max_entries=24)
def compared_pairs(
    view: ShownBoard, measure: str, traditional: str, baseline: str, testing: Testing
) -> Verdicts:
    """Return the pairs of the shown rerankers with a baseline (all pairs if empty), tested as chosen."""
    if baseline and testing == Testing():
        return pair_verdicts(view, measure, traditional).against(baseline)
    evaluation = _board_evaluation(view, measure, traditional)
    return verdicts(evaluation, measure, traditional, baseline or None, **testing._asdict()).among(
        view.rerankers
    )


def _board_evaluation(view: ShownBoard, measure: str, traditional: str) -> Evaluation:
    every_reranker = view.board.runs.rerankers
    if view.rerankers == every_reranker:
        return view.evaluation
    return replace(view, rerankers=every_reranker).score(measure, ("expected", traditional))
