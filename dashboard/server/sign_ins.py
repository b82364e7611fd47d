"""Personal data is served only to its owner, and no cache stores it."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.access import admitted
from dashboard.access.admission import plain_address
from dashboard.access.sign_in import (
    admitted_address,
    end_sign_in,
    has_ended,
    is_behind_https,
    is_sign_in_required,
)
from dashboard.server.connections import allow_messages
from dashboard.server.first_page import await_loading
from dashboard.streamlit_internals import BackMsg, ForwardMsg, forget_strangers
from metrics.errors import LibraryError, UsageError

_MEDIA, _UPLOADS, _LOGOUT = "/media/", "/_stcore/upload_file/", "/auth/logout"
_MOST_STRANGERS = 64
"""Maximum sockets of visitors who are not signed in, each with open files."""
_MOST_SOCKETS = 100
"""Maximum sockets of a person, or of an IP address without sign-in."""
_MOST_OFFERS = 100_000
"""Maximum downloads to remember; each time a page is drawn, its buttons have new ones."""


class SignInGuard:
    """Requires a valid sign-in of the right person where Streamlit only requires an ID.

    Streamlit serves uploads and downloads to everyone who knows their address, and accepts a cookie until it
    expires. Without sign-in, this guard only prevents caching, and limits the sockets of an IP address.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._offers: dict[tuple[str | None, str], None] = {}  # address of a person, and a file
        # person, "" for strangers → event that ends a socket → person or a stranger's IP address, oldest first
        self._sockets: defaultdict[str, dict[asyncio.Event, str]] = defaultdict(dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a socket."""
        if scope["type"] == "websocket" and _is_required():
            await self._follow(scope, receive, send)
        elif scope["type"] == "websocket":
            with self._limited(scope, _host(scope), receive) as receive_next:
                await self._app(scope, receive_next, send)
        elif scope["type"] == "http":
            refusal = await self._refusal(scope)
            await (refusal or self._app)(scope, receive, _private(scope, send))
        else:
            await self._app(scope, receive, send)

    async def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        """Return the response that rejects a request, None if it is accepted; a sign-out ends the sign-in."""
        path = scope["path"]
        is_guarded = scope["method"] != "OPTIONS" and any(part in path for part in (_MEDIA, _UPLOADS, _LOGOUT))
        if not is_guarded or not _is_required():
            return None
        claims = await _read_claims(scope)
        if _LOGOUT in path:
            return await _end(claims) if claims else None
        address = await asyncio.to_thread(admitted_address, claims)
        if _MEDIA in path:
            is_own = address is not None and (address, path.rpartition("/")[2]) in self._offers
            return None if is_own else PlainTextResponse("Not found", 404)
        session = path.partition(_UPLOADS)[2].partition("/")[0]
        is_own = address is not None and admitted.admitted_address(session) == address
        return None if is_own else PlainTextResponse("Sign in and reload the page.", 403)

    async def _follow(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Follow a socket; after the sign-in has ended it belongs to a stranger."""
        claims = await _read_claims(scope)
        is_stranger = await asyncio.to_thread(admitted_address, claims) is None
        if is_stranger and await asyncio.to_thread(_is_over, claims):
            claims = {}
            scope = {**scope, "headers": [_stranger(name, value) for name, value in scope["headers"]]}
        address = plain_address(str(claims.get("email")))

        async def receive_own() -> Message:
            message = await receive_next()
            request = _operation(message)
            if request is None:
                return message
            file = request.backend_operation_request.deferred_file.file_id
            is_own = not file or (address, file) in self._offers
            is_allowed = is_own and await asyncio.to_thread(admitted_address, claims) is not None
            return message if is_allowed else {**message, "bytes": _emptied(request)}

        async def send_noted(message: Message) -> None:
            for file in _named_files(message):
                self._note(address, file)
            await send(message)

        with self._limited(scope, (not is_stranger and address) or "", receive) as receive_next:
            try:
                await self._app(scope, receive_own, send_noted)
            finally:
                if is_stranger:
                    forget_strangers()

    @contextmanager
    def _limited(self, scope: Scope, person: str, receive: Receive) -> Iterator[Receive]:
        """Count a socket of a person, "" for a stranger, and yield what receives its messages.

        If there are too many, the oldest socket ends: of this person, or of the strangers' busiest IP address.
        """
        is_crowded_out, sockets = asyncio.Event(), self._sockets[person]
        sockets[is_crowded_out] = person or _host(scope)
        if person:
            allow_messages(scope, st.get_option("server.maxWidgetStateSize") * 10**6)
        if len(sockets) > (_MOST_SOCKETS if person else _MOST_STRANGERS):
            ((busiest, _),) = Counter(sockets.values()).most_common(1)
            oldest = next(event for event, visitor in sockets.items() if visitor == busiest)
            del sockets[oldest]
            oldest.set()
        try:
            yield partial(_receive_unless, is_crowded_out, receive)
        finally:
            sockets.pop(is_crowded_out, None)
            if not sockets and self._sockets.get(person) is sockets:
                del self._sockets[person]

    def _note(self, address: str | None, file: str) -> None:
        """Remember that a person was offered a download."""
        self._offers.pop((address, file), None)
        self._offers[address, file] = None
        if len(self._offers) > _MOST_OFFERS:
            del self._offers[next(iter(self._offers))]


def _host(scope: Scope) -> str:
    """Return the IP address that a socket comes from."""
    return str((scope.get("client") or ["unknown"])[0])


async def _receive_unless(is_over: asyncio.Event, receive: Receive) -> Message:
    """Return a socket's next message, or a disconnect once the event is set."""
    message, over = asyncio.ensure_future(receive()), asyncio.ensure_future(is_over.wait())
    try:
        await asyncio.wait({message, over}, return_when=asyncio.FIRST_COMPLETED)
        return message.result() if message.done() else {"type": "websocket.disconnect", "code": 1013}
    finally:
        message.cancel()
        over.cancel()


def _is_required() -> bool:
    """Return whether visitors sign in, also if that is unknown."""
    try:
        return is_sign_in_required()
    except UsageError:
        return True


async def _read_claims(scope: Scope) -> dict[str, Any]:
    """Return the provider's claims about the sender, once the library can be imported."""
    if claims := admitted.read_claims(HTTPConnection(scope).cookies):
        await asyncio.to_thread(await_loading)  # two threads that import the same may see half of it
    return claims


def _is_over(claims: Mapping[str, Any]) -> bool:
    """Return whether a sign-in is known to have ended; if the library fails, the page says so."""
    try:
        return bool(claims) and has_ended(claims)
    except LibraryError:
        return False


async def _end(claims: Mapping[str, Any]) -> PlainTextResponse | None:
    """End a sign-in; return the error response if that fails."""
    try:
        await asyncio.to_thread(end_sign_in, claims)
    except LibraryError as error:
        return PlainTextResponse(
            f"Signing out failed, so you are still signed in. {error} Then sign out again.", 503
        )
    return None


def _stranger(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return a header without sign-in cookies."""
    return name, admitted.without_sign_in(value) if name == b"cookie" else value


def _operation(message: Message) -> BackMsg | None:
    """Return a request other than a rerun, which checks permissions itself."""
    try:
        request = BackMsg.FromString(message.get("bytes") or b"")
    except DecodeError:
        return None  # Streamlit refuses it
    return request if request.WhichOneof("type") == "backend_operation_request" else None


def _emptied(request: BackMsg) -> bytes:
    """Return a request without content, which Streamlit answers with an error."""
    operation = request.backend_operation_request
    if kind := operation.WhichOneof("payload"):
        getattr(operation, kind).Clear()
        getattr(operation, kind).SetInParent()
    return bytes(request.SerializeToString())


def _named_files(message: Message) -> set[str]:
    """Return the downloads that a message to a page names."""
    forward = ForwardMsg.FromString(message.get("bytes") or b"")
    button = forward.delta.new_element.download_button
    urls = (button.url, forward.backend_operation_response.deferred_file.url)
    return {button.deferred_file_id, *(url.rpartition("/")[2] for url in urls)} - {""}


def _private(scope: Scope, send: Send) -> Send:
    """Keep pages and files out of caches, and cookies off HTTP if visitors use HTTPS."""
    is_personal = _MEDIA in scope["path"] or _UPLOADS in scope["path"]

    async def send_private(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if is_personal or headers.get("content-type", "").startswith("text/html"):
                headers["Cache-Control"] = "private, no-store"
            if "set-cookie" in headers and is_behind_https():
                message["headers"] = [_secure(name, value) for name, value in message["headers"]]
        await send(message)

    return send_private


def _secure(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    is_open_cookie = name == b"set-cookie" and b"; secure" not in value.lower()
    return name, value + b"; Secure" if is_open_cookie else value
