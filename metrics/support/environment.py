"""Limits that the environment sets."""

import os

_MOST_DIGITS = 12


def byte_limit(variable: str, default: int) -> int:
    """Return a limit of the environment in bytes.

    Args:
        variable: environment variable that holds whole megabytes.
        default: bytes where it is not set.

    Raises:
        ValueError: it is no whole number.
    """
    megabytes = os.environ.get(variable)
    if not megabytes:
        return default
    if not (megabytes.isascii() and megabytes.isdecimal() and len(megabytes) <= _MOST_DIGITS):
        raise ValueError(f"{variable} is {megabytes[:40]!r}. Give a whole number of megabytes.")
    return int(megabytes) * 10**6
