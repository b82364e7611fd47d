"""Reranker names for charts, tables and cards, shortened to what tells them apart."""

import html
import re
import textwrap
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import lru_cache, reduce
from typing import TypeVar

CHART_COLUMNS = 26
"""Columns of a name beside a row of a chart, the default."""
TABLE_COLUMNS = 28
"""Columns of a name in a table and in a select box."""
MATRIX_COLUMNS = 24
"""Columns of a name on the diagonal of a matrix and in a column heading."""
SLOPE_COLUMNS = 20
"""Columns of a name between ranks and scores, and of a rotated name."""
CARD_COLUMNS = 18
"""Columns of a name on a card."""
SENTENCE_COLUMNS = 48
"""Columns of a name in a sentence or a heading."""
TEXT_COLUMNS = 36
"""Columns of any other text in a chart."""
ELLIPSIS = "…"
_JOINERS = "\u200c\u200d"
"""Join or separate letters in Persian, Indic scripts and emoji; other control characters are removed."""
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_ISOLATE = "\u2068{}\u2069"
"""Keeps right-to-left text from reordering the text around it."""
_MIN_ROOM = 5
"""Columns below which names are only clipped."""
_HOVER_WIDTH = 60
"""Letters per line of a hover text."""

Letters = tuple[str, ...]
"""A text as grapheme clusters: each letter with its combining marks."""

Key = TypeVar("Key", bound=Hashable)


def short_names(names: Iterable[str], longest: int = CHART_COLUMNS) -> dict[str, str]:
    """Return name → unique label of at most `longest` columns, without control characters, unescaped.

    Names that fit stay whole. A prefix or suffix that all long names share is dropped (`…r16-lr1e4`). A prefix
    that some share keeps its first word (`lynx…bf16`). Labels that still collide get a number. Wide letters
    take two columns.
    """
    return dict(_short_names(tuple(dict.fromkeys(names)), longest))


@lru_cache(maxsize=256)
def _short_names(names: tuple[str, ...], longest: int) -> dict[str, str]:
    texts = {name: _letters(_visible(name)) for name in names}
    labels = _labels(set(texts.values()), longest)
    return _numbered({name: labels[text] for name, text in texts.items()}, longest)


def chart_names(names: Iterable[str], longest: int = CHART_COLUMNS) -> dict[str, str]:
    """Return `short_names`, escaped for a chart."""
    return {name: escaped(label) for name, label in short_names(names, longest).items()}


def sentence_names(names: Iterable[str], longest: int = SENTENCE_COLUMNS) -> dict[str, str]:
    """Return name → label for the names that are too long for a sentence."""
    return {name: label for name, label in short_names(names, longest).items() if label != name}


def elide_text(text: str, labels: Mapping[str, str]) -> str:
    """Replace the names in a text by their labels."""
    return reduce(
        lambda words, name: words.replace(name, labels[name]), sorted(labels, key=len, reverse=True), text
    )


def shared_ends(names: Iterable[str], longest: int = CHART_COLUMNS) -> tuple[str, str]:
    """Return the prefix and suffix that `short_names` drops from every name."""
    texts = {_letters(_visible(name)) for name in names}
    if len(texts) < 2 or any(_columns(text) <= longest for text in texts):  # noqa: PLR2004 shared by two
        return "", ""
    head, tail = _shared_lengths(texts, by_word=True)
    text = next(iter(texts))
    return "".join(text[:head]), "".join(text[len(text) - tail :])


def clipped(text: str, longest: int) -> str:
    """Return a text without control characters, its middle elided beyond `longest` columns."""
    return _clip(_letters(_visible(text)), longest)


def safe(text: str, longest: int = TEXT_COLUMNS) -> str:
    """Return a user's text for a chart, clipped and escaped; `chart_names` shortens names side by side."""
    return escaped(clipped(text, longest))


def escaped(text: str) -> str:
    """Escape a text for a chart, where `<b>` would be bold."""
    label = html.escape(text, quote=False)
    runs_left = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return _ISOLATE.format(label) if runs_left else label


@lru_cache(maxsize=16384)
def hover_text(text: str) -> str:
    """Return a full text for a hover box, escaped and wrapped."""
    lines = textwrap.wrap(_visible(text), _HOVER_WIDTH) or [""]
    return "<br>".join(escaped(line) for line in lines)


