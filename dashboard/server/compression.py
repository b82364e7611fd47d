"""Files of the front end travel compressed to a visitor on another machine."""

from ipaddress import ip_address

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

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
