"""Limits that the environment sets."""

import os

_MOST_DIGITS = 12


def byte_limit(variable: str, default: int) -> int:
    """Return what a variable says in megabytes, in bytes; ValueError where it is no whole number."""
    return whole_number(variable, default, unit=10**6, of=" of megabytes")


def whole_number(variable: str, default: int, *, unit: int = 1, of: str = "") -> int:
    """Return what a variable says, times a unit; ValueError where it is not a whole number."""
    text = os.environ.get(variable)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise ValueError(f"{variable} is {text[:40]!r}. Give a whole number{of}.")
    return int(text) * unit
