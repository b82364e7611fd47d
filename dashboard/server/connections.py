"""Time limits for incomplete requests, and limits on waiting connections and on messages of sockets."""

import asyncio
import logging
import sys
from asyncio import TimerHandle, Transport
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any, ClassVar

import streamlit as st
from starlette.types import Scope
from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.h11_impl import H11Protocol

from dashboard.streamlit_internals import forget_expired_sessions

_CONNECTION = "tiescope.connection"
"""Extension of a socket's scope: the connection, which has the limit of its messages."""


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with a time limit for headers, and a low limit for messages of sockets.

    uvicorn itself waits forever for the rest of a request's headers, and for a body that the app did not read.
    """

    seconds: ClassVar[float] = 20
    """Time limit for all headers of a request."""
    max_waiting: ClassVar[int] = 256
    """Maximum waiting connections, below the usual limit of 1,024 open files per process."""
    max_message: ClassVar[int] = 2**20
    """Maximum bytes of a message of a visitor who is not signed in."""
    _timers: ClassVar[dict["TimedProtocol", TimerHandle]] = {}
    """Waiting connection → timer that closes it, oldest first."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for a request, and send small packets at once.

        asyncio sets TCP_NODELAY only on sockets it recognizes as TCP, unlike Streamlit's. Without it a browser
        waits 40 ms for a response of two packets.
        """
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        self._follow()

    def data_received(self, data: bytes) -> None:
        """Continue a request or wait for the next."""
        super().data_received(data)
        self._follow()

    def handle_websocket_upgrade(self, event: Any) -> None:  # noqa: ANN401 as uvicorn has it
        """Open a socket, whose messages are limited before they are in memory."""
        super().handle_websocket_upgrade(event)
        socket: Any = self.transport.get_protocol()
        socket.conn.max_message_size = self.max_message
        if hasattr(socket, "scope"):  # absent if the handshake failed
            socket.scope["extensions"][_CONNECTION] = socket.conn

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._follow()

    def _follow(self) -> None:
        """Start or stop the timer; uvicorn removes lost connections and WebSockets from `connections`."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self not in self.connections or is_answering:
            self._stop_waiting()
        elif self not in self._timers:
            self._timers[self] = self.loop.call_later(self.seconds, self.transport.abort)
            if len(self._timers) > self.max_waiting:
                self.loop.call_later(0, self._end_oldest)  # once what came with each has been read

    def _end_oldest(self) -> None:
        if len(self._timers) > self.max_waiting:
            oldest = next(iter(self._timers))
            self._timers.pop(oldest).cancel()
            oldest.transport.abort()

    def _stop_waiting(self) -> None:
        if timer := self._timers.pop(self, None):
            timer.cancel()


def allow_messages(scope: Scope, max_bytes: int) -> None:
    """Set the limit of a socket's messages."""
    if connection := scope.get("extensions", {}).get(_CONNECTION):
        connection.max_message_size = max_bytes


def limit_waiting() -> None:
    """Make uvicorn use this protocol. Streamlit, which starts uvicorn, has no option for it.

    Neither project documents this table; `test_connections.py` fails if it stops working.
    """
    HTTP_PROTOCOLS["auto"] = f"{__name__}:{TimedProtocol.__name__}"


def allow_many_files() -> None:
    """Raise this process's limit of open files to at most 65,536; a page takes about four."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 Windows has neither the module nor the limit

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = 2**16 if hard == resource.RLIM_INFINITY else min(hard, 2**16)
        if soft != resource.RLIM_INFINITY and soft < limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


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
