"""Write numbers and names in sentences."""

from collections.abc import Sequence

LONG = 1e15
"""Smallest number written as a power of ten: DCG of high grades has 150 digits."""
_MAX_NAME = 60
_USUAL_LEVEL = 0.05
OUTCOMES = {"zero": "counted as 0", "one": "counted as 1", "skip": "left out"}
"""Choice of `missing` or `empty` → what is done with the queries."""
_SMALL_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def count_of(number: int | str, noun: str) -> str:
    """Return a number with its noun: 1 list, 1,204 queries, about 10^12 orderings."""
    figure = number if isinstance(number, str) else f"{number:,}"
    if figure == "1":
        return f"1 {noun}"
    return f"{figure} {noun[:-1]}ies" if noun.endswith("y") else f"{figure} {noun}s"


def small_number(number: int) -> str:
    """Return a number below ten in words (0 as none), others in figures."""
    return _SMALL_NUMBERS[number] if number < len(_SMALL_NUMBERS) else f"{number:,}"


def part_of(part: int, number: int, noun: str) -> str:
    """Return a part and its total: 3 of 43 queries."""
    return f"{part:,} of {count_of(number, noun)}"


def describe_part(part: int, number: int, noun: str, phrase: str) -> str:
    """Return a part with a verb: 1 of 43 queries has no rows."""
    verb, space, predicate = phrase.partition(" ")
    if part == 1:
        verb = {"have": "has", "are": "is"}.get(verb, f"{verb}s")
    return f"{part_of(part, number, noun)} {verb}{space}{predicate}"


def begin_sentence(order: str) -> str:
    """Return a tie order as the start of a sentence; trec_eval is not capitalised."""
    return order if order.startswith("trec_eval") else order[0].upper() + order[1:]


def first_names(names: Sequence[str], limit: int = 3) -> str:
    """Return the first names, and the number of others."""
    and_more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + and_more


def percent(share: float) -> str:
    """Return a share as a whole percent; 0% and 100% only if exact."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0:
        return "under 1%"
    return "over 99%" if text == "100%" and share < 1 else text


def with_signs(text: str) -> str:
    """Return a percent with < and > instead of words."""
    return text.replace("under ", "<").replace("over ", ">")


def chance_percent(chance: float) -> str:
    """Return a probability as a percent that is never 0% or 100%."""
    return percent(min(max(chance, 1e-9), 1 - 1e-9))


def written_p(p: float, digits: int = 3) -> str:
    """Return a p value, never as 0 or 1: 0.012, <0.001, >0.999; 0.0496 is not rounded up to 0.050."""
    smallest = 10.0**-digits
    if p < smallest:
        return f"<{smallest:.{digits}f}"
    if p >= 1 - smallest / 2:
        return f">{1 - smallest:.{digits}f}"
    is_rounded_up = p < _USUAL_LEVEL <= float(f"{p:.{digits}f}")
    return f"{p:.{digits + is_rounded_up}f}"


def query_before(query: str) -> str:
    """Return `query ` to write before an ID, or nothing if the ID begins with it: query 12, Query_12."""
    return "" if query.casefold().startswith("query") else "query "


def compared_as(precision: str) -> str:
    """Return the rounding of scores: float32, decimals:2, tied if within 0.01 of the group's highest score."""
    name, _, number = precision.partition(":")
    return f"tied if within {number} of the group's highest score" if name == "within" else precision


def quote(name: str) -> str:
    """Return a name in quotes, shortened."""
    return repr(name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1] + "…")
