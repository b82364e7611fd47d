"""Printed numbers: what a cell says, with how many decimals, and whether in percent."""

import re
from collections.abc import Iterable
from math import isfinite
from typing import NamedTuple

_NUMBER = re.compile(r"([-+−]?)((?:\d[\d,.\u00a0\u202f']*)|(?:[.,]\d+))((?:[eE][-+]?\d{1,3})?)\s*(%?)")
_ASIDE = re.compile(
    r"[\s*†‡§¶#◦▲▼△▽↑↓¹²³⁰⁴-⁹ⁱⁿᵃ-ᶿʰ-ʸˠ-ˤ𐞥ªº^]*+(?:(?:±|\+/-|\+-)\s*[\d.,]+\s*+%?)?(?:[\s*†‡§¶]*+[(\[][^)\]]*[)\]])?[\s*†‡§¶#]*"
)
"""What may stand after a number: marks of significance, a deviation, an interval."""
_LETTERS = re.compile("".join(rf"[\s,]*+{letter}?+" for letter in "abcdefghijkl") + r"[\s,]*+")
"""Letters of significance after decimals, each a reranker that is beaten: 0.72ab."""
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_MAX_TEXT = 100


class PrintedNumber(NamedTuple):
    """A number as it was printed.

    Attributes:
        text: the number alone, as printed.
        value: what it says.
        decimals: digits after the point.
        is_percent: whether a percent sign follows.
    """

    text: str
    value: float
    decimals: int
    is_percent: bool


def parse_number(cell: str, *, decimal_comma: bool = False) -> PrintedNumber | None:
    """Return the number in a printed cell, without stars, deviations and intervals; None where none is."""
    text = cell.strip()
    match = _NUMBER.match(text) if len(text) <= _MAX_TEXT else None
    if match is None:
        return None
    sign, digits, exponent, percent = match.groups()
    letters = _LETTERS.match(text, match.end()) if {*".,"} & {*digits} else None
    if not _ASIDE.fullmatch(text, letters.end() if letters else match.end()):
        return None
    plain = re.sub(r"[\u00a0\u202f']", "", digits)
    plain = plain.replace(".", "").replace(",", ".") if decimal_comma else plain.replace(",", "")
    if plain.count(".") > 1 or not plain.strip("."):
        return None
    n_decimals = len(plain.partition(".")[2]) - int(exponent[1:] or 0)
    value = float(f"{sign.replace('−', '-')}{plain}{exponent}")
    if not isfinite(value):
        return None
    return PrintedNumber(match[0].strip(), value, max(0, n_decimals), bool(percent))


def has_decimal_comma(cells: Iterable[str], *, has_thousands: bool = True) -> bool:
    """Return whether cells print a comma before decimals: 0,284 or 28,4; 28,412 unless it may be thousands."""
    has_comma = False
    for cell in cells:
        match = _NUMBER.match(cell.strip()[:_MAX_TEXT])
        digits = match[2] if match else ""
        if "." in digits and digits.rfind(".") > digits.rfind(","):
            return False
        is_short = digits.startswith(("0,", ",")) or not _THOUSANDS.fullmatch(digits)
        has_comma |= "," in digits and (is_short or not has_thousands)
    return has_comma