def text_columns(text: str) -> int:
    """Return the columns of a text: two per wide East Asian letter, none per combining mark."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.category(letter) in ("Mn", "Me", "Cf") for letter in text)


def _labels(texts: Collection[Letters], room: int, lead: str = "") -> dict[Letters, str]:
    """Return labels of at most `room` columns, not yet unique; `lead` begins those that are shortened."""
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
    """Clip texts in the middle; texts that then collide show the part where they differ."""
    clips = {text: _clip(text, room) for text in texts}
    for text, twins in _group(texts, clips.__getitem__).items():
        if len(twins) > 1:
            head, tail = _shared_lengths(twins, by_word=False)
            clips |= _without_ends(
                twins, room, "".join(_fitting(_letters(text), room // 3)).partition(ELLIPSIS)[0], head, tail
            )
    return clips


def _without_ends(texts: Collection[Letters], room: int, lead: str, head: int, tail: int) -> dict[Letters, str]:
    """Return labels without the first `head` and last `tail` letters, which all texts share."""
    cores = {text: text[head : len(text) - tail] for text in texts}
    inner = _labels(set(cores.values()), room - text_columns(lead) - 1)
    joined = {
        text: f"{lead}{ELLIPSIS}{inner[core]}" if head else inner[core] + ELLIPSIS
        for text, core in cores.items()
    }
    return {text: label.replace(2 * ELLIPSIS, ELLIPSIS) for text, label in joined.items()}


def _shared_lengths(texts: Collection[Letters], *, by_word: bool) -> tuple[int, int]:
    """Return the lengths of the shared prefix and suffix, leaving something of each text."""
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
    low, high = min(texts), max(texts)
    longest = min(map(len, texts)) - 1
    return next((place for place in range(longest) if low[place] != high[place]), longest)


def _numbered(labels: Mapping[str, str], longest: int) -> dict[str, str]:
    """Make labels unique; full names stay, others get a number."""
    looks, unique = {""}, {}
    for name in sorted(labels, key=lambda name: labels[name] != name):
        label, number = labels[name], 1
        while _look(label) in looks:
            number += 1
            suffix = f"·{number}"
            label = _clip(_letters(labels[name]), longest - len(suffix)) + suffix
        looks.add(_look(label))
        unique[name] = label
    return {name: unique[name] for name in labels}


def _look(label: str) -> str:
    """Normalize a label so that lookalikes compare equal."""
    joined = "".join(letter for letter in label if letter not in _JOINERS)
    return " ".join(unicodedata.normalize("NFC", joined).split())


def _clip(text: Letters, room: int) -> str:
    if _columns(text) <= room:
        return "".join(text)
    tail = max(room - 1, 0) // 2
    return "".join(
        (*_fitting(text, room - 1 - tail), ELLIPSIS * (room > 0), *reversed(_fitting(text[::-1], tail)))
    )


def _visible(text: str) -> str:
    return "".join(letter for letter in text if letter in _JOINERS or unicodedata.category(letter)[0] != "C")


def _letters(text: str) -> Letters:
    """Split a text into grapheme clusters."""
    letters: list[str] = []
    for letter in text:
        is_mark = unicodedata.category(letter)[0] == "M" or letter in _JOINERS + _SKIN_TONES
        if letters and (is_mark or letters[-1][-1] == _JOINERS[1]):
            letters[-1] += letter
        else:
            letters.append(letter)
    return tuple(letters)


def _fitting(text: Letters, room: int) -> Letters:
    """Return the longest prefix of at most `room` columns."""
    width = 0
    for place, letter in enumerate(text):
        width += text_columns(letter)
        if width > room:
            return text[:place]
    return text


def _columns(text: Letters) -> int:
    return text_columns("".join(text))


def _is_word(text: Letters, place: int) -> bool:
    """Return whether a letter belongs to a word, as the point in v2.1 and the sign in 1e-5 do."""
    letter = text[place]
    is_sign = letter in "+-" and re.fullmatch(r"\d[eE]", "".join(text[max(place - 2, 0) : place])) is not None
    return letter[0].isalnum() or letter == "." or (is_sign and "".join(text[place + 1 : place + 2]).isdigit())


def _first_word(text: Letters) -> Letters:
    """Return the text up to the end of its first word."""
    start = next((place for place in range(len(text)) if _is_word(text, place)), 0)
    end = next((place for place in range(start, len(text)) if not _is_word(text, place)), len(text))
    return text[: end or len(text)]


def _group(texts: Collection[Letters], key: Callable[[Letters], Key]) -> dict[Key, set[Letters]]:
    groups: dict[Key, set[Letters]] = defaultdict(set)
    for text in texts:
        groups[key(text)].add(text)
    return groups
