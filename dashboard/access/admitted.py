"""Sessions that may use the app, and the sign-in in a visitor's cookies."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from dashboard.streamlit_internals import (
    USER_COOKIE_NAME,
    get_origin_from_redirect_uri,
    is_active_session,
    session_id,
    signed_claims,
)

_admitted: dict[str, str] = {}
"""Session → signed-in address, empty without sign-in."""


def note_admission(address: str | None) -> bool:
    """Record for whom this session's page is drawn; return whether that is new. Ended sessions are removed.

    Args:
        address: signed-in address; empty without sign-in; None if the session has no access.
    """
    own = session_id()
    if own is None or _admitted.get(own) == address:
        return False
    if address is None:
        _admitted.pop(own, None)
    else:
        for session in [session for session in list(_admitted) if not is_active_session(session)]:
            _admitted.pop(session, None)
        _admitted[own] = address
    return True


def admitted_address(session: str) -> str | None:
    """Return the address that a session is admitted for, empty without sign-in, None if it is not admitted."""
    return _admitted.get(session) if is_active_session(session) else None


def is_admitted(session: str) -> bool:
    """Return whether a session is admitted and open."""
    return admitted_address(session) is not None


def visitor_of(session: str) -> str:
    """Return an ID of a session's visitor, the same for all pages of a signed-in person."""
    return _admitted.get(session) or session


_IDENTIFYING = ("iss", "sub", "email", "iat", "nonce")
"""Claims that identify a sign-in; Authlib generates the nonce and requires it in the answer."""


def read_claims(cookies: Mapping[str, str]) -> dict[str, Any]:
    """Return the provider's claims in these cookies, empty unless this server signed them."""
    text = signed_claims(cookies)
    claims: dict[str, Any] = json.loads(text) if text else {}
    return claims if claims.get("origin") == get_origin_from_redirect_uri() else {}


def without_sign_in(header: bytes) -> bytes:
    """Return a Cookie header without sign-in cookies."""
    name = USER_COOKIE_NAME.encode()
    return b";".join(part for part in header.split(b";") if not part.strip().startswith(name))


def sign_in_id(claims: Mapping[str, Any]) -> str:
    """Return a hash that identifies one sign-in.

    It is computed from the claims, because a cookie's text can change without invalidating its signature.
    """
    return sha256(json.dumps([claims.get(name) for name in _IDENTIFYING]).encode()).hexdigest()
