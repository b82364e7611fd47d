"""The uploads that are kept: of this board or all, found by words, and what can be done with them."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.access.sign_in import is_open_to_all
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.storage.records import STRANGER, Upload
from dashboard.session import View
from dashboard.session.upload_selection import selectable_table, selected_uploads
from dashboard.session.visitor import visitor_zone
from dashboard.views.data.library.actions import actions, outcome_line
from dashboard.views.data.library.deleted import recently_deleted
from dashboard.widgets.columns import column_config
from dashboard.widgets.components import download_csv, finding, heading
from metrics.errors import TieScopeError
from metrics.studies.prose import Prose, Strong
from metrics.support.shown_columns import ShownColumn
from metrics.support.wording import count_of, part_of, percent

_KINDS = {"run": "run", "qrels": "judgments"}
_SHELVES = ("This board", "All")
_TIE_RATIO = ShownColumn(
    "tied", "Tie ratio", "Documents that share their score with another of their list.", "share"
)


def uploads_section(view: View) -> list[Upload]:
    """Draw the visitor's uploads in a table to search, sort and tick; where they cannot be read, say why.

    Returns:
        Those of this board, or all, as is chosen; the newest first.
    """
    try:
        every_upload = cache.open_library().uploads(session.owner())
        return _section(view, every_upload)
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
        return []


def uploads_on(view: View, uploads: Sequence[Upload]) -> list[Upload]:
    """Return the uploads that are on the board shown."""
    on_board = {file.sha256 for file in view.board.files}
    return [upload for upload in uploads if upload.sha256 in on_board]


def _section(view: View, every_upload: list[Upload]) -> list[Upload]:
    uploads = every_upload
    finding(library_finding(every_upload))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        heading("Uploads", _whose(session.owner()))
        if uploads:
            download_csv(uploads_frame(uploads), "library")
    if uploads:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            uploads = _choose_shelf(view, every_upload)
            words = session.text_input(
                "Find",
                "find",
                placeholder="Name, note, board or hash",
                icon=":material/search:",
                label_visibility="collapsed",
                max_chars=200,
                width=320,
            )
            matches = search_uploads(uploads, words, selected_uploads())
            if len(matches) < len(every_upload):
                st.caption(part_of(len(matches), len(every_upload), "upload"), width="content")
        ticked = selectable_table(
            display_frame(matches, visitor_zone()),
            [upload.sha256 for upload in matches],
            column_config=_columns(),
            column_order=list(_columns()),
            hide_index=True,
            alt="Uploads that are kept, the newest first.",
        )
        actions(view, [upload for upload in matches if upload.sha256 in ticked])
    outcome_line()
    recently_deleted()
    return uploads


def library_finding(uploads: Sequence[Upload]) -> Prose:
    """Return what is kept, in a sentence, and which of the runs has most ties."""
    if not uploads:
        return ("Nothing is kept yet. Files that you drop on Data are, unless you say otherwise.",)
    subject = (Strong(count_of(len(uploads), "upload")), " is kept." if len(uploads) == 1 else " are kept.")
    tied = max(uploads, key=lambda upload: upload.profile.tied or 0)
    share = tied.profile.tied or 0
    if not share:
        return subject
    return (
        *subject,
        " Most ties: ",
        Strong(tied.name),
        f", where {percent(share)} of the documents share a score.",
    )


def _choose_shelf(view: View, every_upload: Sequence[Upload]) -> list[Upload]:
    """Draw the choice between the uploads on the board shown and all; all where it has none."""
    on_board = uploads_on(view, every_upload)
    if not on_board:
        return list(every_upload)
    shelf = session.segmented("Uploads", _SHELVES, "shelf", label_visibility="collapsed")
    return on_board if shelf == _SHELVES[0] else list(every_upload)


def _whose(owner: str) -> str:
    """Return where uploads are kept, and who sees them."""
    if not owner and is_open_to_all():
        return "Kept on this server for all who reach it: what others upload stands here, too."
    if not owner:
        return "Kept on this machine."
    if owner.startswith(STRANGER):
        return "Kept on this server. Boards are found again by their link, this list only until you leave."
    return f"Kept on this server for {escape_markdown(owner)} alone."


def size_text(count: int) -> str:
    """Write so many bytes in the largest unit of which there is one."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f}".removesuffix(".0") + f" {name}"
    return f"{count / 1000:,.0f} kB"


