"""What the figures on cards mean, by the labels of the cards."""

import json
import re
from pathlib import Path

_SECTIONS = json.loads((Path(__file__).parent / "words" / "cards.json").read_text(encoding="utf-8"))
"""Kind of page → pattern of a label → what the figure means."""


def card_help(label: str) -> str | None:
    """Return what the figure on a card means; None for a label that is not known."""
    cards = (card for section in _SECTIONS.values() for card in section.items())
    return next((meaning for pattern, meaning in cards if re.fullmatch(pattern, label)), None)
