"""What the last digits of scores show: decimals, half precision, and ties that rounding makes or hides."""

from dataclasses import replace

import numpy as np

from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import Listing
from metrics.support.arrays import BoolArray, FloatArray
from metrics.support.wording import count_of, part_of, percent

_DECIMALS = 4
_EXACT = 2**53 / 10**_DECIMALS
"""From here on a score has no fourth decimal."""
_MIN_DISTINCT = 20
"""Distinct scores from which on it is no accident that all fit 16 bits."""
_FEW_DECIMALS = 2
"""Up to so many decimals, scores that fit 16 bits were more likely counted in halves or quarters."""
_MOST_GRADERS = 5
"""Whole-number grades up to so many, of which a score may be the mean."""
_NOISE = 1e-9


def decimals(values: FloatArray) -> int | None:
    """Return the fewest decimals that write every value exactly, 0 for integers; None where 4 are too few."""
    if not len(values) or max(-values[0], values[-1]) >= _EXACT:
        return None
    return next((n for n in range(_DECIMALS + 1) if (np.round(values, n) == values).all()), None)


def half_format(values: FloatArray) -> str | None:
    """Return the 16-bit format that holds all values, if they are many and decimals do not explain it."""
    places = decimals(values)
    if len(values) < _MIN_DISTINCT or (places is not None and places <= _FEW_DECIMALS):
        return None
    with np.errstate(over="ignore"):
        narrow, narrowest = values.astype(np.float32), values.astype(np.float16)
    if (narrow == values).all() and not (narrow.view(np.uint32) & 0xFFFF).any():
        return "bfloat16"
    return "float16" if (narrowest == values).all() else None


def few_decimals(listing: Listing) -> list[Finding]:
    """Report ties among scores of one to four decimals; halves were counted, as Copeland's are, not rounded."""
    values = listing.values
    places = decimals(values)
    if places == 1 and decimals(2 * values) == 0:
        return []
    if not listing.tied or len(values) < 2 or not places or half_format(values):  # noqa: PLR2004 one is constant
        return []
    message = f"Scores have at most {count_of(places, 'decimal')} and {_tied(listing)}."
    finding = listing.finding("few-decimals", message, count=listing.tied)
    return [replace(finding, severity="info") if _are_grades(listing) else finding]


def _are_grades(listing: Listing) -> bool:
    """Return whether scores are whole-number grades, most of them or as means of a few: nothing was rounded."""
    values, scores = listing.values, listing.scores
    if "score_std" in listing.table.column_names:
        return True  # the mean of repeats, which the app made or the file says
    are_means = any(decimals(n * values) == 0 for n in range(2, _MOST_GRADERS + 1))
    are_whole = 2 * np.count_nonzero(scores == np.rint(scores)) > len(scores)
    return bool(values[-1] - values[0] > 1 and (are_means or are_whole))


def half_precision(listing: Listing) -> list[Finding]:
    """Report scores that all fit a 16-bit float."""
    kind = half_format(listing.values)
    if kind is None:
        return []
    message = (
        f"{kind} holds each of the {count_of(len(listing.values), 'distinct score')} exactly; {_tied(listing)}."
    )
    return [listing.finding("half-precision", message, count=len(listing.scores))]


def float32_ties(listing: Listing) -> list[Finding]:
    """Report documents of one list whose scores differ, and are equal as 32-bit floats."""
    with np.errstate(over="ignore"):
        narrow = listing.scores[listing.starts].astype(np.float32)
    verb = "have scores that differ as 64-bit floats and are equal as 32-bit floats"
    return _neighbours(listing, narrow[1:] == narrow[:-1], "float32-ties", verb)


def near_ties(listing: Listing) -> list[Finding]:
    """Report documents whose score differs from the next in the list by rounding noise."""
    score = listing.scores[listing.starts]
    with np.errstate(over="ignore", invalid="ignore"):
        near = score[:-1] - score[1:] < _NOISE * np.maximum(np.abs(score[:-1]), np.abs(score[1:]))
    near &= np.isfinite(score[1:]) & np.isfinite(score[:-1])
    verb = "have a score that differs from a neighbour's by less than a billionth of it"
    return _neighbours(listing, near, "near-ties", verb)


def _neighbours(listing: Listing, alike: BoolArray, code: str, verb: str) -> list[Finding]:
    """Return a finding about tie groups that are like the next one of their list: what their documents do."""
    alike = alike & (listing.group_lists[1:] == listing.group_lists[:-1])
    if not alike.any():
        return []
    either = np.append(alike, False) | np.append(False, alike)
    n_docs, n_lists = int(listing.sizes[either].sum()), len(np.unique(listing.group_lists[either]))
    lists = f"in {part_of(n_lists, len(listing.list_sizes), 'list')}"
    row = listing.order[listing.starts[either]].min()
    return [listing.finding(code, f"{count_of(n_docs, 'document')} {lists} {verb}.", row=row, count=n_docs)]


def _tied(listing: Listing) -> str:
    n_docs = len(listing.scores)
    return f"{part_of(listing.tied, n_docs, 'document')} ({percent(listing.tied / n_docs)}) are tied"
