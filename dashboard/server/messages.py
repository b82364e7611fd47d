"""The allow-list of socket messages from browsers."""

from typing import Any

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.streamlit_internals import BackMsg

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
