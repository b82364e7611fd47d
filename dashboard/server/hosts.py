"""The addresses that the server answers to, so that no other site can read it through a visitor's browser."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import NamedTuple

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from metrics.errors import UsageError

_ADDRESS = re.compile(
    r"(?:(https?)://)?([a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::(\d{1,5}))?", re.ASCII | re.IGNORECASE
)
_PORTS = {"http": 80, "https": 443}
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
"""Names of this machine, which DNS cannot reassign."""


class Origin(NamedTuple):
    """The origin of a page; in an address as written, the scheme may be empty and the port 0."""

    scheme: str
    host: str
    port: int

    def complete(self, scheme: str) -> "Origin":
        """Return the origin with this scheme, and its usual port if it has none."""
        return Origin(scheme, self.host, self.port or _PORTS[scheme])


class HostGuard:
    """Rejects requests for other hosts and requests from pages of other origins.

    After DNS rebinding, `Host` names the attacker's site. A page from another server has that server's
    `Origin`.
    """

    def __init__(self, app: ASGIApp, declared: Iterable[str] = ()) -> None:
        """Wrap an app.

        Args:
            app: answers accepted requests.
            declared: host names, whose pages use the scheme and port of the request; and full origins, for
                proxies that terminate TLS.
        """
        self._app = app
        self._names, self._origins = set(_LOOPBACK), set[Origin]()
        for address in map(parse_declared, declared):
            if address.scheme or address.port:
                schemes = [address.scheme] if address.scheme else _PORTS
                self._origins |= {address.complete(scheme) for scheme in schemes}
            else:
                self._names.add(address.host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a socket."""
        refusal = self._refusal(scope) if scope["type"] in {"http", "websocket"} else ""
        if not refusal:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(refusal, 403)(scope, receive, send)
        else:
            await WebSocketClose(reason=refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> str:
        """Return why a request is rejected, or an empty text."""
        hosts = _header(scope, b"host")
        host = _parse(hosts[0]) if len(hosts) == 1 else None
        if host is None or host.scheme:
            return "The request does not name exactly one host."
        is_named = host.host in self._names or host.host == _arrival(scope)
        if not is_named and host.host not in {origin.host for origin in self._origins}:
            return (
                f"This server does not accept requests for {hosts[0]}. Start it with --allow-host {hosts[0]}."
            )
        origins = _header(scope, b"origin")
        if not origins:
            return ""
        page = _parse(origins[0]) if len(origins) == 1 else None
        if not (page and page.scheme):
            return "The request does not come from a page of this server."
        origin = page.complete(page.scheme)
        own = host.complete(str(scope["scheme"]).replace("ws", "http"))
        if (is_named and origin == own) or (origin in self._origins and origin.host == host.host):
            return ""
        return (
            f"The request comes from a page on {origins[0]}, not on {own.scheme}://{hosts[0]}. "
            f"If a proxy serves TieScope at {origins[0]}, start TieScope with --allow-host {origins[0]}."
        )


def parse_declared(text: str) -> Origin:
    """Return a host that a server is started for, with its scheme and port if given."""
    if (address := _parse(text)) is None:
        raise UsageError(
            f"{text} is neither a host name nor an origin. In --host, --allow-host and redirect_uri, write a "
            "name or an origin, such as tiescope.example.org or https://tiescope.example.org."
        )
    return address


def _parse(text: str) -> Origin | None:
    """Return the address in a text, None if it is not one."""
    if not (match := _ADDRESS.fullmatch(text)):
        return None
    scheme, host, port = (part.lower() for part in match.groups(""))
    if host.startswith("["):
        try:
            host = str(ip_address(host[1:-1]))
        except ValueError:
            return None
    if port and not 0 < int(port) < 2**16:
        return None
    return Origin(scheme, host, int(port or 0))


def _arrival(scope: Scope) -> str:
    """Return the IP address at which a request arrived, which DNS cannot redirect."""
    try:
        address = ip_address((scope.get("server") or ("",))[0])
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address)


def _header(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
