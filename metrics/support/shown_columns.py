"""The columns of tables that people read: what each is called, how it is written, and what it means."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from metrics.support.wording import chance_percent, written_p

Kind = Literal[
    "text",
    "number",
    "difference",
    "significant",
    "percent",
    "count",
    "localized",
    "share",
    "flag",
    "p",
    "chance",
]
_FORMATS: Mapping[str, str] = {
    "number": "%.{digits}f",
    "difference": "%+.{digits}f",
    "significant": "%.{digits}g",
    "percent": "%.0f%%",
    "count": "%d",
    "localized": "localized",
}
WRITERS: Mapping[str, Callable[[float], str]] = {"p": written_p, "chance": chance_percent}
"""How numbers of a kind are written that no format can write."""
_WORDS = {"tied": "Tied", "traditional": "Traditional", "order": "the traditional order"}


@dataclass(frozen=True)
class ShownColumn:
    """A column as a reader sees it.

    Attributes:
        key: names it among `COLUMNS`.
        label: its heading; in braces the words that tables fill in, as `{tied}`.
        help: what it means, words in braces as in the label.
        kind: text; a number with so many decimals, a difference with its sign, or so many significant
            digits; percent, a count, a number as the reader's language writes it; a share of one, drawn as
            a bar; a flag that is set or not; a p value; a chance that is neither none nor sure.
        digits: decimals or significant digits; 0 significant digits are as many as there are.
        width: pixels or a size, none for what the content takes.
    """

    key: str
    label: str
    help: str
    kind: Kind = "number"
    digits: int = 4
    width: int | Literal["small", "medium", "large"] | None = None

    @property
    def number_format(self) -> str:
        """Its format in the manner of printf, or `localized`; empty where it is no number."""
        if self.kind == "significant" and not self.digits:
            return "%g"
        return _FORMATS.get(self.kind, "").format(digits=self.digits)

    @property
    def is_hundredfold(self) -> bool:
        """Whether shares of one are shown as so many of a hundred."""
        return self.kind in ("share", "percent")


def shown_columns(*keys: str | tuple[str, str], **words: object) -> dict[str, ShownColumn]:
    """Choose the columns of a table."""
    words = _WORDS | words
    pairs = [(key, key) if isinstance(key, str) else key for key in keys]
    columns = {}
    for name, key in pairs:
        column = COLUMNS[key]
        columns[name] = replace(
            column, label=column.label.format_map(words), help=column.help.format_map(words)
        )
    return columns


_SECTIONS = json.loads((Path(__file__).parent / "words" / "columns.json").read_text(encoding="utf-8"))
COLUMNS: Mapping[str, ShownColumn] = {
    key: ShownColumn(key, **fields) for section in _SECTIONS.values() for key, fields in section.items()
}
"""Every column by its key; the words are in `words/columns.json`."""


_CARDS = json.loads((Path(__file__).parent / "words" / "cards.json").read_text(encoding="utf-8"))
"""Kind of page → pattern of a label → what the figure means."""


def card_help(label: str) -> str | None:
    """Return what the figure on a card means; None for a label that is not known."""
    cards = (card for section in _CARDS.values() for card in section.items())
    return next((meaning for pattern, meaning in cards if re.fullmatch(pattern, label)), None)
