"""How findings say numbers and names."""

_LONGEST = 60


def count_of(number: int, noun: str) -> str:
    """A number with its noun: 1 list, 1,204 queries."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def part_of(part: int, number: int, noun: str) -> str:
    """A part of a number: 3 of 43 queries."""
    return f"{part:,} of {count_of(number, noun)}"


def describe_part(part: int, number: int, noun: str, what: str) -> str:
    """What a part of a number does; the verb comes first: 1 of 43 queries has no rows."""
    verb, rest = what.split(" ", 1)
    if part == 1:
        verb = {"have": "has", "are": "is"}.get(verb, f"{verb}s")
    return f"{part_of(part, number, noun)} {verb} {rest}"


def format_percent(share: float) -> str:
    """A share of one as a whole percent; neither 0% nor 100% unless it is."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0:
        return "under 1%"
    return "over 99%" if text == "100%" and share < 1 else text


def quote(name: str) -> str:
    """A name from the file, in quotes, cut short where it is long."""
    return repr(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…")
