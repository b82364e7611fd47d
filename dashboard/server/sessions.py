"""Sessions that ended give back what they held, whether or not another visitor comes."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from dashboard.server.board_results import board_results

_LOG = logging.getLogger(__name__)
_SECONDS = 5
"""Between two looks for sessions that ended."""


@asynccontextmanager
async def forget_ended_sessions(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Drop sessions whose time is over, as long as the server runs.

    Streamlit keeps a session for `server.disconnectedSessionTTL` seconds after its page was closed, and looks
    whether they are over when the next page opens or closes.
    """
    task = asyncio.create_task(forget_repeatedly())
    try:
        yield {}
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def forget_repeatedly() -> None:
    """Drop sessions whose time is over, again and again; the first look that fails is logged."""
    is_logged = False
    while True:
        await asyncio.sleep(_SECONDS)
        try:
            if forget_expired() + board_results.release():
                await asyncio.to_thread(_give_back)
        except Exception:  # noqa: BLE001 whatever it is, the next look may succeed
            if not is_logged:
                _LOG.exception("Sessions that ended are not given back; TieScope tries again.")
            is_logged = True


def _give_back() -> None:
    """Collect what ended sessions held, and return it to the system."""
    from metrics.support.memory import give_back_memory  # noqa: PLC0415 the server answers before pyarrow is here

    gc.collect()
    give_back_memory()


def forget_expired() -> int:
    """Drop the sessions whose time is over, and all they hold; return how many.

    Streamlit's loop keeps the last of them at hand until another visitor comes.
    """
    ended = _storage()._cache.expire()  # type: ignore[attr-defined]  # noqa: SLF001 there is no public way
    for _, information in ended:
        session = information.session
        session.shutdown()
        session.session_state.clear()
        session.flush_browser_queue()
        session._fragment_storage.clear()  # noqa: SLF001 likewise
    return len(ended)


def forget_strangers() -> None:
    """Drop the closed sessions of visitors who were not signed in: each holds three files, and nothing else."""
    storage = _storage()
    for information in storage.list():
        if information.session.matches_user_info({}):
            storage.delete(information.session.id)
            information.session.shutdown()


def _storage() -> MemorySessionStorage:
    """Return where Streamlit keeps the sessions of closed pages."""
    manager: Any = runtime.get_instance()._session_mgr  # noqa: SLF001 there is no public way
    storage: MemorySessionStorage = manager._session_storage  # noqa: SLF001 likewise
    return storage