def search_uploads(uploads: Sequence[Upload], words: str, selected: Sequence[str] = ()) -> list[Upload]:
    """Return the uploads that hold every word, and those that are selected.

    Args:
        uploads: to search.
        words: each is looked for in name, kind, note and boards, or at the start of the hash.
        selected: sha256 of uploads that are found whatever the words.
    """
    search_words = words.casefold().split()
    return [
        upload
        for upload in uploads
        if upload.sha256 in selected or all(_holds(upload, word) for word in search_words)
    ]


def _holds(upload: Upload, word: str) -> bool:
    boards = [name for _, name in upload.boards]
    text = "\n".join([upload.name, _KINDS[upload.kind], upload.note, *boards]).casefold()
    return word in text or upload.sha256.startswith(word)


def display_frame(uploads: Sequence[Upload], place: ZoneInfo) -> pd.DataFrame:
    """Return a row an upload, as the table draws it."""
    rows = uploads_frame(uploads)
    rows["kind"] = [[_KINDS[upload.kind]] for upload in uploads]
    rows["tied"] *= 100
    rows["size"] /= 1000
    rows["bars"] = [list(upload.profile.bars) for upload in uploads]
    rows["added"] = rows["added"].dt.tz_localize("UTC").dt.tz_convert(place)
    rows["hash"] = [upload.sha256[:7] for upload in uploads]
    return rows


def uploads_frame(uploads: Sequence[Upload]) -> pd.DataFrame:
    """Return a row an upload, as a file holds it: shares of one, bytes, and the time in UTC."""
    rows = [
        {
            "name": upload.name,
            "kind": _KINDS[upload.kind],
            "rows": upload.rows,
            "queries": upload.profile.queries,
            "depth": upload.profile.depth,
            "tied": upload.profile.tied,
            "size": upload.kept_size,
            "boards": ", ".join(name for _, name in upload.boards),
            "note": upload.note,
            "pinned": upload.pinned,
            "added": upload.added,
            "hash": upload.sha256,
        }
        for upload in uploads
    ]
    frame = pd.DataFrame(rows, columns=[name for name in _columns() if name != "bars"])
    return frame.astype({"tied": "float64", "size": "float64", "added": "datetime64[us]"})


def _columns() -> dict[str, object]:
    column = st.column_config
    return {
        "name": column.TextColumn("Name", pinned=True, width=176),
        "tied": column_config(_TIE_RATIO),
        "bars": column.BarChartColumn(
            "Scores", width=95, y_min=0, color="blue", help="Histogram of scores or grades."
        ),
        "added": column.DatetimeColumn("Added", format="D MMM YYYY, HH:mm", width=145),
        "kind": column.MultiselectColumn(
            "Kind", options=list(_KINDS.values()), color=["blue", "gray"], width=95
        ),
        "boards": column.TextColumn("Used on", width=130, help="Boards that show it."),
        "rows": column.NumberColumn("Rows", format="localized", width=75),
        "queries": column.NumberColumn("Queries", format="localized", width=70),
        "depth": column.NumberColumn(
            "Depth", format="localized", width=60, help="Documents of the longest list."
        ),
        "note": column.TextColumn("Note", width=180),
        "pinned": column.CheckboxColumn("Pinned", width=70, help="Stays when room is needed."),
        "size": column.NumberColumn("Size", format="%.0f kB", width=75, help="As it is kept."),
        "hash": column.TextColumn("Hash", width=85, help="First letters of the hash of its content."),
    }
