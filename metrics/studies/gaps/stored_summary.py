"""A stored evaluation gone over a few lists at a time: what a page shows of it, and nothing as long as it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL
from metrics.scale.stored import Stored, column_of
from metrics.studies.gaps.gap import Moments, gap_prose
from metrics.studies.gaps.gap_histogram import GapHistogram
from metrics.studies.prose import Prose
from metrics.support.arrays import FloatArray, IntArray

FARTHEST = 100
"""Lists with the largest gap that are named."""
NEEDED = ("expected", "optimistic", "pessimistic")
"""Treatments that a leaderboard needs besides the traditional one."""
_NAMED = ["row", "reranker", "tie_ratio", "max_tie_size", "traditional", "tied", "gap"]
SHARES = 20
"""Places on the axis of tie ratios."""
SIZES = 24
"""Places on the axis of largest ties."""


@dataclass(frozen=True, eq=False)
class StoredSummary:
    """Ties and gaps of one measure, over all lists of a stored evaluation.

    Attributes:
        gaps: index reranker; n_lists, gap_mean and gap_max (of the absolute gap), lists_with_gap (share).
        ratios: lists by tie ratio and gap.
        sizes: lists by size of the largest tie and gap.
        n_tied: lists with a tie.
        n_level: of them without a gap.
        correlation: of tie ratio and absolute gap, as `metrics.studies.gaps.gap.correlation`.
        farthest: lists with the largest absolute gap, that first, at most `FARTHEST`: row (place in the
            file), reranker, tie_ratio, max_tie_size, traditional, tied, gap.
    """

    gaps: pd.DataFrame
    ratios: GapHistogram
    sizes: GapHistogram
    n_tied: int
    n_level: int
    correlation: tuple[float, float, float] | None
    farthest: pd.DataFrame


def stored_summary(stored: Stored, measure: str, traditional: str) -> StoredSummary:
    """What ties do to a measure.

    Args:
        stored: with `measure` under expected and `traditional`.
        measure: name of a measure, such as `RR`.
        traditional: the treatment taken as the traditional one.

    Raises:
        ReadError: the file is gone, or has no such column.
    """
    tied, usual = column_of(measure, "expected"), column_of(measure, traditional)
    found = _Counting(len(stored.rerankers))
    for piece in stored.pieces([*dict.fromkeys([tied, usual]), "tie_ratio", "max_tie_size"]):
        one = piece.columns
        found.add(_Lists(piece.rows, piece.owner, one[usual], one[tied], one["tie_ratio"], one["max_tie_size"]))
    return found.survey(stored.policies.index)


def stored_summary_finding(found: StoredSummary, measure: str, query_id: str) -> Prose:
    """Whether ties cost anything, and whether the tie ratio tells.

    Args:
        found: the survey.
        measure: its measure.
        query_id: of the list with the largest gap.
    """
    level = found.n_level / found.n_tied if found.n_tied else 0.0
    worst = found.farthest.iloc[0].to_dict() | {"query_id": query_id} if len(found.farthest) else {"gap": 0.0}
    return gap_prose(found.n_tied, level, found.correlation, worst, measure)


def _runs(owner: IntArray) -> tuple[IntArray, IntArray]:
    """Where lists of another reranker than before begin, and whose they are."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    return starts, owner[starts]


class _Lists(NamedTuple):
    """A few lists: (n,) each; rows and owner as of `metrics.scale.stored.Piece`."""

    row: IntArray
    owner: IntArray
    traditional: FloatArray
    tied: FloatArray
    tie_ratio: FloatArray
    max_tie_size: IntArray


class _Counting:
    """What was seen so far."""

    def __init__(self, n_rerankers: int) -> None:
        self.n_lists, self.n_off = np.zeros(n_rerankers, np.int64), np.zeros(n_rerankers, np.int64)
        self.sums, self.tops = np.zeros(n_rerankers), np.zeros(n_rerankers)
        self.ratios = GapHistogram(n_rerankers, SHARES, 1 / SHARES)
        self.sizes = GapHistogram(n_rerankers, SIZES, 1.0)
        self.moments = Moments()
        self.n_tied = self.n_level = 0
        self.farthest = pd.DataFrame()

    def add(self, lists: _Lists) -> None:
        """Take in some lists."""
        if not len(lists.owner):
            return
        gap = lists.traditional - lists.tied
        size = np.abs(gap)
        size *= size > EQUAL
        self.moments.add(lists.tie_ratio, size)
        off = np.flatnonzero(size)
        gap, size, owner = gap[off], size[off], lists.owner[off]
        self.n_lists += np.bincount(lists.owner, minlength=len(self.n_lists))
        self.n_off += np.bincount(owner, minlength=len(self.n_off))
        self.sums += np.bincount(owner, size, len(self.sums))
        n_tied = int(np.count_nonzero(lists.tie_ratio))
        self.n_tied += n_tied
        self.n_level += n_tied - int(np.count_nonzero(lists.tie_ratio[off]))
        self.ratios.add(lists.owner, lists.tie_ratio, off, gap)
        self.sizes.add(lists.owner, lists.max_tie_size, off, gap)
        if len(off):
            starts, whose = _runs(owner)
            np.maximum.at(self.tops, whose, np.maximum.reduceat(size, starts))
            self._look_for_farthest(lists, off, size)

    def _look_for_farthest(self, lists: _Lists, off: IntArray, size: FloatArray) -> None:
        known = self.farthest
        least = known["size"].min() if len(known) == FARTHEST else 0.0
        if size.max() <= least:
            return
        at = np.flatnonzero(size > least)
        at = at[np.argsort(-size[at], kind="stable")[:FARTHEST]]
        found = pd.DataFrame({name: one[off[at]] for name, one in lists._asdict().items()}).assign(
            size=size[at]
        )
        both = pd.concat([known, found]) if len(known) else found
        self.farthest = both.sort_values("size", ascending=False, kind="stable").head(FARTHEST)

    def survey(self, rerankers: pd.Index) -> StoredSummary:
        """What that makes."""
        with np.errstate(invalid="ignore"):
            mean, share = self.sums / self.n_lists, self.n_off / self.n_lists
        gaps = {"n_lists": self.n_lists, "gap_mean": mean, "gap_max": self.tops, "lists_with_gap": share}
        farthest = self.farthest.reset_index(drop=True)
        if len(farthest):
            farthest["reranker"] = rerankers[farthest["owner"]]
            farthest["gap"] = farthest["traditional"] - farthest["tied"]
        return StoredSummary(
            pd.DataFrame(gaps, rerankers),
            self.ratios,
            self.sizes,
            self.n_tied,
            self.n_level,
            self.moments.correlation(),
            farthest.reindex(columns=_NAMED),
        )
