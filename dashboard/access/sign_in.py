"""The gate: who is signed in, and what is drawn instead of the app for everybody else.

Closed where in doubt: secrets that cannot be read, or an allow-list without secrets, let nobody in.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urljoin

import streamlit as st

from dashboard.access.admission import (
    INSTALL,
    can_sign_in,
    is_loopback,
    missing_parts,
    note_admission,
    sign_in_id,
)
from dashboard.access.allow_list import is_allowed, parse_allow_list, plain_address
from dashboard.access.allowed_paths import AllowedPaths
from dashboard.access.settings import ALLOW, ALLOW_PATHS, INSECURE
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.audit import record_event
from metrics.errors import LibraryError, UsageError, needs

_RETURN_SCRIPT = (Path(__file__).parents[1] / "assets" / "wanted.js").read_text(encoding="utf-8")
_remember_page = st.components.v2.component("tiescope.wanted", js=_RETURN_SCRIPT)
"""Has the browser come back to this address once its visitor is signed in."""
PURPOSE = (
    "shows how much of a reranker's score is relevance, and how much is the order its ties happened to be "
    "sorted in."
)
"""What the app is for, after its name."""
_SIGN_IN_SECONDS = 30 * 86_400
"""How long a sign-in lasts; asked at every run, for a page may stay open longer."""


def admit() -> None:
    """Return for those who may see the app, and upload; for others draw why not, and stop."""
    is_required = True
    try:
        if is_required := is_sign_in_required():
            _demand_allowed(_allowed_entries())
    except UsageError as error:
        _close("Sign-in is not set up", error_markdown(error))
    except LibraryError as error:
        reason = f"Nobody is let in until TieScope can tell which have ended. {error}"
        _close("Sign-ins cannot be checked", escape_markdown(reason))
    address = identity() if is_required else ""
    if note_admission(address) and is_required:
        record_event("entered", address or "")


def is_admitted() -> bool:
    """Return whether `admit` would return for this visitor now; it draws and notes nothing."""
    try:
        return not is_sign_in_required() or admitted_address(st.user.to_dict()) is not None
    except UsageError:
        return False


def admitted_address(claims: Mapping[str, Any]) -> str | None:
    """Return the address of somebody whom the provider says these claims of and who may see the app now.

    None of everybody else, and while it cannot be told.
    """
    try:
        is_let_in = _is_signed_in(claims) and _is_on(claims, _allowed_entries()) and not has_ended(claims)
    except (UsageError, LibraryError):
        return None
    return plain_address(claims["email"]) if is_let_in else None


def has_ended(claims: Mapping[str, Any]) -> bool:
    """Return whether somebody signed out of a sign-in; LibraryError where that cannot be told."""
    from dashboard import cache  # noqa: PLC0415 the server answers before pyarrow is here

    return cache.open_library().has_ended(sign_in_id(claims))


def end_sign_in(claims: Mapping[str, Any]) -> None:
    """End a sign-in wherever its cookie is, and forget its boards of one session."""
    from dashboard import cache  # noqa: PLC0415 as above

    cache.open_library().end_sign_in(sign_in_id(claims))
    cache.loaded_boards().remove_of(sign_in_id(claims))


def _demand_allowed(entries: tuple[str, ...]) -> None:
    """Draw why not for those who are not signed in, or not allowed, and stop."""
    claims = st.user.to_dict()
    if not _is_signed_in(claims):
        _remember_page(key="wanted")
        _close("Sign in to TieScope", f"It {PURPOSE}", "Sign in", st.login)
    if has_ended(claims):
        _remember_page(key="wanted")
        _close("You are signed out", "Sign in again to go on.", "Sign in", st.login)
    if not _is_on(claims, entries):
        record_event("refused", _signed_in_email())
        _close(
            "Not allowed in",
            f"You are signed in as **{escape_markdown(_signed_in_email())}**. This server's list does not have "
            "that address, or its provider has not verified it. Ask whoever runs the server to add it.",
            "Sign out",
            _sign_out,
        )


def _is_on(claims: Mapping[str, Any], entries: tuple[str, ...]) -> bool:
    """Return whether the address signed in is on the allow-list."""
    return is_allowed(claims.get("email"), claims.get("email_verified"), entries)


def _is_signed_in(claims: Mapping[str, Any]) -> bool:
    """Return whether the provider said who this is, and not too long ago."""
    issued = claims.get("iat")
    is_over = isinstance(issued, int | float) and time.time() - issued > _SIGN_IN_SECONDS
    return claims.get("is_logged_in") is True and not is_over


def _sign_out() -> None:
    """End the sign-in of this page, which may be another than that of the browser's cookie by now."""
    with suppress(LibraryError):  # the address that st.logout leads to says so
        end_sign_in(st.user.to_dict())
    st.logout()


