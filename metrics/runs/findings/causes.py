"""Why two sets of ids that should meet do not: the likely difference in spelling."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings.wording import quote

_LONGEST = 64


@dataclass(frozen=True)
class Cause:
    """Why no id of ours is one of theirs, and an example.

    Attributes:
        sentence: the likely cause.
        ours: place of an id of ours.
        theirs: place of the id of theirs that it was probably meant to be.
    """

    sentence: str
    ours: int = 0
    theirs: int = 0


_SPELLINGS: tuple[tuple[str, Callable[[pa.Array], pa.Array]], ...] = (
    ("spaces around them", pc.utf8_trim_whitespace),
    ("upper and lower case", pc.utf8_lower),
    ("a trailing .0", lambda ids: pc.replace_substring_regex(ids, r"\.0+$", "")),
    ("leading zeros", lambda ids: pc.replace_substring_regex(ids, "^0+(.)", r"\1")),
)


def cause_of(ours: pa.Array, theirs: pa.Array) -> Cause:
    """The first difference in spelling without which an id of ours is one of theirs.

    Args:
        ours: (n,) ids of the run, at least one.
        theirs: (n,) ids of the judgments, at least one, none of them ours.
    """
    for what, plainly in _SPELLINGS:
        if pair := _met(plainly(ours), plainly(theirs)):
            return Cause(f"The ids are alike but for {what}.", *pair)
    for what, rest in _shortened(ours):
        if pair := _met(rest, theirs):
            return Cause(f"The ids are alike but for {what} those of the run.", *pair)
    for what, rest in _shortened(theirs):
        if pair := _met(ours, rest):
            return Cause(f"The ids are alike but for {what} those of the judgments.", *pair)
    return Cause("The judgments seem to belong to another collection.")


def _met(ours: pa.Array, theirs: pa.Array) -> tuple[int, int] | None:
    """Places of the first id of ours that is among theirs."""
    places = pc.index_in(ours, value_set=theirs)
    first = pc.index(pc.is_valid(places), value=True).as_py()
    return None if first < 0 else (first, places[first].as_py())


def _shortened(ids: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """What all ids begin or end with, in every length, and the ids without it; no number is cut in two."""
    for length, prefix in _prefixes(ids):
        if not prefix[-1].isdigit():
            yield f"{quote(prefix)} before", pc.utf8_slice_codeunits(ids, length)
    for length, reverse in _prefixes(pc.utf8_reverse(ids)):
        if not reverse[-1].isdigit():
            yield f"{quote(reverse[::-1])} behind", pc.utf8_slice_codeunits(ids, 0, -length)


def _prefixes(ids: pa.Array) -> Iterator[tuple[int, str]]:
    """Each length of what all ids begin with, and the letters."""
    lowest, highest = pc.min_max(ids).as_py().values()
    for length, (low, high) in enumerate(zip(lowest[:_LONGEST], highest, strict=False), 1):
        if low != high:
            return
        yield length, lowest[:length]
