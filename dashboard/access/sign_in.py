"""Sign-in, and the pages for visitors who are not signed in or not allowed.

An incomplete or unreadable configuration lets nobody in.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import streamlit as st

from dashboard.access.admission import (
    INSTALL,
    can_sign_in,
    is_allowed,
    is_loopback,
    missing_parts,
    parse_allow_list,
    plain_address,
)
from dashboard.access.admitted import note_admission, sign_in_id
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.audit import record_event
from dashboard.settings import ALLOW, INSECURE
from metrics.errors import LibraryError, UsageError

_RETURN_SCRIPT = (Path(__file__).parents[1] / "assets" / "wanted.js").read_text(encoding="utf-8")
_remember_page = st.components.v2.component("tiescope.wanted", js=_RETURN_SCRIPT)
"""Makes the browser return to this address after sign-in."""
_SIGN_IN_SECONDS = 30 * 86_400
"""Duration of a sign-in, checked on every run, because pages can stay open longer."""


def admit() -> None:
    """Return if this visitor may use the app; otherwise draw the reason and stop."""
    is_required = True
    try:
        if is_required := is_sign_in_required():
            _demand_allowed(_allowed_entries())
    except UsageError as error:
        _close("Sign-in is not set up", error_markdown(error))
    except LibraryError as error:
        reason = f"TieScope cannot read its record of sign-outs, so nobody can sign in. {error}"
        _close("Sign-ins cannot be checked", escape_markdown(reason))
    address = identity() if is_required else ""
    if note_admission(address) and is_required:
        record_event("entered", address or "")


def admitted_address(claims: Mapping[str, Any]) -> str | None:
    """Return the address in these claims if its owner may use the app now, else None."""
    try:
        is_let_in = _is_signed_in(claims) and _is_on(claims, _allowed_entries()) and not has_ended(claims)
    except (UsageError, LibraryError):
        return None
    return plain_address(claims["email"]) if is_let_in else None


def has_ended(claims: Mapping[str, Any]) -> bool:
    """Return whether a sign-in was ended; LibraryError if that is unknown."""
    from dashboard import cache  # noqa: PLC0415 the server answers before pyarrow is here

    return cache.open_library().has_ended(sign_in_id(claims))


def end_sign_in(claims: Mapping[str, Any]) -> None:
    """End a sign-in everywhere, and drop its temporary boards."""
    from dashboard import cache  # noqa: PLC0415 as above

    cache.open_library().end_sign_in(sign_in_id(claims))
    cache.loaded_boards().remove_of(sign_in_id(claims))


def _demand_allowed(entries: tuple[str, ...]) -> None:
    """Draw the sign-in page for visitors who are not signed in or not allowed, and stop."""
    claims = st.user.to_dict()
    if not _is_signed_in(claims):
        _remember_page(key="wanted")
        _close(
            "Sign in to TieScope",
            "TieScope shows how much of a reranker's score comes from relevance, and how much from the order "
            "of tied documents.",
            "Sign in",
            st.login,
        )
    if has_ended(claims):
        _remember_page(key="wanted")
        _close("You are signed out", "Sign in again to continue.", "Sign in", st.login)
    if not _is_on(claims, entries):
        record_event("refused", _signed_in_email())
        _close(
            "Not allowed in",
            f"You are signed in as **{escape_markdown(_signed_in_email())}**. This address is not on the "
            "server's list, or the sign-in provider has not verified it. Ask the person who runs this server "
            "to add it.",
            "Sign out",
            _sign_out,
        )


def _is_on(claims: Mapping[str, Any], entries: tuple[str, ...]) -> bool:
    return is_allowed(claims.get("email"), claims.get("email_verified"), entries)


def _is_signed_in(claims: Mapping[str, Any]) -> bool:
    """Return whether the provider identified the visitor recently enough."""
    issued = claims.get("iat")
    is_over = isinstance(issued, int | float) and time.time() - issued > _SIGN_IN_SECONDS
    return claims.get("is_logged_in") is True and not is_over


def _sign_out() -> None:
    """End the sign-in of this page, which may differ from that of the browser's cookie."""
    with suppress(LibraryError):  # the address that st.logout leads to says so
        end_sign_in(st.user.to_dict())
    st.logout()


def show_account() -> None:
    """Draw who is signed in, and a sign-out button."""
    if address := identity():
        with st.container(gap="xsmall"):
            st.caption(f"Signed in as {escape_markdown(address)}")
            st.button("Sign out", icon=":material/logout:", on_click=_sign_out, width="stretch")


def identity() -> str | None:
    """Return the owner of this visitor's data.

    Returns:
        The signed-in address in lower case; an empty text for a single local owner; None for strangers where
        nobody signs in.
    """
    if is_sign_in_required():
        return plain_address(_signed_in_email())
    return "" if is_open_to_all() or is_loopback(st.get_option("server.address")) else None


def _signed_in_email() -> str:
    return str(st.user.get("email") or "a person without an e-mail address")


def is_open_to_all() -> bool:
    """Return whether sign-in is disabled for everybody."""
    return os.environ.get(INSECURE) == "1"


def is_sign_in_required() -> bool:
    """Return whether visitors sign in: secrets or an allow-list are configured."""
    return not is_open_to_all() and (_auth_section() is not None or bool(os.environ.get(ALLOW, "").strip()))


def is_behind_https() -> bool:
    """Return whether visitors return from sign-in over HTTPS."""
    try:
        return str((_auth_section() or {}).get("redirect_uri")).startswith("https://")
    except UsageError:
        return False


def _allowed_entries() -> tuple[str, ...]:
    """Return the allow-list; raise a UsageError if sign-in is incomplete."""
    auth, entries = _auth_section(), parse_allow_list(os.environ.get(ALLOW, "").split(","))
    if auth is None:
        raise UsageError(f"{ALLOW} is set, but the server's secrets file has no [auth] section.")
    if lack := missing_parts(auth):
        raise UsageError(f"In the server's secrets file, {lack}.")
    if not can_sign_in():
        raise UsageError(f"Authlib is not installed. Install it: {INSTALL}.")
    if not entries:
        raise UsageError(f"The allow-list is empty. Start TieScope with --allow ADDRESS, or set {ALLOW}.")
    return entries


def _auth_section() -> Mapping[str, Any] | None:
    """Return the secrets' `[auth]` section, None without one."""
    try:
        auth = st.secrets.get("auth")
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and not any(
            map(os.path.exists, st.get_option("secrets.files"))
        ):
            return None
        raise UsageError(
            "The server's secrets file cannot be read. The server's log gives the reason."
        ) from error
    if auth is not None and not isinstance(auth, Mapping):
        raise UsageError("In the server's secrets file, auth is not a section.")
    return auth


def _close(title: str, reason: str, label: str = "", action: Callable[[], None] | None = None) -> NoReturn:
    """Draw a page with only a title, a reason and perhaps a button, and stop."""
    note_admission(None)
    st.space(96)
    with st.container(horizontal_alignment="center"), st.container(width=440, gap="small"):
        st.title(title, anchor=False)
        st.markdown(reason)
        if action:
            st.button(label, type="primary", on_click=action)
    st.stop()
