"""The order in which a text names numbered documents: `[3] > [1] > [2]`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from metrics.runs.reading.worded_grades import without_thought

_SEPARATOR = r"(?:\s*+[>=,]\s*+|\s++)"
_NUMBER, _IN_BRACKETS = r"[0-9]{1,9}", r"\[[0-9]{1,9}\]"
_CHAINS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_IN_BRACKETS}(?:{_SEPARATOR}{_IN_BRACKETS})++",
        _IN_BRACKETS,
        rf"(?<![\w.]){_NUMBER}(?:\s*+[>=,]\s*+{_NUMBER})++(?![\w.])",
        rf"\A\s*+{_NUMBER}\s*+\Z",
    )
)
"""What is taken for an answer, the first that the text holds: numbers in brackets, one after the other, or a
single one; numbers with > or commas between them; a number and nothing else."""
_LETTER = re.compile(r"\[([A-Z])\]")
_MARK = re.compile(rf"{_NUMBER}|=")


@dataclass(frozen=True)
class Permutation:
    """How a text ranks numbered documents.

    Attributes:
        places: (n,) place of each document, the first 0; those on a level share theirs. None where the text
            leaves it out.
        n_repeated: how often a document is named again.
        n_invented: numbers named that are none of the documents'.
    """

    places: Sequence[int | None]
    n_repeated: int = 0
    n_invented: int = 0

    @property
    def n_dropped(self) -> int:
        """How many documents it leaves out."""
        return sum(place is None for place in self.places)


def parse_permutation(answer: object, n_documents: int) -> Permutation:
    """Return how an answer ranks documents numbered from 1.

    Of several chains the longest counts, of equally long ones the last; a number counts where it stands
    first. Documents with = between them are level. Letters stand for numbers where they alone are in brackets.

    Args:
        answer: a text, or the numbers themselves in an array; anything else ranks nothing.
        n_documents: how many were shown.
    """
    places: list[int | None] = [None] * n_documents
    n_repeated = n_invented = 0
    place, is_level = -1, False
    for mark in _marks(answer):
        if mark == "=":
            is_level = True
            continue
        number = int(mark) - 1
        if not 0 <= number < n_documents:
            n_invented += 1
        elif places[number] is not None:
            n_repeated += 1
        else:
            place += not is_level or place < 0
            places[number] = place
        is_level = False
    return Permutation(places, n_repeated, n_invented)


def has_permutation(answer: object) -> bool:
    """Return whether an answer names several numbers in an order, or one in brackets."""
    if isinstance(answer, str):
        chain = _chain(answer)
        return bool(chain) and (">" in chain or "[" in chain)
    return isinstance(answer, list) and len(answer) > 1 and all(type(number) is int for number in answer)


def _marks(answer: object) -> list[str]:
    """Return the numbers of an answer, and each = between two of them, in order."""
    if isinstance(answer, list):
        return [str(number) for number in answer if type(number) is int]
    return _MARK.findall(_chain(answer)) if isinstance(answer, str) else []


def _chain(text: str) -> str:
    """Return the part of a text that ranks, empty where there is none."""
    text = without_thought(text)
    if not _CHAINS[1].search(text):
        text = _LETTER.sub(lambda letter: f"[{ord(letter[1]) - ord('A') + 1}]", text)
    for pattern in _CHAINS:
        chains = [match[0] for match in pattern.finditer(text)]
        if chains:
            return max(reversed(chains), key=lambda chain: len(_MARK.findall(chain)))
    return ""
