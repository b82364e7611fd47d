"""The library on the Runs page: what is kept, found by words, and what can be done with it."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.escaping import escape_markdown
from dashboard.library.storage.records import STRANGER, Upload
from dashboard.session import View
from dashboard.views.runs.library_actions import actions, last_done
from dashboard.views.runs.library_deleted import recently_deleted
from dashboard.widgets.components import download_csv, heading, share
from metrics.errors import TieScopeError

_KINDS = {"run": "run", "qrels": "judgments"}


def library(view: View) -> list[Upload]:
    """The visitor's uploads in a table to search, sort and tick; where they cannot be read, why.

    Returns:
        All of them, the newest first.
    """
    try:
        uploads = cache.open_library().uploads(session.owner())
        _section(view, uploads)
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return []
    return uploads


def _section(view: View, uploads: list[Upload]) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        heading("Library", _whose(session.owner()))
        if uploads:
            download_csv(written(uploads), "library")
    if uploads:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            words = session.text_input(
                "Find",
                "find",
                placeholder="Name, note, board or hash",
                icon=":material/search:",
                label_visibility="collapsed",
                max_chars=200,
                width=320,
            )
            listed = found(uploads, words, session.selected_uploads())
            st.caption(_counted(len(uploads), len(listed)), width="content")
        ticked = session.selectable_table(
            as_shown(listed, zone()),
            [one.sha256 for one in listed],
            column_config=_columns(),
            column_order=list(_columns()),
            hide_index=True,
            alt="Uploads that are kept, the newest first.",
        )
        actions(view, [one for one in listed if one.sha256 in ticked])
    else:
        st.markdown("Nothing is kept yet. Files that you drop above are, unless you say otherwise.")
    last_done()
    recently_deleted()


def _whose(owner: str) -> str:
    """Where uploads are kept, and who sees them."""
    hashes = "found again by the hash of their content."
    if not owner:
        return f"Kept on this machine, {hashes}"
    if owner.startswith(STRANGER):
        return "Kept on this server. Boards are found again by their link, this list only until you leave."
    return f"Kept on this server for {escape_markdown(owner)} alone, {hashes}"


def _counted(every: int, listed: int) -> str:
    taken, most = cache.open_library().room()
    part = f"{listed} of " if listed < every else ""
    return f"{part}{every:,} upload{'s' * (every != 1)} · {size(taken)} of {size(most)} taken"


def size(count: int) -> str:
    """So many bytes, in the largest unit of which there is one."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f}".removesuffix(".0") + f" {name}"
    return f"{count / 1000:,.0f} kB"


def found(uploads: Sequence[Upload], words: str, also: Sequence[str] = ()) -> list[Upload]:
    """Those that hold every word (in name, kind, note, boards, or first in the hash), and those named also."""
    wanted = words.casefold().split()
    return [one for one in uploads if one.sha256 in also or all(_holds(one, word) for word in wanted)]


def _holds(one: Upload, word: str) -> bool:
    boards = [name for _, name in one.boards]
    text = "\n".join([one.name, _KINDS[one.kind], one.note, *boards]).casefold()
    return word in text or one.sha256.startswith(word)


def zone() -> ZoneInfo:
    """Where the visitor's browser says it is."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def as_shown(uploads: Sequence[Upload], place: ZoneInfo) -> pd.DataFrame:
    """A row an upload, as the table draws it."""
    rows = written(uploads)
    rows["kind"] = [[_KINDS[one.kind]] for one in uploads]
    rows["tied"] *= 100
    rows["size"] /= 1000
    rows["bars"] = [list(one.profile.bars) for one in uploads]
    rows["added"] = rows["added"].dt.tz_localize("UTC").dt.tz_convert(place)
    rows["hash"] = [one.sha256[:7] for one in uploads]
    return rows


def written(uploads: Sequence[Upload]) -> pd.DataFrame:
    """A row an upload, as a file holds it: shares of one, bytes, and the time in UTC."""
    return pd.DataFrame(
        {
            "name": [one.name for one in uploads],
            "kind": [_KINDS[one.kind] for one in uploads],
            "rows": [one.rows for one in uploads],
            "queries": [one.profile.queries for one in uploads],
            "depth": [one.profile.depth for one in uploads],
            "tied": pd.Series([one.profile.tied for one in uploads], dtype="float64"),
            "size": pd.Series([one.kept_size for one in uploads], dtype="float64"),
            "boards": [", ".join(name for _, name in one.boards) for one in uploads],
            "note": [one.note for one in uploads],
            "pinned": [one.pinned for one in uploads],
            "added": pd.Series([one.added for one in uploads], dtype="datetime64[us]"),
            "hash": [one.sha256 for one in uploads],
        }
    )


def _columns() -> dict[str, object]:
    column = st.column_config
    return {
        "name": column.TextColumn("Name", pinned=True, width=180),
        "kind": column.MultiselectColumn(
            "Kind", options=list(_KINDS.values()), color=["blue", "gray"], width=95
        ),
        "rows": column.NumberColumn("Rows", format="localized", width=75),
        "queries": column.NumberColumn("Queries", format="localized", width=70),
        "depth": column.NumberColumn(
            "Depth", format="localized", width=60, help="Documents of the longest list."
        ),
        "bars": column.BarChartColumn(
            "Scores", width=95, y_min=0, color="blue", help="Histogram of scores or grades."
        ),
        "tied": share("Tie ratio", "Documents that share their score with another of their list."),
        "added": column.DatetimeColumn("Added", format="D MMM YYYY, HH:mm", width=145),
        "boards": column.TextColumn("Used on", width=160),
        "note": column.TextColumn("Note", width=180),
        "pinned": column.CheckboxColumn("Pinned", width=70, help="Stays when room is needed."),
        "size": column.NumberColumn("Size", format="%.0f kB", width=75, help="As it is kept."),
        "hash": column.TextColumn("Hash", width=85, help="First letters of the hash of its content."),
    }
