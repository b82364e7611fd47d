"""Names as charts, tables and cards write them: whole where they fit, else what tells them apart."""

import html
import re
import textwrap
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import lru_cache, reduce
from typing import TypeVar

CHART_COLUMNS = 26
"""Columns of a name beside a row of a chart, and where nothing else is said."""
TABLE_COLUMNS = 28
"""Columns of a name in a table, and in a list to choose from."""
MATRIX_COLUMNS = 24
"""Columns of a name at the diagonal of a matrix, and in the heading of a column."""
SLOPE_COLUMNS = 20
"""Columns of a name between places and scores, and of one that is turned."""
CARD_COLUMNS = 18
"""Columns of a name on a card."""
SENTENCE_COLUMNS = 48
"""Columns of a name in a sentence or a heading."""
TEXT_COLUMNS = 36
"""Columns of any other text in a chart."""
ELLIPSIS = "…"
_JOINERS = "\u200c\u200d"
"""What Persian, Indic scripts and emoji join and part letters with; other control characters are left out."""
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_ISOLATE = "\u2068{}\u2069"
"""Keeps a text that runs from right to left from reordering what stands beside it."""
_MIN_ROOM = 5
"""Columns below which names are no longer taken apart."""
_HOVER_WIDTH = 60
"""Letters in a line of a hover text."""

Letters = tuple[str, ...]
"""A text as a reader counts its letters, each with the marks it carries."""

Key = TypeVar("Key", bound=Hashable)


def short_names(names: Iterable[str], longest: int = CHART_COLUMNS) -> dict[str, str]:
    """Return a label for each name: the name where it fits, else what tells it from the other long ones.

    What all names share at both ends is left out: `…r16-lr1e4`. What only some share at the start keeps
    its first word: `lynx…bf16`. Two labels are never the same: where no part tells two names apart in so
    little room, a number does.

    Args:
        names: all that are shown together.
        longest: columns of a label; a wide letter takes two.

    Returns:
        Name → label, without control characters, not escaped.
    """
    texts = {name: _letters(_visible(name)) for name in dict.fromkeys(names)}
    labels = _labels(set(texts.values()), longest)
    return _numbered({name: labels[text] for name, text in texts.items()}, longest)


def chart_names(names: Iterable[str], longest: int = CHART_COLUMNS) -> dict[str, str]:
    """Return `short_names`, escaped for a chart."""
    return {name: escaped(label) for name, label in short_names(names, longest).items()}


def sentence_names(names: Iterable[str], longest: int = SENTENCE_COLUMNS) -> dict[str, str]:
    """Return what a sentence calls each name that is too long for it, as `short_names` has it."""
    return {name: label for name, label in short_names(names, longest).items() if label != name}


def elide_text(text: str, labels: Mapping[str, str]) -> str:
    """Return a text with labels for the names in it: name → label."""
    return reduce(
        lambda words, name: words.replace(name, labels[name]), sorted(labels, key=len, reverse=True), text
    )


def shared_ends(names: Iterable[str], longest: int = CHART_COLUMNS) -> tuple[str, str]:
    """Return the head and the tail that `short_names` leaves out of every name; empty where it does not."""
    texts = {_letters(_visible(name)) for name in names}
    if len(texts) < 2 or any(_columns(text) <= longest for text in texts):  # noqa: PLR2004 shared by two
        return "", ""
    head, tail = _shared_lengths(texts, by_word=True)
    text = next(iter(texts))
    return "".join(text[:head]), "".join(text[len(text) - tail :])


def clipped(text: str, longest: int) -> str:
    """Return a text without control characters, its middle left out where it is longer than so many columns."""
    return _clip(_letters(_visible(text)), longest)


def escaped(text: str) -> str:
    """Return a text for a chart, where `<b>` would be bold."""
    label = html.escape(text, quote=False)
    runs_left = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return _ISOLATE.format(label) if runs_left else label


@lru_cache(maxsize=16384)
def hover_text(text: str) -> str:
    """Return a whole text for the hover of a chart: escaped, a long one on several lines."""
    lines = textwrap.wrap(_visible(text), _HOVER_WIDTH) or [""]
    return "<br>".join(escaped(line) for line in lines)


