"""Kept runs scored against the judgments of the board shown, each once."""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.library.boards import Board
from dashboard.library.entry import Entry
from metrics import Runs
from metrics.errors import LibraryError, ReadError, TieScopeError, UsageError
from metrics.evaluation import ScoringOptions
from metrics.runs import Repeated
from metrics.studies.leaderboard.history import pooled_judgments, version_means
from metrics.support.wording import count_of


class VersionScoring(NamedTuple):
    """How kept runs are scored: enough to tell one way from another.

    Attributes:
        judged: hash of the judgments.
        scoring: how lists are scored.
        traditional: the treatment taken as the traditional one.
        measures: those asked for.
        repeated: what is done about a document twice in a list.
        segments: hash of the queries counted; none where all are.
    """

    judged: str
    scoring: ScoringOptions
    traditional: str
    measures: tuple[str, ...]
    repeated: Repeated
    segments: str = ""


def judgments_key(board: Board) -> str:
    """Return what tells the judgments of a board from any others."""
    if board.runs.qrels is None:
        return board.key
    pairs = zip(board.spec.entries, board.sources, strict=True)
    digests = sorted(entry.key for entry, source in pairs if source.kind == "qrels")
    return sha256("\n".join([*digests, board.spec.repeated]).encode()).hexdigest()


@st.cache_resource(show_spinner=False, max_entries=4)
def judged(key: str, _board: Board) -> pa.Table:
    """Return the judgments of a board."""
    return pooled_judgments(_board.runs)


@st.cache_resource(show_spinner=False, max_entries=2_000)
def means(
    key: str, scoring: VersionScoring, _entry: Entry, _judged: pa.Table, _queries: set[str] | None
) -> pd.DataFrame | TieScopeError:
    """Return means of the rerankers of one kept file, as `version_means` gives them, or why there are none.

    Args:
        key: of the file and of how it is read.
        scoring: how its lists are scored.
        _entry: the file.
        _judged: judgments of the board shown.
        _queries: those that count; all where None.
    """
    try:
        runs = Runs.from_sources([_entry.read()], scoring.repeated, judged=False)
        return version_means(runs, _judged, scoring.measures, scoring.traditional, _queries, scoring.scoring)
    except (ReadError, UsageError) as error:
        return error


def score_versions(
    scoring: VersionScoring, entries: Sequence[Entry], board: Board, queries: set[str] | None
) -> list[pd.DataFrame | TieScopeError]:
    """Return means of several files, one after the other.

    Args:
        scoring: how lists are scored.
        entries: the files.
        board: the one shown, whose judgments count.
        queries: those that count; all where None.
    """
    against = judged(scoring.judged, board)
    with st.spinner(f"Scoring {count_of(len(entries), 'kept run')} …"):
        return [_means(scoring, entry, against, queries) for entry in entries]


def _means(
    scoring: VersionScoring, entry: Entry, against: pa.Table, queries: set[str] | None
) -> pd.DataFrame | TieScopeError:
    try:
        return means(entry.key, scoring, entry, against, queries)
    except LibraryError as error:  # not cached: the next try may find the upload mended
        return error
