"""Numbers and names as sentences write them."""

from collections.abc import Sequence

_MAX_NAME = 60


def count_of(number: int | str, noun: str) -> str:
    """Return a number, written out or not, with its noun: 1 list, 1,204 queries, about 10^12 orderings."""
    figure = number if isinstance(number, str) else f"{number:,}"
    if figure == "1":
        return f"1 {noun}"
    return f"{figure} {noun[:-1]}ies" if noun.endswith("y") else f"{figure} {noun}s"


def part_of(part: int, number: int, noun: str) -> str:
    """Return a part of a number: 3 of 43 queries.

    Args:
        part: how many.
        number: of how many.
        noun: what they are, in the singular.
    """
    return f"{part:,} of {count_of(number, noun)}"


def describe_part(part: int, number: int, noun: str, phrase: str) -> str:
    """Return what a part of a number does: 1 of 43 queries has no rows.

    Args:
        part: how many do it.
        number: of how many.
        noun: what they are, in the singular.
        phrase: what they do, in the plural, the verb first: have no rows.
    """
    verb, space, predicate = phrase.partition(" ")
    if part == 1:
        verb = {"have": "has", "are": "is"}.get(verb, f"{verb}s")
    return f"{part_of(part, number, noun)} {verb}{space}{predicate}"


def first_names(names: Sequence[str], most: int = 3) -> str:
    """Return names in a line: the first few, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def percent(share: float) -> str:
    """Return a share of one as a whole percent; neither 0% nor 100% unless it is."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0:
        return "under 1%"
    return "over 99%" if text == "100%" and share < 1 else text


def quote(name: str) -> str:
    """Return a name from the file in quotes, cut short where it is long."""
    return repr(name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1] + "…")