def text_columns(text: str) -> int:
    """Return the columns a text takes: two for a letter of East Asian scripts, none for a mark on a letter."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.category(letter) in ("Mn", "Me", "Cf") for letter in text)


def _labels(texts: Collection[Letters], room: int, lead: str = "") -> dict[Letters, str]:
    """Return a label for each text, at most so many columns wide; two may be the same in too little room.

    `lead` tells these texts from others; it begins the label of a text that is too long.
    """
    labels = {text: "".join(text) for text in texts if _columns(text) <= room}
    long = {text for text in texts if text not in labels}
    if len(long) < 2 or room < _MIN_ROOM:  # noqa: PLR2004 one has nothing to share
        return labels | {text: _clip(text, room) for text in long}
    head, tail = _shared_lengths(long, by_word=True)
    if head or tail:
        widest = max(_columns(text[head : len(text) - tail]) for text in long)
        if head and not lead and (labels or widest <= room // 3):
            lead = "".join(_fitting(_first_word(min(long)), max(room // 3, room - 1 - widest)))
        return labels | _without_ends(long, room, lead, head, tail)
    families = _group(long, _first_word)
    if len(families) == 1:
        return labels | _apart(long, room)
    leads = _labels(set(families), room // 3)
    for word, family in families.items():
        labels |= _labels(family, room, leads[word]) if len(family) > 1 else {}
    return labels | _apart({text for text in long if text not in labels}, room)


def _apart(texts: Collection[Letters], room: int) -> dict[Letters, str]:
    """Return texts without their middle; of those that then look the same, the part in which they differ."""
    clips = {text: _clip(text, room) for text in texts}
    for text, twins in _group(texts, clips.__getitem__).items():
        if len(twins) > 1:
            head, tail = _shared_lengths(twins, by_word=False)
            clips |= _without_ends(
                twins, room, "".join(_fitting(_letters(text), room // 3)).partition(ELLIPSIS)[0], head, tail
            )
    return clips


def _without_ends(texts: Collection[Letters], room: int, lead: str, head: int, tail: int) -> dict[Letters, str]:
    """Return labels of texts without the first `head` and the last `tail` letters, which they share."""
    cores = {text: text[head : len(text) - tail] for text in texts}
    inner = _labels(set(cores.values()), room - text_columns(lead) - 1)
    joined = {
        text: f"{lead}{ELLIPSIS}{inner[core]}" if head else inner[core] + ELLIPSIS
        for text, core in cores.items()
    }
    return {text: label.replace(2 * ELLIPSIS, ELLIPSIS) for text, label in joined.items()}


def _shared_lengths(texts: Collection[Letters], *, by_word: bool) -> tuple[int, int]:
    """Return how many letters texts share at their start and end, so that something is left of each."""
    head = _shared_start(list(texts))
    sample = next(iter(texts))
    if by_word:
        head = next((end for end in range(head, 0, -1) if not _is_word(sample, end - 1)), 0)
    tail = _shared_start([text[: head - 1 if head else None : -1] for text in texts])
    if by_word:
        last = len(sample)
        tail = next((size for size in range(tail, 0, -1) if not _is_word(sample, last - size)), 0)
    return head, tail


def _shared_start(texts: list[Letters]) -> int:
    """Return how many letters texts share at their start; one is left of the shortest."""
    low, high = min(texts), max(texts)
    most = min(map(len, texts)) - 1
    return next((place for place in range(most) if low[place] != high[place]), most)


def _numbered(labels: Mapping[str, str], longest: int) -> dict[str, str]:
    """Return labels of which no two look the same: a name in full stays, others get a number."""
    taken, unique = {""}, {}
    for name in sorted(labels, key=lambda name: labels[name] != name):
        label, number = labels[name], 1
        while _look(label) in taken:
            number += 1
            suffix = f"·{number}"
            label = _clip(_letters(labels[name]), longest - len(suffix)) + suffix
        taken.add(_look(label))
        unique[name] = label
    return {name: unique[name] for name in labels}


def _look(label: str) -> str:
    """Return what two labels share that a reader cannot tell apart."""
    joined = "".join(letter for letter in label if letter not in _JOINERS)
    return " ".join(unicodedata.normalize("NFC", joined).split())


def _clip(text: Letters, room: int) -> str:
    """Return a text, its middle left out where it takes more than so many columns."""
    if _columns(text) <= room:
        return "".join(text)
    tail = max(room - 1, 0) // 2
    return "".join(
        (*_fitting(text, room - 1 - tail), ELLIPSIS * (room > 0), *reversed(_fitting(text[::-1], tail)))
    )


def _visible(text: str) -> str:
    """Return a text without control characters."""
    return "".join(letter for letter in text if letter in _JOINERS or unicodedata.category(letter)[0] != "C")


def _letters(text: str) -> Letters:
    """Return the letters of a text, each with its marks."""
    letters: list[str] = []
    for letter in text:
        is_mark = unicodedata.category(letter)[0] == "M" or letter in _JOINERS + _SKIN_TONES
        if letters and (is_mark or letters[-1][-1] == _JOINERS[1]):
            letters[-1] += letter
        else:
            letters.append(letter)
    return tuple(letters)


def _fitting(text: Letters, room: int) -> Letters:
    """Return the first letters of a text that take at most so many columns."""
    taken = 0
    for place, letter in enumerate(text):
        taken += text_columns(letter)
        if taken > room:
            return text[:place]
    return text


def _columns(text: Letters) -> int:
    return text_columns("".join(text))


def _is_word(text: Letters, place: int) -> bool:
    """Return whether a letter belongs to a word: a point does, as in v2.1, and the sign in 1e-5."""
    letter = text[place]
    is_sign = letter in "+-" and re.fullmatch(r"\d[eE]", "".join(text[max(place - 2, 0) : place])) is not None
    return letter[0].isalnum() or letter == "." or (is_sign and "".join(text[place + 1 : place + 2]).isdigit())


def _first_word(text: Letters) -> Letters:
    """Return what stands before the second word of a text, without the separator."""
    start = next((place for place in range(len(text)) if _is_word(text, place)), 0)
    end = next((place for place in range(start, len(text)) if not _is_word(text, place)), len(text))
    return text[: end or len(text)]


def _group(texts: Collection[Letters], key: Callable[[Letters], Key]) -> dict[Key, set[Letters]]:
    """Return texts by a key of each."""
    groups: dict[Key, set[Letters]] = defaultdict(set)
    for text in texts:
        groups[key(text)].add(text)
    return groups
