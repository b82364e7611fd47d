"""Why two sets of ids that should meet do not: the likely difference in spelling."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from metrics.support.wording import quote

_MAX_AFFIX = 64
"""Longest common beginning or end that is looked for."""


@dataclass(frozen=True)
class Cause:
    """The likely reason why no id of the run is among those of the judgments, and an example of both.

    Attributes:
        sentence: the likely cause.
        ours: place of an id of the run.
        theirs: place of the id of the judgments that probably means the same.
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
    """Return why no id of the run is among those of the judgments: the first explanation that fits.

    Ids are compared without one difference in spelling at a time: spaces, upper case, a trailing .0, leading
    zeros, and then what all ids of one side begin or end with.
    """
    for difference, respelled in _SPELLINGS:
        if pair := _first_match(respelled(ours), respelled(theirs)):
            return Cause(f"The ids are alike but for {difference}.", *pair)
    for affix, shortened in _without_affixes(ours):
        if pair := _first_match(shortened, theirs):
            return Cause(f"The ids are alike but for {affix} those of the run.", *pair)
    for affix, shortened in _without_affixes(theirs):
        if pair := _first_match(ours, shortened):
            return Cause(f"The ids are alike but for {affix} those of the judgments.", *pair)
    return Cause("The judgments seem to belong to another collection.")


def _first_match(ours: pa.Array, theirs: pa.Array) -> tuple[int, int] | None:
    """Return the places, on each side, of the first id of ours that is among theirs."""
    places = pc.index_in(ours, value_set=theirs)
    first = pc.index(pc.is_valid(places), value=True).as_py()
    return None if first < 0 else (first, places[first].as_py())


def _without_affixes(ids: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield what all ids begin or end with, in every length, and the ids without it; numbers stay whole."""
    for length, prefix in _prefixes(ids):
        if not prefix[-1].isdigit():
            yield f"{quote(prefix)} before", pc.utf8_slice_codeunits(ids, length)
    for length, reverse in _prefixes(pc.utf8_reverse(ids)):
        if not reverse[-1].isdigit():
            yield f"{quote(reverse[::-1])} behind", pc.utf8_slice_codeunits(ids, 0, -length)


def _prefixes(ids: pa.Array) -> Iterator[tuple[int, str]]:
    """Yield each length of what all ids begin with, and the letters."""
    lowest, highest = pc.min_max(ids).as_py().values()
    for length, (low, high) in enumerate(zip(lowest[:_MAX_AFFIX], highest, strict=False), 1):
        if low != high:
            return
        yield length, lowest[:length]
