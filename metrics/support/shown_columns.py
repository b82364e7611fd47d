"""Labels, formats and help of table columns on screen."""

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
"""Kind → function that writes its numbers."""
_WORDS = {"tied": "Tied", "traditional": "Traditional", "order": "the traditional order"}


@dataclass(frozen=True)
class ShownColumn:
    """A table column on screen.

    Attributes:
        key: its key in `COLUMNS`.
        label: its heading, with placeholders such as `{tied}`.
        help: its explanation, with placeholders.
        kind: `difference` has a sign, `localized` depends on the reader's language, `share` is drawn as a bar,
            `chance` is never 0% or 100%.
        digits: decimals or significant digits; 0 significant digits shows all.
        width: pixels or a size; None fits the content.
    """

    key: str
    label: str
    help: str
    kind: Kind = "number"
    digits: int = 3
    width: int | Literal["small", "medium", "large"] | None = None

    @property
    def number_format(self) -> str:
        """Its printf format, or `localized`; empty if it is not a number."""
        if self.kind == "significant" and not self.digits:
            return "%g"
        return _FORMATS.get(self.kind, "").format(digits=self.digits)

    @property
    def is_hundredfold(self) -> bool:
        """True if shares are multiplied by 100."""
        return self.kind in ("share", "percent")


def shown_columns(*keys: str | tuple[str, str], **words: object) -> dict[str, ShownColumn]:
    """Return the columns with these keys, or (name, key), with `words` for placeholders."""
    words = _WORDS | words
    pairs = [(key, key) if isinstance(key, str) else key for key in keys]
    columns = {}
    for name, key in pairs:
        if key not in COLUMNS:
            raise LookupError(f"No column {key!r}: add it to metrics/support/words/columns.json.")
        column = COLUMNS[key]
        columns[name] = replace(
            column, label=column.label.format_map(words), help=column.help.format_map(words)
        )
    return columns


_SECTIONS = json.loads((Path(__file__).parent / "words" / "columns.json").read_text(encoding="utf-8"))
COLUMNS: Mapping[str, ShownColumn] = {
    key: ShownColumn(key, **fields) for section in _SECTIONS.values() for key, fields in section.items()
}
"""Columns by key; the texts are in `words/columns.json`."""


_CARDS = json.loads((Path(__file__).parent / "words" / "cards.json").read_text(encoding="utf-8"))
"""Kind of page → pattern of a label → help."""


def card_help(label: str) -> str | None:
    """Return the help of a card; None for unknown labels."""
    cards = (card for section in _CARDS.values() for card in section.items())
    return next((meaning for pattern, meaning in cards if re.fullmatch(pattern, label)), None)
