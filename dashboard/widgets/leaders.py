"""Whose a figure on a card is."""

from typing import TYPE_CHECKING

import numpy as np

from dashboard.charts.labels import CARD_COLUMNS, short_names
from metrics.evaluation import EQUAL
from metrics.support.wording import percent

if TYPE_CHECKING:
    import pandas as pd


def leader_name(values: "pd.Series[float]", above: float = -np.inf) -> str:
    """Return whose the largest value is, how many share it, or that no reranker has one so large."""
    leaders = values.index[(values >= values.max() - EQUAL) & (values.max() > above)]
    if not len(leaders):
        return "no reranker"
    if len(leaders) > 1:
        return f"{len(leaders):,} rerankers alike"
    return short_names(values.index.astype(str), CARD_COLUMNS)[str(leaders[0])]


def farthest_off(gaps: "pd.Series[float]") -> tuple[float, str]:
    """Return the gap that is largest in size, and whose it is; nobody's where none has one."""
    gap = float(gaps.loc[gaps.abs().idxmax()])
    return gap, leader_name(gaps * np.sign(gap), above=EQUAL)


def most_ties(ratios: "pd.Series[float]") -> tuple[str, str]:
    """Return the largest share of tied documents, and whose it is; those of the same percent are alike."""
    share = percent(ratios.max())
    return share, leader_name(ratios.where(ratios.map(percent) != share, ratios.max()), above=0)
