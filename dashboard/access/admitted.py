"""Who was let in: sessions whose page was drawn, and the sign-in that the cookies of a visitor carry."""

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
"""Session → the address signed in; an empty text where nobody signs in."""


def note_admission(address: str | None) -> bool:
    """Note for whom the page of this session is drawn; return whether that is new. Ended sessions go.

    Args:
        address: who is signed in; an empty text where nobody signs in; None: the session is not let in.
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
    """Return for whom a session was let in, an empty text where nobody signs in; None where it was not."""
    return _admitted.get(session) if is_active_session(session) else None


def is_admitted(session: str) -> bool:
    """Return whether a session was let in, and its page is open."""
    return admitted_address(session) is not None


def visitor_of(session: str) -> str:
    """Return whose page a session that was let in is: one text for all pages of a person who signed in."""
    return _admitted.get(session) or session


_IDENTIFYING = ("iss", "sub", "email", "iat", "nonce")
"""Claims that tell one sign-in from any other: Authlib draws the nonce, and refuses an answer without it."""


def read_claims(cookies: Mapping[str, str]) -> dict[str, Any]:
    """Return what the provider says of who sends these cookies; nothing unless this server signed them."""
    text = signed_claims(cookies)
    claims: dict[str, Any] = json.loads(text) if text else {}
    return claims if claims.get("origin") == get_origin_from_redirect_uri() else {}


def without_sign_in(header: bytes) -> bytes:
    """Return a Cookie header without the cookies that sign somebody in."""
    name = USER_COOKIE_NAME.encode()
    return b";".join(part for part in header.split(b";") if not part.strip().startswith(name))


def sign_in_id(claims: Mapping[str, Any]) -> str:
    """Return what tells a sign-in from any other, of the same person too.

    It is computed from the claims: the text of a cookie can be changed where its signature does not notice.
    """
    return sha256(json.dumps([claims.get(name) for name in _IDENTIFYING]).encode()).hexdigest()
