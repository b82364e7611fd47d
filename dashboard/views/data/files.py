"""Data → Files: the files read, the findings by kind, and the board's name and access."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pandas as pd
import pyarrow.compute as pc
import streamlit as st

from dashboard import boards, cache, controls
from dashboard.charts.figure import Figure
from dashboard.charts.marks import column_histogram
from dashboard.charts.palette import Palette
from dashboard.choices import Selection, board_settings
from dashboard.escaping import escape_markdown, without_options
from dashboard.library.audit import record_event
from dashboard.library.boards import MOST_FILES, Board, BoardSpec, queries_text
from dashboard.library.loaded import unpacked_files
from dashboard.library.records import SEPARATOR, Access, Record, id_of
from dashboard.library.schema import RETENTION
from dashboard.library.uploads import DROP_SELF, MISSING_SCORE, zipped
from dashboard.visitor import theme, visitor_id
from dashboard.widgets.components import Colour, chart, download, download_csv, group_text, offer, section
from dashboard.widgets.first_rows import shown_rows
from metrics import FORMATS
from metrics.runs.findings import FindingGroup, group_findings
from metrics.support.wording import count_of, first_names

if TYPE_CHECKING:
    from metrics.runs import Repeated

_MOST_NAMES = 6
_BADGES: dict[str, tuple[Colour, str]] = {
    "error": ("red", "fix these before you trust a score"),
    "warning": ("orange", "these files are scored; check how each finding affects the scores"),
}
_FIXABLE = ("rows-dropped", "scores-missing", "own-query", "own-query-dropped")
"""Kinds of findings with a button."""
_FIRST_CARDS = 3
"""Cards shown at first."""
_MOST_GROUPS = 5
"""Kinds of findings shown at first."""
_MAX_LINES = 300
"""Messages of one kind shown at most; the CSV has all."""
_KEPT = f"Kept for {RETENTION.days} days after it was last opened."
_SUMMARY = {known.name: known.summary.split("; ")[0].rstrip(".") for known in FORMATS}


@cache.cached(max_entries=MOST_FILES)
def _shape(board: Board, position: int, colours: Palette) -> tuple[int, int, Figure]:
    """Return numbers of distinct values and of queries, and a histogram, of the scores or grades of a file."""
    source = board.sources[position]
    is_run = source.kind == "run"
    values = source.table["score" if is_run else "relevance"]
    histogram = column_histogram(values.to_numpy(), colours, is_score=is_run)
    return pc.count_distinct(values).as_py(), len(pc.unique(source.table["query_id"])), histogram


def file_cards(board: Board, findings: pd.DataFrame) -> None:
    """Draw a card for each file with warnings, and fold the cards of all other files."""
    warned = findings.loc[findings["severity"].isin(["error", "warning"]), "file"]
    odd = {name for names in warned for name in (names, *names.split(", "))}  # judgments may be in several
    places = range(len(board.files))
    _cards(board, [at for at in places if board.files[at].name in odd], findings, "odd-files")
    if quiet := [at for at in places if board.files[at].name not in odd]:
        n_rows = sum(len(board.sources[at].table) for at in quiet)
        names = escape_markdown(first_names([board.files[at].name for at in quiet], _MOST_NAMES))
        noun = "other file" if len(quiet) < len(places) else "file"
        label = f"{count_of(len(quiet), noun)} read without a warning, {count_of(n_rows, 'row')}: {names}"
        with st.expander(label, icon=":material/check:", key="files"):
            _cards(board, quiet, findings, "files")


def _cards(board: Board, places: Sequence[int], findings: pd.DataFrame, key: str) -> None:
    if not places:
        return
    row_range = shown_rows(len(places), key, _FIRST_CARDS, limit=len(places))
    grid = st.grid(3, min_column_width=250)
    for position in places[: row_range.n_shown]:
        with grid.container(border=True, height="stretch"):
            _card(board, position, findings)
    row_range.buttons()


@section("This file")
def _card(board: Board, position: int, findings: pd.DataFrame) -> None:
    file, source = board.files[position], board.sources[position]
    digest = board.spec.entries[position].key  # another tab may have removed a file before this one
    n_values, n_queries, histogram = _shape(board, position, theme())
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.markdown(f"**{escape_markdown(file.name)}**")
        _badge(findings.loc[findings["file"] == file.name, "severity"].value_counts())
    st.caption(
        f"{escape_markdown(_SUMMARY[source.format])}  \n{count_of(len(source.table), 'row')} · "
        f"{queries_text(n_queries)} · {file.size / 1000:,.0f} kB"
    )
    chart(histogram, f"shape-{position}", f"Histogram of {file.name}.")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(count_of(n_values, "distinct score" if source.kind == "run" else "distinct grade"))
        if len(board.files) > 1 and st.button(
            "Remove", key=f"remove-{digest[:12]}-{position}", icon=":material/close:", type="tertiary"
        ):
            boards.rebuild_board(board.spec.without_file(position))


def _badge(counts: "pd.Series[int]") -> None:
    """Draw the number of findings of the highest severity: severity → number."""
    for severity, (colour, _) in _BADGES.items():
        if count := counts.get(severity):
            st.badge(count_of(count, severity), icon=f":material/{severity}:", color=colour)
            return
    st.badge("ready", icon=":material/check:", color="blue")


@section("Findings")
def finding_cards(board: Board, findings: pd.DataFrame) -> None:
    """Draw the findings by kind, the most severe first, with information folded."""
    if not len(findings):
        st.markdown(":material/check: Every row was read, every query is judged, nothing is unusual.")
        return
    for message in findings.loc[findings["code"] == "runs-renamed", "message"]:
        st.caption(f":material/info: {escape_markdown(message)}")
    groups = group_findings(findings, board.runs.rerankers)
    n_left = _MOST_GROUPS
    for severity in ("error", "warning"):
        if grave := [group for group in groups if group.severity == severity]:
            _frame(board, severity, grave, n_left)
            n_left = max(0, n_left - len(grave))
    information = [group for group in groups if group.severity == "info"]
    if information:
        titles = first_names([group.kind.title for group in information], _MOST_NAMES)
        with st.expander(f"For the record: {titles}", icon=":material/info:", key="for-the-record"):
            for group in information:
                _group(board, group)
                _messages(group)
    download_csv(findings, "findings")


def _frame(board: Board, severity: str, groups: Sequence[FindingGroup], n_shown: int) -> None:
    colour, note = _BADGES[severity]
    note = note if board.runs.is_judged else "nothing can be scored before you add judgments"
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            count = sum(len(line.names) for group in groups for line in group.lines)
            st.badge(count_of(count, severity), icon=f":material/{severity}:", color=colour)
            st.caption(note)
        for group in groups[:n_shown]:
            _group(board, group)
        if further_groups := groups[n_shown:]:
            label = f"More: {count_of(len(further_groups), 'kind')}"
            with st.expander(label, key=f"more-{severity}"):
                for group in further_groups:
                    _group(board, group)
                    _messages(group)


def _group(board: Board, group: FindingGroup) -> None:
    is_fixable = group.code in _FIXABLE
    text, button = st.columns([9, 2], vertical_alignment="top") if is_fixable else (st.container(), None)
    line, place = group.lines[0], ""
    if len(group.lines) == 1:
        place = first_names(line.names, _MOST_NAMES) if len(line.names) > 1 else line.place
    text.markdown(f"{group_text(group)}{_grey(place)}  \n{_grey(without_options(group.hint)).strip()}")
    if button is not None:
        label, spec = _other_rule(board, group.code)
        if button.button(label, key=f"fix-{group.code}"):
            boards.rebuild_board(spec)


def _messages(group: FindingGroup) -> None:
    if len(group.lines) > 1:
        names = (escape_markdown(first_names(line.names, _MOST_NAMES)) for line in group.lines)
        items = [
            f"- {name}: {escape_markdown(line.message)}{_grey(line.place)}"
            for name, line in zip(names, group.lines[:_MAX_LINES], strict=False)
        ]
        st.markdown("\n".join(items))
    if len(group.lines) > _MAX_LINES:
        st.caption(f"The CSV has {len(group.lines) - _MAX_LINES:,} more.")


def _grey(text: str) -> str:
    return f" :gray[{escape_markdown(text)}]" if text else ""


def _other_rule(board: Board, code: str) -> tuple[str, BoardSpec]:
    """Return the label of the button that changes how rows of a finding are treated, and the changed spec."""
    spec = board.spec
    if code == "rows-dropped":
        label, rule = ("Keep highest", "max") if spec.repeated == "first" else ("Keep first", "first")
        return label, BoardSpec(spec.entries, cast("Repeated", rule))
    if code == "scores-missing":
        rules = [source.missing_score for source in board.sources]
        label, rule = ("Drop them", "drop") if "last" in rules else ("Put them last", "last")
        places = [place for place, rule_before in enumerate(rules) if rule_before != "error"]
        name = MISSING_SCORE
    else:
        label, rule = ("Leave them out", "yes") if code == "own-query" else ("Keep them", "")
        places = [place for place, source in enumerate(board.sources) if source.kind == "run"]
        name = DROP_SELF
    for place in places:
        spec = spec.with_rule(place, name, rule)
    return label, spec


@section("The board")
def board_panel(view: Selection) -> None:
    """Draw the controls to name, keep, share, export and delete the board."""
    label = view.record.label if view.record else view.board.label
    name = boards.board_name(label)
    with (
        st.expander(
            f"Board {escape_markdown(name)}. {_lifetime(view)}", icon=":material/inventory_2:", key="board"
        ),
        st.container(horizontal=True, vertical_alignment="bottom", gap="small"),
    ):
        record = view.record
        if record is not None:
            _library_controls(record)
        elif not boards.is_preloaded(view.board):
            if st.button("Keep", icon=":material/inventory_2:", key="keep"):
                hashes = {file.sha256 for file in view.board.files}
                boards.show_board(view.board, hashes, amends=(view.board, None), keep=True)
            if st.button("Delete", icon=":material/delete:", key="delete", help="Cannot be undone."):
                boards.forget_board(view.board)
        board, owner, visitor = view.board, boards.owner(), visitor_id()
        file_stem = "".join(letter if letter.isalnum() else "-" for letter in name)[:80].strip("-")

        def downloaded() -> bytes:
            published = boards.find_published(label, owner, visitor)
            packed = zipped([*board.files, *(unpacked_files(published[1]) if published else ())])
            record_event("downloaded", owner, board=id_of(label), name=label.rpartition(SEPARATOR)[0])
            return packed

        file, text = f"{file_stem or 'board'}.zip", "The board's files as uploaded, and its published results."
        download("Download", downloaded, file, "application/zip", "download", help=text)


def undo() -> None:
    """Offer to restore the boards just deleted."""
    if (gone := boards.last_deleted()) is None:
        return
    with offer(f":material/delete: Deleted **{escape_markdown(gone.name)}**. You can undo this for a day."):
        if st.button("Undo", key="undo", type="tertiary"):
            boards.change_library(lambda: boards.undo_deletion(gone))


def _lifetime(view: Selection) -> str:
    record = view.record
    if record is None:
        if boards.is_preloaded(view.board):
            return "The server opens this board when it starts. You cannot rename or delete the board here."
        sign_out = "you sign out, " if boards.owner() and not boards.is_stranger() else ""
        return (
            f"In memory only. Only you can open the link. It works until {sign_out}the server restarts or runs "
            "short of memory."
        )
    if record.owner != boards.owner():
        return "Shared with you. You can read this board."
    if boards.is_stranger():
        period = f"{_KEPT} Anyone with this link can read the board."
        return f"{period} After a refresh, the board is read-only. Duplicate it to make changes."
    kept = "Kept." if record.named else f"{_KEPT} Name it to keep it."
    return f"{kept} The link opens the board after a refresh, after a restart and in another browser."


def _library_controls(record: Record) -> None:
    owner, library = boards.owner(), cache.open_library()
    is_own = record.owner == owner
    if is_own:
        _name(record, owner)
        as_now = "From now on, the board opens with the current measure, baseline, filter and settings."
        if st.button("Save view", icon=":material/bookmark:", key="save-view", help=as_now):
            settings = board_settings()
            boards.change_library(
                lambda: library.save_view(record.id, settings, owner),
                lambda: controls.open_view(settings, is_link=False),
                st.rerun,
            )
    if st.button("Duplicate", icon=":material/content_copy:", key="duplicate"):
        boards.change_library(lambda: boards.switch_to_board(library.duplicate(record.id, owner).label))
    if is_own:
        if owner and not boards.is_stranger():
            _share(record, owner)
        if st.button("Delete", icon=":material/delete:", key="delete"):
            boards.change_library(
                lambda: library.delete(record.id, owner),
                lambda: boards.leave_deleted(record.name, [record.id], record),
            )


def _name(record: Record, owner: str) -> None:
    """Draw the field for the name; emptied, it shows the current name again."""
    key = f"name-{record.id}-{record.version}"
    if not (controls.recall(key) or "").strip():
        controls.remember(key, record.name if record.named else "")
    name = st.text_input("Name", max_chars=200, key=key, placeholder=record.name, width=280)
    if name.strip() in ("", record.name):
        return
    boards.change_library(
        lambda: boards.switch_to_board(cache.open_library().rename(record.id, name, owner).label)
    )


def _share(record: Record, owner: str) -> None:
    with st.popover("Share", icon=":material/group:"):
        is_shared = st.toggle(
            "Anyone with the link can read the board",
            record.access == "link",
            key=f"share-{record.id}-{record.version}",
        )
        st.code(boards.board_link(record.label), language=None, wrap_lines=True)
        access: Access = "link" if is_shared else "private"
        if access != record.access:
            boards.change_library(lambda: cache.open_library().share(record.id, access, owner), st.rerun)
