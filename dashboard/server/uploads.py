"""Who may upload, and how much: sessions that were let in, up to a number of bytes each and all together."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from dashboard.access.admitted_sessions import is_admitted
from dashboard.access.settings import UPLOAD_LIMITS
from dashboard.access.sign_in import is_sign_in_required
from dashboard.library.place import byte_limit

_UPLOADS = "/_stcore/upload_file/"
_STATISTICS = "/_stcore/metrics"


class UploadGuard:
    """Refuses uploads of who was not let in, or would hold too much, and statistics to strangers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._on_their_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = scope.get("path", "")
        if scope["type"] == "http" and _STATISTICS in path and is_sign_in_required():
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "PUT" and _UPLOADS in path:
            await self._upload(path.partition(_UPLOADS)[2].partition("/")[0], scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upload(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an upload on while there is room for all of it, or say why not; to break off is no error."""
        headers = Request(scope).headers
        length = headers.get("content-length", "")
        if not is_admitted(session):
            refusal = PlainTextResponse("This session may not upload. Sign in and reload the page.", 403)
        elif not length.isdecimal() or "transfer-encoding" in headers:
            refusal = PlainTextResponse("Say how long the file is.", 411)
        elif limit := self._exceeded_limit(session, int(length)):
            refusal = PlainTextResponse(f"Remove a file first. This server holds {limit}.", 413)
        else:
            with suppress(ClientDisconnect), self._reserved(session, int(length)):
                await self._app(scope, receive, send)
            return
        await refusal(scope, receive, send)

    def _exceeded_limit(self, session: str, n_bytes: int) -> str:
        """Say which limit so many more bytes exceed; return an empty text where none."""
        held = _bytes_by_session() + self._on_their_way
        for (setting, megabytes), n_held, owner in zip(
            UPLOAD_LIMITS.items(), (held[session], held.total()), ("page", "server"), strict=True
        ):
            limit = byte_limit(setting, megabytes)
            if n_held + n_bytes > limit:
                return f"{limit // 10**6:,} MB of uploads a {owner} ({setting})"
        return ""

    @contextmanager
    def _reserved(self, session: str, n_bytes: int) -> Iterator[None]:
        self._on_their_way[session] += n_bytes
        try:
            yield
        finally:
            self._on_their_way[session] -= n_bytes
            self._on_their_way = +self._on_their_way


def _bytes_by_session() -> Counter[str]:
    """Return how much each session holds in files that it uploaded."""
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)  # noqa: S101 the only one there is; tells the type checker
    return Counter(
        {
            session: sum(len(file.data) for file in list(files.values()))
            for session, files in list(manager.file_storage.items())
        }
    )
