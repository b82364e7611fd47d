"""The browser is told at once of the scripts that the first chart and the first table need."""

from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SCRIPTS = Path(streamlit.__file__).parent / "static" / "static" / "js"
_NEEDED = ("PlotlyChart", "DataFrame")
"""Modules that the front end asks for only when the first element that needs them has come."""


class PreloadedScripts:
    """Sends with every page which scripts to load besides those it names."""

    def __init__(self, app: ASGIApp, scripts: Path = _SCRIPTS) -> None:
        """Wrap an app whose front end has its scripts in a folder."""
        self._app = app
        paths = [path for name in _NEEDED for path in scripts.glob(f"{name}.*.js")]
        self._links = ", ".join(f"<./static/js/{path.name}>; rel=modulepreload" for path in paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_links(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if self._links and headers.get("content-type", "").startswith("text/html"):
                    headers["Link"] = self._links
            await send(message)

        await self._app(scope, receive, send_with_links if scope["type"] == "http" else send)
