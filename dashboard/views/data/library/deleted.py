"""What was deleted and can be restored, and what may go by itself when the library is full."""

from collections.abc import Callable

import streamlit as st

from dashboard import cache, session
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.storage.schema import RETENTION
from dashboard.widgets.page_body import section
from metrics.errors import TieScopeError
from metrics.support.wording import count_of

_MAX_LINES = 20
"""Lines at most; what was deleted before is not listed."""


@section("Recently deleted uploads")
def recently_deleted() -> None:
    """Draw uploads and boards that can be restored, and the choice of what goes when the library is full."""
    library, owner = cache.open_library(), session.owner()
    uploads, boards = library.uploads(owner, deleted=True), library.boards(owner, deleted=True)
    if uploads or boards:
        with st.expander(f"Recently deleted · {len(uploads) + len(boards)}", icon=":material/delete:"):
            st.caption(f"Kept for {RETENTION.days} days after they were deleted.")
            for upload in uploads[:_MAX_LINES]:
                note = f"{count_of(upload.rows, 'row')}, {upload.sha256[:7]}"
                if _line(upload.name, note, upload.sha256[:12]):
                    _restore(library.reclaim, upload.sha256)
            for board in boards[:_MAX_LINES]:
                if _line(board.name, f"board, changed {board.changed:%d %b %Y}", board.id):
                    _restore(library.restore, board.id)
            if max(len(uploads), len(boards)) > _MAX_LINES:
                st.caption(
                    f"The {_MAX_LINES} newest uploads and the {_MAX_LINES} boards changed last are listed."
                )
    _eviction()


def _line(name: str, note: str, key: str) -> bool:
    """Draw a thing that was deleted; return whether it is to be restored."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"{escape_markdown(name)} :gray[{escape_markdown(note)}]", width="content")
        return st.button("Restore", key=f"restore-{key}", type="tertiary")


def _restore(bring_back: Callable[[str, str], None], item_id: str) -> None:
    try:
        bring_back(item_id, session.owner())
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
    else:
        st.rerun()


def _eviction() -> None:
    """Draw the choice whether the oldest uploads go when the library is full."""
    owner = session.owner()
    current = cache.open_library().is_evicting(owner)
    evict = st.toggle(
        "When full, let the oldest unpinned uploads go",
        current,
        key=f"evict-{current}",
        help="Else an upload that finds no room is refused. Uploads on a board with a name always stay.",
    )
    if evict != current:
        cache.open_library().set_eviction(owner, evict=evict)
        st.rerun()
