"""Limits that the environment sets."""

import os

_MOST_DIGITS = 12


def byte_limit(variable: str, default: int) -> int:
    """Return what a variable says in megabytes, in bytes; ValueError where it is no whole number."""
    megabytes = os.environ.get(variable)
    if not megabytes:
        return default
    if not (megabytes.isascii() and megabytes.isdecimal() and len(megabytes) <= _MOST_DIGITS):
        raise ValueError(f"{variable} is {megabytes[:40]!r}. Give a whole number of megabytes.")
    return int(megabytes) * 10**6
