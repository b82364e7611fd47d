"""Security headers of all responses, the address of the first page, and the allow-list of socket messages."""

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError
from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.streamlit_internals import BackMsg

_SOURCES = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "media-src": "'self' data: blob:",
    "worker-src": "'self' blob:",
    "connect-src": "'self' data: blob:",
    "frame-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}
"""The strictest policy that Streamlit's front end works with.

It writes inline styles and a script, and loads components from memory. plotly compiles WebGL shaders.
"""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SecurityHeaders:
    """Adds security headers to every response."""

    def __init__(self, app: ASGIApp, embedders: Sequence[str] = ()) -> None:
        """Wrap an app; `embedders` are origins that may show it in a frame."""
        self._app = app
        policy = _SOURCES | {"frame-ancestors": " ".join(["'self'", *embedders])}
        self._headers = _HEADERS | {
            "Content-Security-Policy": "; ".join(f"{kind} {sources}" for kind, sources in policy.items())
        }
        if not embedders:
            self._headers["X-Frame-Options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class FirstPageRedirect:
    """Redirects the own address of the first page to the root, with its query.

    Streamlit serves its default page at the root, and calls the page's own address "not found".
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"].endswith(self._path):
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(f"./?{query}" if query else "./")(scope, receive, send)
        else:
            await self._app(scope, receive, send)


_OF_ONES_OWN_PAGE = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat"}
_OPERATION = "backend_operation_request"
_OPERATIONS = {"deferred_file", "dataframe_chunk"}


class MessageGuard:
    """Drops messages that affect all visitors or the server's files.

    Any session, signed in or not, could otherwise clear all caches, read the server's git information, or write
    into its folders.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a socket."""

        async def receive_own() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or _is_own(message.get("bytes")):
                    return message

        await self._app(scope, receive_own if scope["type"] == "websocket" else receive, send)


def _is_own(data: Any) -> bool:  # noqa: ANN401 bytes, or None where it is text
    """Return whether a message only affects the page that sends it; Streamlit rejects malformed ones."""
    try:
        message = BackMsg.FromString(data or b"")
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == _OPERATION:
        kind = message.backend_operation_request.WhichOneof("payload")
        return kind in _OPERATIONS
    return kind is None or kind in _OF_ONES_OWN_PAGE