def show_account() -> None:
    """Draw who is signed in, and a way out; nothing where nobody signs in."""
    if address := identity():
        with st.container(gap="xsmall"):
            st.caption(f"Signed in as {escape_markdown(address)}")
            st.button("Sign out", icon=":material/logout:", on_click=_sign_out, width="stretch")


def identity() -> str | None:
    """Return whom the data of this visitor belongs to.

    Returns:
        The address signed in, in lower case; an empty text where one owner stands for everybody; None for a
        stranger, where others reach the server and nobody signs in.
    """
    if is_sign_in_required():
        return plain_address(_signed_in_email())
    return "" if is_open_to_all() or is_loopback(st.get_option("server.address")) else None


def _signed_in_email() -> str:
    return str(st.user.get("email") or "somebody without an e-mail address")


def is_open_to_all() -> bool:
    """Return whether nobody signs in, and all who reach the server share what is kept there."""
    return os.environ.get(INSECURE) == "1"


def is_sign_in_required() -> bool:
    """Return whether visitors of this server sign in: its secrets say how, or its allow-list says who."""
    return not is_open_to_all() and (_auth_section() is not None or bool(os.environ.get(ALLOW, "").strip()))


def is_behind_https() -> bool:
    """Return whether visitors come back from signing in by https; their cookies go by nothing else then."""
    try:
        return str((_auth_section() or {}).get("redirect_uri")).startswith("https://")
    except UsageError:
        return False


def _allowed_entries() -> tuple[str, ...]:
    """Return the allow-list of a server whose sign-in is whole; raise a UsageError where it is not."""
    auth, entries = _auth_section(), parse_allow_list(os.environ.get(ALLOW, "").split(","))
    if auth is None:
        raise UsageError(
            f"{ALLOW} says who may sign in, but the secrets of this server have no [auth] section."
        )
    if lack := missing_parts(auth):
        raise UsageError(f"In the secrets of this server, {lack}.")
    if not can_sign_in():
        raise UsageError(f"Authlib is not installed: {INSTALL}.")
    if not entries:
        raise UsageError(f"Nobody is allowed in. Start TieScope with --allow ADDRESS, or set {ALLOW}.")
    return entries


def _auth_section() -> Mapping[str, Any] | None:
    """Return what the secrets say of sign-in; None where there are none, or they do not mention it."""
    try:
        auth = st.secrets.get("auth")
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and not any(
            map(os.path.exists, st.get_option("secrets.files"))
        ):
            return None
        raise UsageError("The secrets of this server cannot be read; its log says why.") from error
    if auth is not None and not isinstance(auth, Mapping):
        raise UsageError("In the secrets of this server, auth is not a section.")
    return auth


def _close(title: str, reason: str, label: str = "", action: Callable[[], None] | None = None) -> NoReturn:
    """Draw a page without the app: a title, a sentence, perhaps a button; nothing runs after it."""
    note_admission(None)
    st.space(96)
    with st.container(horizontal_alignment="center"), st.container(width=440, gap="small"):
        st.title(title, anchor=False)
        st.markdown(reason)
        if action:
            st.button(label, type="primary", on_click=action)
    st.stop()


def guard_redirects() -> None:
    """Have every web address that this process opens from now on lead nowhere that is not allowed.

    Raises:
        MissingPackageError: nothing is installed that opens addresses.
    """
    with needs("distributed"):
        from fsspec.config import conf  # noqa: PLC0415 of an extra
    for scheme in ("http", "https"):
        conf.setdefault(scheme, {})["get_client"] = _guarded_client


async def _guarded_client(**options: Any) -> Any:  # noqa: ANN401 as fsspec passes them on
    """Return a session of aiohttp that asks before it follows a redirect."""
    import aiohttp  # noqa: PLC0415 what opens http, where it is installed

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(refuse_elsewhere)
    return aiohttp.ClientSession(trace_configs=[trace], **options)


async def refuse_elsewhere(_session: object, _context: object, redirect: Any) -> None:  # noqa: ANN401 aiohttp's
    """Raise a UsageError where a redirect leads to what may not be opened."""
    texts = json.loads(os.environ.get(ALLOW_PATHS) or "[]")
    allowed = AllowedPaths(addresses=tuple(text for text in texts if "://" in text))
    headers = redirect.response.headers
    target = urljoin(str(redirect.url), headers.get("Location") or headers.get("URI") or "")
    if not allowed.has_address(target):
        raise UsageError(f"{redirect.url}: it leads to what may not be opened here.")
