"""Connections whose clients do not finish asking: closed after a while, and the oldest where there are many."""

import sys
from asyncio import TimerHandle, Transport
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import ClassVar

from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """HTTP of uvicorn, which itself waits for the rest of a request's headers for ever.

    It waits as long for the rest of a body that the app has answered without reading it.
    """

    seconds: ClassVar[float] = 20
    """From when the server begins to wait until all headers of the request must be there."""
    max_waiting: ClassVar[int] = 256
    """Connections that wait at once: fewer than the 1,024 files that a process may always have open."""
    _timers: ClassVar[dict["TimedProtocol", TimerHandle]] = {}
    """Connection that waits → what will close it; the oldest first."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for a request.

        Small packets go out at once. asyncio has them do so where it knows a socket for one of TCP, which those
        of Streamlit do not say: a browser then waits for 40 ms whenever an answer takes two packets.
        """
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        self._follow()

    def data_received(self, data: bytes) -> None:
        """Go on with a request, or wait for the next."""
        super().data_received(data)
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._follow()

    def _follow(self) -> None:
        """Begin to wait, or end it; one that uvicorn no longer lists is lost, or has become a WebSocket."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self not in self.connections or is_answering:
            self._stop_waiting()
        elif self not in self._timers:
            self._timers[self] = self.loop.call_later(self.seconds, self.transport.abort)
            if len(self._timers) > self.max_waiting:
                self.loop.call_later(0, self._end_oldest)  # once what came with each has been read

    def _end_oldest(self) -> None:
        """Close the oldest connection that waits, if there are still too many."""
        if len(self._timers) > self.max_waiting:
            oldest = next(iter(self._timers))
            self._timers.pop(oldest).cancel()
            oldest.transport.abort()

    def _stop_waiting(self) -> None:
        if timer := self._timers.pop(self, None):
            timer.cancel()


def limit_waiting() -> None:
    """Have uvicorn serve by this protocol from now on: Streamlit, which starts it, has no option for that.

    Neither project documents this table. Where it no longer counts, `test_connections.py` says so.
    """
    HTTP_PROTOCOLS["auto"] = f"{__name__}:{TimedProtocol.__name__}"


def allow_many_files() -> None:
    """Let this process open as many files as the system lets it, up to 65,536: a page takes about four."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 Windows has neither the module nor the limit

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = 2**16 if hard == resource.RLIM_INFINITY else min(hard, 2**16)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
