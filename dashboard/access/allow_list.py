"""The allow-list of addresses and domains."""

import re
from collections.abc import Collection, Iterable

from metrics.errors import UsageError

_DOMAIN = r"[a-z0-9-]+(?:\.[a-z0-9-]+)+"
_ADDRESS = rf"[a-z0-9.!#$%&'+/=^_`{{|}}~-]+@{_DOMAIN}"


def plain_address(text: str) -> str | None:
    """Return an e-mail address in lower case; None if it is invalid, not ASCII or contains a *.

    Other letters can look like ASCII or become ASCII in lower case; a * could mean everybody.
    """
    return text.lower() if text.isascii() and re.fullmatch(_ADDRESS, text.lower()) else None


def parse_allow_list(texts: Iterable[str]) -> tuple[str, ...]:
    """Return addresses, and domains prefixed with @, in lower case.

    Raises:
        UsageError: an entry is neither an address nor a domain.
    """
    entries = (text.strip() for text in texts)
    return tuple(dict.fromkeys(_entry(entry) for entry in entries if entry))


def _entry(text: str) -> str:
    domain = text.lower().removeprefix("@")
    if address := plain_address(text):
        return address
    if not text.isascii() or not re.fullmatch(_DOMAIN, domain):
        raise UsageError(
            f"{text!r} cannot be allowed to sign in. Give an address (ada@example.org) or a domain "
            "(example.org), in ASCII: international domains in their xn-- form."
        )
    return f"@{domain}"


def is_allowed(address: object, verified: object, entries: Collection[str]) -> bool:
    """Return whether an identity is on the allow-list.

    Args:
        address: e-mail address from the provider, None without one.
        verified: the provider's `email_verified`; None counts as verified.
        entries: result of `parse_allow_list`.
    """
    plain = plain_address(address) if isinstance(address, str) else None
    if plain is None or str(verified).lower() not in {"true", "none"}:
        return False
    return not {plain, f"@{plain.partition('@')[2]}"}.isdisjoint(entries)
