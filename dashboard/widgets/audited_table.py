"""Read and audit a published table; results are cached by board, table and names matched by hand."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple, cast

import pandas as pd

from dashboard import cache, controls
from dashboard.boards import publish, published_results
from dashboard.cache import SAMPLE_LABEL, SAMPLES, board_turn, cached
from dashboard.controls import choose, get_text, set_values
from dashboard.library.boards import Board
from dashboard.library.loaded import packed_files, table_label, unpacked_files
from metrics import parse
from metrics.errors import TieScopeError, UsageError
from metrics.evaluation import AS_READ
from metrics.runs import File
from metrics.studies.audit.audit import Audit, audit
from metrics.studies.audit.audited_order import AuditedOrder, audited_order, orders_by_measure
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.names import NameMatches, match_names
from metrics.studies.audit.published import read_published
from metrics.studies.audit.published_table import PublishedTable, example_table

TABLE = "table"
"""Key of the table to audit."""
NO_TABLE, SAMPLE_TABLE, FILE_ORDER = "none", "sample", "file-order"
"""No table, the sample's table, and an example table with mistakes of the board."""
_NAMES = "names"
_TAKEN = "_published_taken"
_LOST = "_published_lost"


def choose_table(board: Board, default: str, *, has_sample: bool) -> str:
    """Return the table to audit; none if the board does not have the one in the link."""
    results = published_results(board.label)
    own = [results[0]] if results else []
    offered = (NO_TABLE, FILE_ORDER, *own, *([SAMPLE_TABLE] if has_sample else []))
    requested = get_text(TABLE)
    if controls.is_linked(TABLE) and requested not in (*offered, SAMPLE_TABLE):
        controls.remember(_LOST, requested.rpartition("~")[0] or requested)
    elif own and requested not in offered:
        set_values({TABLE: own[0]})  # of a board just opened
    choice = choose(TABLE, default, offered.__contains__)
    return NO_TABLE if missing_table() and choice == default else choice


def missing_table() -> str | None:
    """Return the table of the link if the board does not have it, until another is chosen."""
    return cast("str | None", controls.recall(_LOST))


def kept_files(board: Board) -> tuple[File, ...]:
    """Return the files of the published results kept with a board."""
    results = published_results(board.label)
    return unpacked_files(results[1]) if results else ()


def is_new(files: Sequence[File]) -> bool:
    """Return whether the field has new files; an empty field forgets the earlier ones."""
    label = table_label(files) if files else None
    if label is None:
        controls.remember(_TAKEN, None)
    return label is not None and controls.recall(_TAKEN) != label


def take_files(board: Board, files: Sequence[File]) -> None:
    """Keep published results with the board and audit it against them; LibraryError if they are too large."""
    label = table_label(files)
    publish(board.label, (label, packed_files(files)))
    controls.remember(_TAKEN, label)
    take_table(label)


def take_table(name: str) -> None:
    """Audit another table, without the names matched by hand for the table before."""
    controls.remember(_LOST, None)
    set_values({_NAMES: None, TABLE: name})


def names_by_hand(is_valid: Callable[[str, str], bool]) -> dict[str, str]:
    """Return the names matched by hand or by the link: published → ours, empty for none."""

    def read(texts: controls.Texts) -> controls.Texts:
        pairs = _pairs(texts)
        controls.refuse(_NAMES, [f"{name}={ours}" for name, ours in pairs.items() if not is_valid(name, ours)])
        return [f"{name}={ours}" for name, ours in pairs.items() if is_valid(name, ours)]

    return _pairs(choose(_NAMES, list[str](), lambda _: True, read))


def match_by_hand(published: str, key: str) -> None:
    """Match a published name with the value of a control."""
    pairs = _pairs(controls.choices().texts.get(_NAMES, []))
    pairs.pop(published, None)
    names = pairs | {published: controls.recall(key) or ""}
    set_values({_NAMES: [f"{name}={ours}" for name, ours in names.items()]})


def _pairs(texts: controls.Texts) -> dict[str, str]:
    return {name: ours for name, _, ours in (text.rpartition("=") for text in texts)}


class AuditKey(NamedTuple):
    """The board's key, the table's name in the link, and (published, ours) names matched by hand."""

    key: str
    table: str
    names: tuple[tuple[str, str], ...] = ()


