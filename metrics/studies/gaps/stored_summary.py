"""Ties and gaps of a stored evaluation that is too large for memory: counted a few lists at a time."""

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
LEADERBOARD_TREATMENTS = ("expected", "optimistic", "pessimistic")
"""Treatments that a leaderboard needs besides the traditional one."""
_FARTHEST_COLUMNS = ["row", "reranker", "tie_ratio", "max_tie_size", "traditional", "tied", "gap"]
RATIO_PLACES = 20
"""Places on the axis of tie ratios."""
SIZE_PLACES = 24
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
    """Count the ties and gaps of all lists of a stored evaluation, a few lists at a time.

    Args:
        stored: with `measure` under expected and `traditional`.
        measure: name of a measure, such as `RR`.
        traditional: the treatment taken as the traditional one.

    Returns:
        The counts of each reranker, and the lists with the largest gaps.

    Raises:
        ReadError: the file is gone, or has no such column.
    """
    tied, before = column_of(measure, "expected"), column_of(measure, traditional)
    counter = _SummaryCounter(len(stored.rerankers))
    for piece in stored.pieces([*dict.fromkeys([tied, before]), "tie_ratio", "max_tie_size"]):
        columns = (piece.columns[name] for name in (before, tied, "tie_ratio", "max_tie_size"))
        counter.add(_ListBatch(piece.rows, piece.owner, *columns))
    return counter.summary(stored.policies.index)


def stored_summary_finding(summary: StoredSummary, measure: str, query_id: str) -> Prose:
    """Say whether ties cost anything, and whether the tie ratio predicts it.

    Args:
        summary: as `stored_summary` returns it.
        measure: its measure.
        query_id: of the list with the largest gap.
    """
    share_level = summary.n_level / summary.n_tied if summary.n_tied else 0.0
    farthest = (
        summary.farthest.iloc[0].to_dict() | {"query_id": query_id} if len(summary.farthest) else {"gap": 0.0}
    )
    return gap_prose(summary.n_tied, share_level, summary.correlation, farthest, measure)


class _ListBatch(NamedTuple):
    """A few lists: (n,) each; rows and owner as of `metrics.scale.stored.Piece`."""

    row: IntArray
    owner: IntArray
    traditional: FloatArray
    tied: FloatArray
    tie_ratio: FloatArray
    max_tie_size: IntArray


class _SummaryCounter:
    """Counts, sums and farthest lists of the parts taken in so far."""

    def __init__(self, n_rerankers: int) -> None:
        self.n_lists, self.n_off = np.zeros(n_rerankers, np.int64), np.zeros(n_rerankers, np.int64)
        self.sums, self.tops = np.zeros(n_rerankers), np.zeros(n_rerankers)
        self.ratios = GapHistogram(n_rerankers, RATIO_PLACES, 1 / RATIO_PLACES)
        self.sizes = GapHistogram(n_rerankers, SIZE_PLACES, 1.0)
        self.moments = Moments()
        self.n_tied = self.n_level = 0
        self.farthest = pd.DataFrame()

    def add(self, lists: _ListBatch) -> None:
        """Add a few lists to every count."""
        if not len(lists.owner):
            return
        gap = lists.traditional - lists.tied
        size = np.abs(gap)
        size *= size > EQUAL
        self.moments.add(lists.tie_ratio, size)
        with_gap = np.flatnonzero(size)
        gap, size, owner = gap[with_gap], size[with_gap], lists.owner[with_gap]
        self.n_lists += np.bincount(lists.owner, minlength=len(self.n_lists))
        self.n_off += np.bincount(owner, minlength=len(self.n_off))
        self.sums += np.bincount(owner, size, len(self.sums))
        n_tied = int(np.count_nonzero(lists.tie_ratio))
        self.n_tied += n_tied
        self.n_level += n_tied - int(np.count_nonzero(lists.tie_ratio[with_gap]))
        self.ratios.add(lists.owner, lists.tie_ratio, with_gap, gap)
        self.sizes.add(lists.owner, lists.max_tie_size, with_gap, gap)
        if len(with_gap):
            np.maximum.at(self.tops, owner, size)
            self._look_for_farthest(lists, with_gap, size)

    def _look_for_farthest(self, lists: _ListBatch, with_gap: IntArray, size: FloatArray) -> None:
        farthest = self.farthest
        threshold = farthest["size"].min() if len(farthest) == FARTHEST else 0.0
        if size.max() <= threshold:
            return
        positions = np.flatnonzero(size > threshold)
        positions = positions[np.argsort(-size[positions], kind="stable")[:FARTHEST]]
        candidates = pd.DataFrame(
            {name: one[with_gap[positions]] for name, one in lists._asdict().items()}
        ).assign(size=size[positions])
        merged = pd.concat([farthest, candidates]) if len(farthest) else candidates
        self.farthest = merged.sort_values("size", ascending=False, kind="stable").head(FARTHEST)

    def summary(self, rerankers: pd.Index) -> StoredSummary:
        """Return the summary of all lists added."""
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
            farthest.reindex(columns=_FARTHEST_COLUMNS),
        )
