"""Upload limits per visitor and for the server."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.access.admitted import is_admitted, visitor_of
from dashboard.access.sign_in import is_sign_in_required
from dashboard.settings import UPLOAD_LIMITS, byte_limit
from dashboard.streamlit_internals import bytes_by_session

_UPLOADS = "/_stcore/upload_file/"
_STATISTICS = "/_stcore/metrics"
_MAX_AT_ONCE = 100
"""Maximum simultaneous uploads of a visitor; each keeps a connection and a file open."""


class UploadGuard:
    """Rejects uploads of visitors without access and above the limits, and hides statistics from strangers.

    Received bytes count, not announced ones, so that nobody can block others by announcing large uploads.
    """

    def __init__(self, app: ASGIApp, seconds: float = 30) -> None:
        """Wrap an app; an upload ends after `seconds` without data."""
        self._app = app
        self._seconds = seconds
        self._arriving: Counter[str] = Counter()
        self._n_uploads: Counter[str] = Counter()
        self._visitors: dict[str, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        path = scope.get("path", "")
        if scope["type"] == "http" and _STATISTICS in path and is_sign_in_required():
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "PUT" and _UPLOADS in path:
            await self._upload(path.partition(_UPLOADS)[2].partition("/")[0], scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upload(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Request(scope).headers
        length = headers.get("content-length", "")
        visitor = visitor_of(session)
        if not is_admitted(session):
            refusal = PlainTextResponse("This session may not upload. Sign in and reload the page.", 403)
        elif not length.isdecimal() or "transfer-encoding" in headers:
            refusal = PlainTextResponse("The request needs a Content-Length header.", 411)
        elif self._n_uploads[visitor] >= _MAX_AT_ONCE:
            refusal = PlainTextResponse(
                f"You already have {_MAX_AT_ONCE} uploads in progress. Wait for one to finish.", 429
            )
        elif message := self._full_message(visitor, int(length)):
            refusal = PlainTextResponse(message, 413)
        else:
            self._visitors[session] = visitor
            with suppress(ClientDisconnect), self._counting(visitor, receive) as receive_counted:
                await self._app(scope, receive_counted, send)
            return
        await refusal(scope, receive, send)

    @contextmanager
    def _counting(self, visitor: str, receive: Receive) -> Iterator[Receive]:
        """Count an upload and its received bytes; raise an HTTPException at a limit."""
        n_bytes = 0

        async def receive_counted() -> Message:
            nonlocal n_bytes
            try:
                async with asyncio.timeout(self._seconds):
                    message = await receive()
            except TimeoutError:
                detail = f"No data arrived for {self._seconds:g} seconds. Upload the file again."
                raise HTTPException(408, detail, {"connection": "close"}) from None
            n_new = len(message.get("body", b""))
            if full := self._full_message(visitor, n_new):
                raise HTTPException(413, full)
            n_bytes += n_new
            self._arriving[visitor] += n_new
            return message

        self._n_uploads[visitor] += 1
        try:
            yield receive_counted
        finally:
            self._n_uploads[visitor] -= 1
            self._arriving[visitor] -= n_bytes
            self._n_uploads, self._arriving = +self._n_uploads, +self._arriving

    def _full_message(self, visitor: str, n_bytes: int) -> str:
        """Return which limit `n_bytes` more would exceed, or an empty text."""
        n_bytes_of = self._bytes_by_visitor()
        for (setting, megabytes), n_held, owner in zip(
            UPLOAD_LIMITS.items(),
            (n_bytes_of[visitor], n_bytes_of.total()),
            ("of one visitor", "in all"),
            strict=True,
        ):
            limit = byte_limit(setting, megabytes)
            if n_held + n_bytes > limit:
                room = f"{limit // 10**6:,} MB of uploads {owner} ({setting})"
                return f"Remove a file first. This server accepts at most {room}."
        return ""

    def _bytes_by_visitor(self) -> Counter[str]:
        """Return the bytes that each visitor holds, stored and arriving; forget sessions without any."""
        stored = bytes_by_session()
        self._visitors = {
            session: visitor
            for session, visitor in self._visitors.items()
            if session in stored or visitor in self._n_uploads
        }
        n_bytes_of = Counter(self._arriving)
        for session, n_bytes in stored.items():
            n_bytes_of[self._visitors.get(session, session)] += n_bytes
        return n_bytes_of
