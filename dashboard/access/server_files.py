"""Server files that visitors may open: those of the command line, and those in allowed paths."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard import cache
from dashboard.access.allowed_paths import AllowedPaths
from dashboard.access.settings import ALLOW_PATHS, OPEN
from dashboard.access.sign_in import guard_redirects, identity
from dashboard.library.audit import record_event
from dashboard.library.boards import Board, open_files
from dashboard.library.scored import ScoredRuns, ScoringOutcome
from metrics.errors import TieScopeError, UsageError
from metrics.runs import File
from metrics.scale.stored import Stored, is_stored
from metrics.studies.stored_summary import LEADERBOARD_TREATMENTS

TIES = ("input", "docid_desc", *LEADERBOARD_TREATMENTS)
"""Treatments under which runs named by path are scored."""


def allowed_paths() -> AllowedPaths:
    """Return what visitors may open by path; nothing if the setting is invalid."""
    try:
        texts = json.loads(os.environ.get(ALLOW_PATHS) or "[]")
        may_open = isinstance(texts, list) and identity() is not None
        return AllowedPaths.of(map(str, texts)) if may_open else AllowedPaths()
    except (ValueError, OSError):
        return AllowedPaths()


def opened_board() -> Board | TieScopeError | None:
    """Return the board of the command line's runs, or the error if they changed since; None without runs."""
    try:
        return _open_board()
    except TieScopeError as error:
        return error


@st.cache_resource(show_spinner=False)
def _open_board() -> Board | None:
    files = json.loads(os.environ.get(OPEN) or "{}")
    runs = [tuple(run) if isinstance(run, list) else run for run in files.get("runs", [])]
    return cache.loaded_boards().hold(open_files(runs, files["qrels"])) if runs else None


def home_board() -> Board:
    """Return the board that the app opens with: that of the command line, or else the sample."""
    opened = opened_board()
    return opened if isinstance(opened, Board) else cache.sample_board()


def command_results() -> dict[str, Path]:
    """Return label → file of the command line's stored evaluations."""
    results: dict[str, Path] = {}
    for path in map(Path, json.loads(os.environ.get(OPEN) or "{}").get("stored", [])):
        results[path.name if path.name not in results else f"{path.name} ({len(results) + 1})"] = path
    return results


def find_results(label: str) -> Path | None:
    """Return the file of a stored evaluation, None if there is none that may be opened."""
    results, allowed = command_results(), allowed_paths()
    if label in results or not allowed:
        return results.get(label)
    try:
        if scored := ScoredRuns.of(str(allowed)).find(label):
            return scored
        files = allowed.files(label)
    except TieScopeError:
        return None
    file = files[0]
    return file if len(files) == 1 and isinstance(file, Path) and _is_stored(file) else None


def score_path(path: str, qrels: str, on_progress: Callable[[str], None]) -> ScoringOutcome:
    """Open a stored evaluation by path, or score the runs there.

    Args:
        path: path, pattern or URL, as typed.
        qrels: the same for judgments; empty if the runs hold relevance.
        on_progress: receives progress messages.
    """
    allowed = allowed_paths()
    if not allowed:
        raise UsageError("Visitors may not open files by path on this server. Start it with --allow-paths DIR.")
    if allowed.addresses:
        guard_redirects()
    try:
        runs, judgments = _runs_and_judgments(allowed, path, qrels)
    except UsageError:
        record_event("refused", identity() or "", path=path, qrels=qrels)
        raise
    record_event("opened", identity() or "", path=path, qrels=qrels)
    if len(runs) == 1 and _is_stored(runs[0]):
        if judgments:
            raise UsageError(
                "A stored evaluation already contains its judgments. Leave the judgments field empty."
            )
        return ScoringOutcome(path.strip(), [])
    qrels_file = judgments[0] if judgments else None
    return ScoredRuns.of(str(allowed)).score(runs, qrels_file, cache.MEASURES, TIES, on_progress)


def _runs_and_judgments(
    allowed: AllowedPaths, path: str, qrels: str
) -> tuple[list[Path | str], list[Path | str]]:
    """Return the allowed files that a visitor names as runs and as judgments."""
    judgments = allowed.files(qrels) if qrels.strip() else []
    if len(judgments) > 1:
        raise UsageError(f"{qrels}: several files match. Name a single file of judgments.")
    runs = [file for file in allowed.files(path) if file not in judgments]
    if not runs:
        raise UsageError(f"{path}: this file is already named as the judgments. Name a run.")
    return runs, judgments


def _is_stored(file: Path | str) -> bool:
    """Return whether a local file is a stored evaluation; URLs are fetched first."""
    try:
        return isinstance(file, Path) and is_stored(File.open(file))
    except TieScopeError:
        return False


def open_results(path: Path) -> Stored:
    """Return a stored evaluation, read again if the file changes; ReadError if it is missing or damaged."""
    return _open_stored(*cache.file_version(path))


@st.cache_resource(show_spinner=False, max_entries=32)
def _open_stored(path: str, *_changed: int) -> Stored:
    return Stored.open(path)
