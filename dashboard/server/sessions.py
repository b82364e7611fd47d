"""Expired sessions, which are dropped though nobody opens or closes a page."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import streamlit as st

from dashboard.streamlit_internals import forget_expired_sessions

_LOG = logging.getLogger(__name__)
_SECONDS = 5
"""Interval between looks for ended sessions."""


@asynccontextmanager
async def forget_ended_sessions(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Drop expired sessions while the server runs.

    Streamlit keeps a session for `server.disconnectedSessionTTL` seconds after its page closed, and only checks
    when another page opens or closes.
    """
    task = asyncio.create_task(forget_repeatedly())
    try:
        yield {}
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def forget_repeatedly() -> None:
    """Drop expired sessions at intervals; log the first failure."""
    is_logged = False
    while True:
        await asyncio.sleep(_SECONDS)
        try:
            forget_expired_sessions()
        except Exception:  # noqa: BLE001 whatever it is, the next look may succeed
            if not is_logged:
                _LOG.exception("The memory of closed sessions could not be freed. TieScope will try again.")
            is_logged = True
