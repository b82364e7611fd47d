"""Reranker names for charts, tables and cards, shortened to what tells them apart."""

import html
import re
import textwrap
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import lru_cache, reduce
from typing import TypeVar

NAME_COLUMNS = 32
"""Columns of a name in charts, tables, select boxes and sentences."""
MATRIX_COLUMNS = 24
"""Columns of a name on the diagonal of a matrix and in a column heading."""
CARD_COLUMNS = 18
"""Columns of a name on a card."""
TEXT_COLUMNS = 36
"""Columns of any other text in a chart."""
ELLIPSIS = "…"
_JOINERS = "\u200c\u200d"
"""Join or separate letters in Persian, Indic scripts and emoji; other control characters are removed."""
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_ISOLATE = "\u2068{}\u2069"
"""Keeps right-to-left text from reordering the text around it."""
_HOVER_WIDTH = 60
"""Letters per line of a hover text."""

Letters = tuple[str, ...]
"""A text as grapheme clusters: each letter with its combining marks."""

Key = TypeVar("Key", bound=Hashable)


def short_names(names: Iterable[str], longest: int = NAME_COLUMNS) -> dict[str, str]:
    """Return name → unique label of at most `longest` columns, without control characters, unescaped.

    If most names are longer than `NAME_COLUMNS`, all names lose the words that these share (`shared_parts`).
    Labels that are still too long are cut in the middle. Labels that collide show where they differ, or get a
    number. Wide letters take two columns.
    """
    return dict(_short_names(tuple(dict.fromkeys(names)), longest))


@lru_cache(maxsize=256)
def _short_names(names: tuple[str, ...], longest: int) -> dict[str, str]:
    texts = {name: _letters(_visible(name)) for name in names}
    shared = _shared_words(set(texts.values()), max(longest, NAME_COLUMNS))
    short = {text: _without_words(text, shared) for text in set(texts.values())}
    if len(set(short.values())) < len(short):  # without these words, names are alike
        short = {text: text for text in short}
    labels = _cut(set(short.values()), longest)
    return _numbered({name: labels[short[text]] for name, text in texts.items()}, longest)


def chart_names(names: Iterable[str], longest: int = NAME_COLUMNS) -> dict[str, str]:
    """Return `short_names`, escaped for a chart."""
    return {name: escaped(label) for name, label in short_names(names, longest).items()}


def sentence_names(names: Iterable[str]) -> dict[str, str]:
    """Return name → label for the names that are too long for a sentence."""
    return {name: label for name, label in short_names(names).items() if label != name}


def elide_text(text: str, labels: Mapping[str, str]) -> str:
    """Replace the names in a text by their labels."""
    return reduce(
        lambda words, name: words.replace(name, labels[name]), sorted(labels, key=len, reverse=True), text
    )


def shared_parts(names: Iterable[str]) -> list[str]:
    """Return the parts that `short_names` drops from long names, as the first of them has them."""
    texts = [_letters(_visible(name)) for name in names]
    shared = _shared_words(set(texts), NAME_COLUMNS)
    first = next((text for text in texts if shared and _columns(text) > NAME_COLUMNS), ())
    return ["".join(between) for between, is_dropped, _ in _pieces(first, shared) if is_dropped]


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


def _shared_words(texts: Collection[Letters], longest: int) -> set[Letters]:
    """Return the words that all texts of more than `longest` columns share, if most texts are so long."""
    words = [set(_words(text)[0::2]) for text in texts if _columns(text) > longest]
    return set.intersection(*words) - {()} if 2 * len(words) > len(texts) > 1 else set()


def _words(text: Letters) -> list[Letters]:
    """Split a text into words and what is between them, alternately, a word (maybe empty) first."""
    parts: list[Letters] = [()]
    for place, letter in enumerate(text):
        if _is_word(text, place) != len(parts) % 2:
            parts.append(())
        parts[-1] += (letter,)
    return parts


def _pieces(text: Letters, shared: Collection[Letters]) -> list[tuple[Letters, bool, Letters]]:
    """Return each word to keep after what is before it, and whether that has a shared word; then the rest."""
    pieces: list[tuple[Letters, bool, Letters]] = []
    between, is_dropped = Letters(), False
    for place, part in enumerate(_words(text)):
        if place % 2 or part in shared or not part:
            between, is_dropped = between + part, is_dropped or part in shared
        else:
            pieces.append((between, is_dropped, part))
            between, is_dropped = Letters(), False
    return [*pieces, (between, is_dropped, ())]


def _without_words(text: Letters, shared: Collection[Letters]) -> Letters:
    """Return a text without shared words, a space for those in its middle; the whole if no word is left."""
    pieces = _pieces(text, shared)
    if len(pieces) == 1:
        return text
    short: Letters = ()
    for between, is_dropped, word in pieces:
        short += (() if not (short and word) else (" ",)) if is_dropped else between
        short += word
    return short


def _cut(texts: Collection[Letters], room: int) -> dict[Letters, str]:
    """Cut texts in the middle; texts that then collide show the part where they differ."""
    labels = {text: _clip(text, room) for text in texts}
    for twins in _group(texts, labels.__getitem__).values():
        if len(twins) > 1:
            head = _shared_start(list(twins))
            tail = _shared_start([text[: head - 1 if head else None : -1] for text in twins])
            for text in twins:
                third, end = room // 3, len(text) - tail
                core = _clip(text[head:end], room - third - 2)
                lead_room = max(third, room - text_columns(core) - min(_columns(text[end:]), third))
                lead = _clip(text[:head], lead_room, 0)
                tail_room = room - text_columns(lead + core)
                labels[text] = lead + core + _clip(text[end:], tail_room, tail_room - 1)
    return labels


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


def _clip(text: Letters, room: int, tail: int | None = None) -> str:
    """Return a text of at most `room` columns with its last `tail` columns, by default half of them."""
    if _columns(text) <= room:
        return "".join(text)
    tail = max(room - 1, 0) // 2 if tail is None else max(tail, 0)
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


def _group(texts: Collection[Letters], key: Callable[[Letters], Key]) -> dict[Key, set[Letters]]:
    groups: dict[Key, set[Letters]] = defaultdict(set)
    for text in texts:
        groups[key(text)].add(text)
    return groups
