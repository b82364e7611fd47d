"""Whether somebody who signed in may come in."""

from collections.abc import Collection

from dashboard.access.admission import plain_address


def is_allowed(address: object, verified: object, entries: Collection[str]) -> bool:
    """Whether an identity is on the allow-list.

    Args:
        address: e-mail address as the provider gives it; None where it gives none.
        verified: what the provider says of it; None where it says nothing, which is taken for yes.
        entries: of `allow_list`.
    """
    plain = plain_address(address) if isinstance(address, str) else None
    if plain is None or str(verified).lower() not in {"true", "none"}:
        return False
    return not {plain, f"@{plain.partition('@')[2]}"}.isdisjoint(entries)
