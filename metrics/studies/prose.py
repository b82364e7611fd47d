"""Build sentences from data, keeping the user's text apart until it is escaped and shown."""

import math
from dataclasses import dataclass

from metrics.measures import parse, question
from metrics.support.wording import LONG, written_p


@dataclass(frozen=True)
class Strong:
    """A name or figure to emphasise."""

    text: str


Prose = tuple[str | Strong, ...]
"""A sentence in parts; the caller escapes each part and emphasises the strong ones."""


NOTHING_SCORED: Prose = ("No list is scored: every query was left out.",)
NO_DOCUMENTS: Prose = (
    Strong("No run has documents to score for a judged query. "),
    "Check that runs and judgments use the same IDs.",
)
_NOISE = 1e-9
ONE_RERANKER: Prose = ("There is only one reranker, so there is nothing to compare.",)


def plain(prose: Prose) -> str:
    """Return the sentence as text, without emphasis."""
    return "".join(part.text if isinstance(part, Strong) else part for part in prose)


def headline(prose: Prose) -> Prose:
    """Return the first sentence, and the next if the first is only a strong word."""
    parts: list[str | Strong] = []
    for part in prose:
        is_strong = isinstance(part, Strong)
        text = part.text if isinstance(part, Strong) else part
        sentence, end, _ = (text, "", "") if is_strong else f"{text} ".partition(". ")
        parts.append(part if is_strong else sentence + end.rstrip() if end else text)
        if end and any(isinstance(before, str) and before.strip(" .") for before in parts):
            break
    return tuple(parts)


def own_rule_note(measure: str) -> Prose:
    """Say that a measure has its own rule for ties, and which one shows tie orders; empty for others."""
    measure_at = parse(measure)
    if not measure_at.measure.answers:
        return ()
    answered = question(measure_at)
    return (
        Strong(f"{measure_at} settles ties by its own rule. "),
        f"Tie order does not change it. Choose {answered} to see the effect of tie order. ",
    )


def decimal(value: float, digits: int = 3) -> str:
    """Write a number with this many decimals, or as many as show two figures of a smaller number.

    .4567 becomes 0.457 and .00031 becomes 0.00031. Float noise becomes 0. Very large numbers, such as DCG of
    high grades, become powers of ten: 3.273e+150. Infinity becomes ∞.
    """
    if abs(value) >= LONG:
        return f"{value:.{digits}e}".replace("inf", "∞")
    if abs(value) > _NOISE:
        digits = max(digits, 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def smallest_shown(value: float) -> float:
    """Return the smallest change of a number that `decimal` shows."""
    return float(0.5 * 10.0 ** -len(decimal(value).partition(".")[2]))


def signed(value: float, digits: int = 3, *, plus: bool = True) -> str:
    """Write a number with its sign and a true minus; a difference of 0 is `0`, a number (not `plus`) 0.000."""
    text = decimal(value, digits)
    if plus and not text.strip("0."):
        return "0"
    return f"+{text}" if plus and value > 0 else text.replace("-", "−", 1)


def signed_decimals(value: float, digits: int = 3, *, plus: bool = True) -> str:
    """Write a number like `signed` for tables and figures: with these decimals unless it would look like 0.

    A smaller number gets two significant digits, as a power of ten if they are far behind the point.
    """
    if _NOISE < abs(value) < 10.0 ** (-2 - digits):
        return f"{value:{'+' if plus else ''}.1e}".replace("-", "−")
    if abs(value) < 0.5 * 10.0**-digits or abs(value) >= LONG:
        return signed(value, digits, plus=plus)
    return f"{value:{'+' if plus else ''}.{digits}f}".replace("-", "−", 1)


def and_more(n: int) -> str:
    """Write how many more there are than were named; empty for none."""
    return f" and {n:,} more" if n > 0 else ""


def significant_part(n_significant: int, number: int, written: str) -> str:
    """Write how many of some differences are significant; `written` is `n_significant` in words."""
    if number == 1:
        return "which is significant" if n_significant else "which is not significant"
    return f"{'all' if n_significant == number else written} of them significant"


def chance(p: float) -> str:
    """Write a p value in a sentence: `p = 0.012`, `p < 0.001`, `p > 0.999`."""
    text = written_p(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"
