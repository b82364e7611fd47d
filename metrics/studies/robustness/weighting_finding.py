"""What weights of criteria do to a leaderboard, in sentences."""

import pandas as pd

from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.studies.robustness.noise_curves import LEVEL
from metrics.studies.robustness.weightings import (
    leading_stretches,
    leads,
    weighting_leaders,
    weighting_ranges,
)
from metrics.support.wording import count_of, percent
from metrics.ties.fronts import criterion

_MOST_STRETCHES = 3
"""Leaders one after the other that a sentence names."""


def weighting_finding(values: pd.DataFrame, measure: str) -> Prose:
    """Say which reranker leads at which weights, and whose value depends on them most."""
    if not values.notna().to_numpy().all():
        return NOTHING_SCORED
    ranges = weighting_ranges(values)
    widths = ranges["highest"] - ranges["lowest"]
    widest = str(widths.idxmax())
    low, high = (decimal(ranges.loc[widest, end]) for end in ("lowest", "highest"))
    ends = f"{low} and {high} {measure}"
    if len(ranges) == 1 and low == high:
        return Strong(widest), f" scores {low} {measure} at every weighting tried."
    if len(ranges) == 1:
        return Strong(widest), f" lies between {ends} over all weightings tried."
    depends: Prose = Strong(widest), f" depends on them most: it lies between {ends}."
    if widths.max() <= LEVEL:
        depends = ("No value depends on the weights.",)
    elif low == high:
        depends = ("No value depends much on the weights.",)
    elif widths.max() - widths.min() <= LEVEL:
        depends = (f"Every value moves by {decimal(widths[widest])} {measure} over them.",)
    return *_leaders_sentence(values, ranges), " ", *depends


def _leaders_sentence(values: pd.DataFrame, ranges: pd.DataFrame) -> Prose:
    """Say who leads at which weights."""
    is_first = leads(values)
    always = [str(name) for name in values.columns[is_first.all()]]
    if len(always) == len(ranges) == 2:  # noqa: PLR2004 both
        return ("Both are level at every weighting tried.",)
    if len(always) > 1:
        return (f"{len(always)} rerankers lead level at every weighting tried.",)
    if always:
        return Strong(always[0]), " leads at every weighting tried."
    if values.index.nlevels != 2 or (is_first.sum(axis=1).iloc[1:-1] > 1).any():  # noqa: PLR2004 no strip
        return _shares_sentence(ranges, len(values))
    stretches, leaders = leading_stretches(values), weighting_leaders(values)
    n_leads = 1 + int((leaders[1:] != leaders[:-1]).sum())
    if not 1 < n_leads == len(stretches) <= _MOST_STRETCHES:
        return _shares_sentence(ranges, len(values))
    second = criterion(str(values.index.names[1]))[0]
    first, *later = stretches.to_dict("records")
    sentence: Prose = Strong(str(first["reranker"])), f" leads up to a weight of {first['end']:.2g} of {second}"
    for stretch in later:
        end = f" up to {stretch['end']:.2g}" if stretch is not later[-1] else ""
        sentence = *sentence, ", then ", Strong(str(stretch["reranker"])), f"{' does' if not end else ''}{end}"
    return *sentence, "."


def _shares_sentence(ranges: pd.DataFrame, n_weightings: int) -> Prose:
    """Say at how many of the weightings the first two lead."""
    shares = ranges["leads"].sort_values(ascending=False, kind="stable")
    first, second = (str(name) for name in shares.index[:2])
    n_leaders = int((shares > 0).sum())
    are_both = n_leaders == 2  # noqa: PLR2004 those that are named
    further_leaders = "" if are_both else f" ({count_of(n_leaders, 'reranker')} lead or are level somewhere)"
    return (
        Strong(first),
        f" leads at {percent(shares.iloc[0])} of {n_weightings} weightings, ",
        Strong(second),
        f" at {percent(shares.iloc[1])}{further_leaders}.",
    )
