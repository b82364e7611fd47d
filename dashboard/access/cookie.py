"""The sign-in that a visitor's cookies carry, read as Streamlit reads it when a page connects."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from dashboard.streamlit_internals import USER_COOKIE_NAME, get_origin_from_redirect_uri, signed_claims

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