def audit_key(board: Board, table: str, published: PublishedTable) -> AuditKey:
    """Return the key of an audit, with the names matched by hand that are valid."""
    rerankers, measures = set(published.rerankers), set(published.measures)

    def is_valid(name: str, ours: str) -> bool:
        if name in rerankers:
            return not ours or ours in board.runs.tables
        return name in measures and (not ours or _is_measure(ours))

    return AuditKey(board.key, table, tuple(last_given(names_by_hand(is_valid), rerankers).items()))


def last_given(names: Mapping[str, str], rerankers: Container[str]) -> dict[str, str]:
    """Return names by hand in which each reranker keeps only its last published name."""
    owners = {ours: name for name, ours in names.items() if name in rerankers}
    return {
        name: ours if owners.get(ours, name) == name or name not in rerankers else ""
        for name, ours in names.items()
    }


def _is_measure(name: str) -> bool:
    try:
        return str(parse(name)) == name
    except UsageError:
        return False


def published_files(board: Board, table: str) -> tuple[File, ...]:
    """Return the files of a table: the sample's, the example with mistakes, or those kept with the board."""
    if table == SAMPLE_TABLE:
        return (File.open(SAMPLES[SAMPLE_LABEL].with_name("leaderboard.csv")),)
    if table == FILE_ORDER:
        text = example_table(cache.evaluation(board, AS_READ, cache.MEASURES))
        return (File("as-in-file.csv", text.encode()),)
    return kept_files(board)


@cached(show_spinner="Reading the table …", max_entries=8)
def read_table(key: AuditKey, _files: tuple[File, ...]) -> PublishedTable | TieScopeError:
    """Return a published table, or the error from reading it."""
    try:
        return read_published(_by_name(_files))
    except TieScopeError as error:
        return error


def _by_name(files: tuple[File, ...]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for number, file in enumerate(files, start=1):
        name = file.name if file.name not in contents else f"{number}-{file.name}"
        contents[name] = b"".join(file.blocks())
    return contents


def matches(key: AuditKey, board: Board, published: PublishedTable) -> NameMatches:
    """Return which published names match which of ours."""
    return match_names(published, board.runs, dict(key.names))


@cached(max_entries=8)
def board_audit(key: AuditKey, _board: Board, _published: PublishedTable, *, every_rule: bool = False) -> Audit:
    """Return the audit of a published table, with every rule or up to the first that reproduces all figures."""
    with board_turn(_board):
        return audit(_board.runs, _published, names=dict(key.names), every_rule=every_rule)


@cached(show_spinner="Recomputing the table …", max_entries=8)
def rule_figures(key: AuditKey, convention: Convention, _board: Board, _audit: Audit) -> pd.DataFrame:
    """Return every published figure with the figure that a rule gives, by our names of rerankers."""
    with board_turn(_board):
        figures = _audit.reproduction.figures(convention)
    return figures.assign(reranker=figures["reranker"].map(_audit.names.reranker))


@cached(max_entries=24)
def board_order(key: AuditKey, measure: str, _board: Board, _audit: Audit) -> AuditedOrder:
    """Return the audit of the printed order by one measure."""
    with board_turn(_board):
        return audited_order(_audit, _board.runs, measure)


@cached(max_entries=8)
def board_orders(key: AuditKey, _board: Board, _audit: Audit) -> pd.DataFrame:
    """Return the audit of the printed orders by each measure."""
    with board_turn(_board):
        return orders_by_measure(_audit)


def report_choices(board: Board) -> dict[str, Any]:
    """Return the report's options for the audited table, empty without one."""
    table = choose_table(board, NO_TABLE, has_sample=board.label == SAMPLE_LABEL)
    if table == NO_TABLE:
        return {}
    files = published_files(board, table)
    published = read_table(AuditKey(board.key, table), files)
    if isinstance(published, TieScopeError):
        return {}
    key = audit_key(board, table, published)
    if not has_matches(matches(key, board, published)):
        return {}
    hashes = tuple((file.name, file.sha256) for file in files)
    return {
        "published": published,
        "published_names": key.names,
        "files": (*((file.name, file.sha256) for file in board.files), *hashes),
    }


def has_matches(names: NameMatches) -> bool:
    """Return whether at least one reranker and one measure of a table match."""
    return all(bool(table["matched"].ne("").any()) for table in (names.rerankers, names.measures))
