"""Limits that the environment sets."""

import os

from metrics.errors import UsageError

_MOST_DIGITS = 12


def byte_limit(variable: str, default: int) -> int:
    """Return the megabytes that a variable sets, in bytes; a UsageError unless it is a whole number."""
    return whole_number(variable, default, unit=10**6, of=" of megabytes")


def whole_number(variable: str, default: int, *, unit: int = 1, of: str = "") -> int:
    """Return the number that a variable sets, times a unit; a UsageError unless it is a whole number."""
    text = os.environ.get(variable)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise UsageError(f"{variable} is {text[:40]!r}. Give a whole number{of}.")
    return int(text) * unit
