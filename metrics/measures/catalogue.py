"""Every measure, and the way from a name to it."""

import re
from difflib import get_close_matches

import numpy as np

from metrics.errors import UsageError
from metrics.measures.first_hit import first_hit
from metrics.measures.model import Measure, MeasureAt

MEASURES: tuple[Measure, ...] = (
    Measure(
        name="RR",
        family=first_hit(lambda rank: 1 / rank),
        cutoff="optional",
        traditional="MRR",
        tied="MTRR",
        aliases=("MRR", "MTRR", "ReciprocalRank"),
        summary="One over the rank of the first relevant document.",
        source="Voorhees, TREC-8 QA track report, 1999; ties: McSherry & Najork, ECIR 2008",
    ),
    Measure(
        name="Hits",
        family=first_hit(np.ones_like),
        cutoff="required",
        traditional="Hits",
        tied="TMHits",
        aliases=("TMHits", "Hit", "Success", "HitRate"),
        summary="Whether a relevant document is among the first k.",
        source="ties: McSherry & Najork, ECIR 2008; TMHits: arXiv 2405.18414",
    ),
)
"""Every measure there is."""

_NAMES = {name.casefold(): m for m in MEASURES for name in (m.name, *m.aliases)}
_DIGITS = 9
_PATTERN = re.compile(r"\s*([A-Za-z-]+)(?:@(\d+))?\s*")


def parse(text: str) -> MeasureAt:
    """The measure a name means: `RR`, `MRR@10`, `Hits@3`.

    Raises:
        UsageError: no such measure, or its cut-off is missing or below 1.
    """
    match = _PATTERN.fullmatch(text)
    measure = _NAMES.get(match[1].casefold()) if match else None
    if match is None or measure is None:
        raise UsageError(f"There is no measure {text!r}. {_suggestion(text)}")
    digits = (match[2] or "").lstrip("0")
    if match[2] and not 1 <= len(digits) <= _DIGITS:
        raise UsageError(f"{text[:40]}: a cut-off is 1 or more, up to {10**_DIGITS - 1:,}.")
    k = int(digits) if digits else None
    if k is None and measure.cutoff == "required":
        raise UsageError(f"{text} needs a cut-off, such as {measure.name}@10.")
    return MeasureAt(measure, k)


def _suggestion(text: str) -> str:
    close = get_close_matches(text.split("@", maxsplit=1)[0].casefold(), _NAMES, n=1)
    if close:
        return f"Did you mean {_NAMES[close[0]].name}?"
    return f"Measures: {', '.join(m.name + ('@k' if m.cutoff == 'required' else '') for m in MEASURES)}."
