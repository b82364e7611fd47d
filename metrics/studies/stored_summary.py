"""Ties and gaps of a stored evaluation that does not fit memory, counted in batches of lists."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL
from metrics.scale.stored import Stored, column_of
from metrics.studies.gaps import QueryMoments, gap_prose
from metrics.studies.prose import Prose
from metrics.support.arrays import FloatArray, IntArray

LEVELS = 48
"""Levels of the gap on each side of 0; even, so that pairs of levels can merge."""
_NARROWEST = 2.0**-12
_EDGE_ERROR = 1e-9
"""Relative rounding error of a value on the edge of a cell."""


class GapCells(NamedTuple):
    """Numbers of lists by place on an axis and absolute gap, for one reranker or all.

    Attributes:
        edges: (places + 1,) edges of the axis.
        levels: (n + 1,) edges of the absolute gaps, from 0 to the largest.
        high, low: (places, n) lists whose traditional value is too high or too low.
        none: (places,) lists without a gap.
        sums, squares: (places,) sums of the absolute gaps and of their squares.
    """

    edges: FloatArray
    levels: FloatArray
    high: IntArray
    low: IntArray
    none: IntArray
    sums: FloatArray
    squares: FloatArray

    def select_places(self, places: slice) -> "GapCells":
        """Return the cells of a range of places."""
        edges = self.edges[places.start : places.stop + 1]
        high, low, none = self.high[places], self.low[places], self.none[places]
        return GapCells(edges, self.levels, high, low, none, self.sums[places], self.squares[places])

    @property
    def n_lists(self) -> IntArray:
        """(places,) number of lists."""
        return np.asarray(self.high.sum(axis=1) + self.low.sum(axis=1) + self.none)


class GapHistogram:
    """Numbers of lists by reranker, place on an axis, and gap.

    Level j on one side holds j·step ≤ |gap| < (j + 1)·step, the last level also its end. For a value beyond
    the last place or level, all widths double and pairs of cells merge.

    Attributes:
        counts: (n_rerankers, places, 2·LEVELS + 1); without a gap in the middle, too high after it.
        sums, squares: (n_rerankers, places) of the absolute gaps.
        width: width of a place; the first begins at 0.
        reach: largest absolute gap with a level.
    """

    def __init__(self, n_rerankers: int, places: int, width: float) -> None:
        self.counts = np.zeros((n_rerankers, places, 2 * LEVELS + 1), np.int64)
        self.sums, self.squares = np.zeros((n_rerankers, places)), np.zeros((n_rerankers, places))
        self.width, self.reach = width, _NARROWEST

    def cells(self, reranker: int | None = None) -> GapCells:
        """Return the cells of one reranker or of all, with levels up to the largest gap."""
        rerankers = slice(None) if reranker is None else slice(reranker, reranker + 1)
        n_levels = self._n_levels()
        counts, sums, squares = (one[rerankers].sum(axis=0) for one in (self.counts, self.sums, self.squares))
        return GapCells(
            self.width * np.arange(counts.shape[0] + 1),
            self.reach * np.arange(n_levels + 1) / LEVELS,
            counts[:, LEVELS + 1 : LEVELS + 1 + n_levels],
            counts[:, LEVELS - n_levels : LEVELS][:, ::-1],
            counts[:, LEVELS],
            sums,
            squares,
        )

    def signed_gaps(self) -> tuple[FloatArray, IntArray]:
        """Return (2n + 1,) edges of signed gaps and (n_rerankers, 2n) numbers of lists, n ≥ 24."""
        n_levels = max(self._n_levels(), LEVELS // 2)
        counts = np.delete(self.counts.sum(axis=1), LEVELS, axis=1)
        edges = self.reach * np.arange(-n_levels, n_levels + 1) / LEVELS
        return edges, counts[:, LEVELS - n_levels : LEVELS + n_levels]

    def _n_levels(self) -> int:
        either = self.counts.sum(axis=(0, 1))
        either = either[LEVELS + 1 :] + either[:LEVELS][::-1]
        return int(np.flatnonzero(either).max(initial=0)) + 1

    def add(self, owner: IntArray, x: FloatArray | IntArray, with_gap: IntArray, gap: FloatArray) -> None:
        """Add lists with owners and x (n,); the lists `with_gap` (m,) have these gaps (m,)."""
        _, places, levels = self.counts.shape
        while x.max() > self.width * places:
            self._double_places()
        size = np.abs(gap)
        while len(size) and size.max() > self.reach:
            self._double_levels()
        place = np.minimum((x * (1 / self.width) + _EDGE_ERROR).astype(np.int32), places - 1)
        place += owner * places
        self.counts[:, :, LEVELS] += self._count_by_place(place)
        place = place[with_gap]
        self.counts[:, :, LEVELS] -= self._count_by_place(place)
        self.sums += self._count_by_place(place, size)
        self.squares += self._count_by_place(place, size * size)
        level = np.minimum((size * (LEVELS / self.reach)).astype(np.int32) + 1, LEVELS)
        cell = place * levels + np.where(gap > 0, LEVELS + level, LEVELS - level)
        self.counts += np.bincount(cell, minlength=self.counts.size).reshape(self.counts.shape)

    def _count_by_place(self, place: IntArray, weight: FloatArray | None = None) -> np.ndarray:
        return np.bincount(place, weight, self.sums.size).reshape(self.sums.shape)

    def _double_levels(self) -> None:
        low, none, high = np.split(self.counts, [LEVELS, LEVELS + 1], axis=2)
        self.counts = np.concatenate(
            [_merge_pairs(low[..., ::-1])[..., ::-1], none, _merge_pairs(high)], axis=2
        )
        self.reach *= 2

    def _double_places(self) -> None:
        self.counts = np.moveaxis(_merge_pairs(np.moveaxis(self.counts, 1, -1)), -1, 1)
        self.sums, self.squares = _merge_pairs(self.sums), _merge_pairs(self.squares)
        self.width *= 2


def _merge_pairs(counts: np.ndarray) -> np.ndarray:
    pairs = counts.reshape(*counts.shape[:-1], -1, 2).sum(axis=-1)
    return np.concatenate([pairs, np.zeros_like(pairs)], axis=-1)


FARTHEST = 100
"""Most lists with a large gap to keep."""
LEADERBOARD_TREATMENTS = ("expected", "optimistic", "pessimistic")
"""Treatments of a leaderboard besides the traditional one."""
_FARTHEST_COLUMNS = ["row", "reranker", "tie_ratio", "max_tie_size", "traditional", "tied", "gap"]
RATIO_PLACES, SIZE_PLACES = 20, 24
"""Places on the axes of tie ratios and of largest ties."""


@dataclass(frozen=True, eq=False)
class StoredSummary:
    """Ties and gaps of one measure over all lists of a stored evaluation.

    Attributes:
        gaps: index reranker; n_lists, gap_mean and gap_max (absolute), lists_with_gap (share).
        ratios: lists by tie ratio and gap.
        sizes: lists by size of the largest tie and gap.
        n_tied: lists with ties.
        n_level: lists with ties and without a gap.
        correlation: of tie ratio and absolute gap, with its interval over resampled queries.
        farthest: at most `FARTHEST` lists with the largest absolute gap, in order: row (in the file), reranker,
            tie_ratio, max_tie_size, traditional, tied, gap.
    """

    gaps: pd.DataFrame
    ratios: GapHistogram
    sizes: GapHistogram
    n_tied: int
    n_level: int
    correlation: tuple[float, float, float] | None
    farthest: pd.DataFrame


def stored_summary(stored: Stored, measure: str, traditional: str) -> StoredSummary:
    """Count the ties and gaps of all lists of a stored evaluation, in batches."""
    tied, before = column_of(measure, "expected"), column_of(measure, traditional)
    sources = {"traditional": before, "tied": tied, "tie_ratio": "tie_ratio", "max_tie_size": "max_tie_size"}
    n = len(stored.rerankers)
    ratios, sizes = GapHistogram(n, RATIO_PLACES, 1 / RATIO_PLACES), GapHistogram(n, SIZE_PLACES, 1.0)
    n_lists, n_off = np.zeros((2, n), np.int64)
    sums, tops = np.zeros((2, n))
    moments, n_tied, n_level, farthest = QueryMoments(), 0, 0, pd.DataFrame()
    for piece in stored.pieces(list(dict.fromkeys(sources.values()))):
        columns = {name: piece.columns[source] for name, source in sources.items()}
        lists = pd.DataFrame({"row": piece.rows, "owner": piece.owner, **columns})
        if not len(lists):
            continue
        owners, tie_ratios = lists["owner"].to_numpy(), lists["tie_ratio"].to_numpy()
        gap = (lists["traditional"] - lists["tied"]).to_numpy()
        size = np.abs(gap)
        size *= size > EQUAL
        moments.add_lists(piece.queries, tie_ratios, size)
        with_gap = np.flatnonzero(size)
        gap, size, owner = gap[with_gap], size[with_gap], owners[with_gap]
        n_lists += np.bincount(owners, minlength=n)
        n_off += np.bincount(owner, minlength=n)
        sums += np.bincount(owner, size, n)
        np.maximum.at(tops, owner, size)
        n_tied += int(np.count_nonzero(tie_ratios))
        n_level += int(np.count_nonzero(tie_ratios) - np.count_nonzero(tie_ratios[with_gap]))
        ratios.add(owners, tie_ratios, with_gap, gap)
        sizes.add(owners, lists["max_tie_size"].to_numpy(), with_gap, gap)
        farthest = _farthest(farthest, lists.iloc[with_gap].assign(size=size))
    with np.errstate(invalid="ignore"):
        gaps = {
            "n_lists": n_lists,
            "gap_mean": sums / n_lists,
            "gap_max": tops,
            "lists_with_gap": n_off / n_lists,
        }
    rerankers = stored.policies.index
    if len(farthest):
        farthest = farthest.reset_index(drop=True)
        farthest["reranker"] = rerankers[farthest["owner"]]
        farthest["gap"] = farthest["traditional"] - farthest["tied"]
    return StoredSummary(
        pd.DataFrame(gaps, rerankers),
        ratios,
        sizes,
        n_tied,
        n_level,
        moments.with_interval(),
        farthest.reindex(columns=_FARTHEST_COLUMNS),
    )


def _farthest(farthest: pd.DataFrame, lists: pd.DataFrame) -> pd.DataFrame:
    """Return the `FARTHEST` lists of largest size among those so far and some more."""
    if len(farthest) == FARTHEST:
        lists = lists[lists["size"] > farthest["size"].iloc[-1]]
    merged = pd.concat([part for part in (farthest, lists) if len(part)] or [farthest])
    return merged.sort_values("size", ascending=False, kind="stable").head(FARTHEST) if len(merged) else merged


def stored_summary_finding(summary: StoredSummary, measure: str, query_id: str) -> Prose:
    """Say whether ties change values, and whether the tie ratio predicts the gap.

    `query_id` is that of the largest gap.
    """
    share_level = summary.n_level / summary.n_tied if summary.n_tied else 0.0
    farthest = (
        summary.farthest.iloc[0].to_dict() | {"query_id": query_id} if len(summary.farthest) else {"gap": 0.0}
    )
    return gap_prose(summary.n_tied, share_level, summary.correlation, farthest, measure)
