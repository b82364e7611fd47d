"""Sentences written from data. A name inside them is the user's text, so it stays apart until shown."""

import math
from dataclasses import dataclass

from metrics.support.wording import LONG, written_p


@dataclass(frozen=True)
class Strong:
    """A word that carries the sentence: a name or a figure."""

    text: str


Prose = tuple[str | Strong, ...]
"""A sentence in parts; whoever shows it escapes each part and sets the strong ones apart."""


NOTHING_SCORED: Prose = ("No list is scored: every query was left out.",)
_NOISE = 1e-9
ONE_RERANKER: Prose = ("There is one reranker, and nothing to compare it with.",)


def plain(prose: Prose) -> str:
    """Return the sentence as text, without emphasis."""
    return "".join(part.text if isinstance(part, Strong) else part for part in prose)


def headline(prose: Prose) -> Prose:
    """Return the first sentence; with the next where it is a strong word alone, which says too little."""
    parts: list[str | Strong] = []
    for part in prose:
        is_strong = isinstance(part, Strong)
        text = part.text if isinstance(part, Strong) else part
        sentence, end, _ = (text, "", "") if is_strong else f"{text} ".partition(". ")
        parts.append(part if is_strong else sentence + end.rstrip() if end else text)
        if end and any(isinstance(before, str) and before.strip(" .") for before in parts):
            break
    return tuple(parts)


def decimal(value: float, digits: int = 3) -> str:
    """Write a number with this many decimals, or with as many as show two figures of a smaller one.

    So .4567 is 0.457, and .00031 is 0.00031 rather than 0.000. What only the noise of floats made is 0. A
    number too long for a sentence, as DCG of high grades, is a power of ten: 3.273e+150. No bound is ∞.
    """
    if abs(value) >= LONG:
        return f"{value:.{digits}e}".replace("inf", "∞")
    if abs(value) > _NOISE:
        digits = max(digits, 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def smallest_shown(value: float) -> float:
    """Return the smallest difference from a number that shows where `decimal` writes it."""
    return float(0.5 * 10.0 ** -len(decimal(value).partition(".")[2]))


def signed(value: float, digits: int = 3, *, plus: bool = True) -> str:
    """Write a number with its sign, a true minus, and no sign on zero.

    Args:
        value: the number.
        digits: how many decimals, at least, as `decimal` has them.
        plus: whether a number above 0 gets a plus.
    """
    text = decimal(value, digits)
    is_above = plus and value > 0 and text.strip("0.")
    return f"+{text}" if is_above else text.replace("-", "−", 1)


def and_more(n: int) -> str:
    """Write how many more there are than are named; nothing where there are none."""
    return f" and {n} more" if n > 0 else ""


def significant_part(n_significant: int, number: int, written: str) -> str:
    """Write how many of some differences are significant.

    Args:
        n_significant: how many are.
        number: of all of them.
        written: `n_significant` as the sentence has it.
    """
    if number == 1:
        return "which is significant" if n_significant else "which is not significant"
    return f"{'all' if n_significant == number else written} of them significant"


def chance(p: float) -> str:
    """Write a p value in a sentence: `p = 0.012`, `p < 0.001`, `p > 0.999`."""
    text = written_p(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"
