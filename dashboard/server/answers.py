"""What every answer of the server carries: headers, and files of the front end compressed."""

from collections.abc import Sequence
from ipaddress import ip_address

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
"""The tightest that Streamlit's front end lives with.

It writes styles and its first script into the page, and loads components from memory; plotly compiles what
it draws by WebGL.
"""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SecurityHeaders:
    """Sends these headers with every answer; where others may embed the app, names them."""

    def __init__(self, app: ASGIApp, embedders: Sequence[str] = ()) -> None:
        """Wrap an app; the embedders are origins whose pages may show it in a frame, beside its own."""
        self._app = app
        policy = _SOURCES | {"frame-ancestors": " ".join(["'self'", *embedders])}
        self._headers = _HEADERS | {
            "Content-Security-Policy": "; ".join(f"{kind} {sources}" for kind, sources in policy.items())
        }
        if not embedders:
            self._headers["X-Frame-Options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


_FILES = "/static/"
_LEVEL = 6
"""Of zlib: its own default, half the time of the highest for the same size but a percent."""


class CompressedFiles:
    """Compresses the scripts and styles of the front end, six megabytes that a browser then keeps.

    Not for a browser on this machine: there, compressing takes longer than the way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._compressing_app = GZipMiddleware(app, compresslevel=_LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_compressed = scope["type"] == "http" and _FILES in scope["path"] and not _is_here(scope)
        await (self._compressing_app if is_compressed else self._app)(scope, receive, send)


def _is_here(scope: Scope) -> bool:
    """Return whether the visitor is on this machine; on which one, a socket of the file system does not say."""
    address, _ = scope.get("client") or ("127.0.0.1", 0)
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
