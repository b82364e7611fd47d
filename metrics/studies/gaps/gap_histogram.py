"""Lists counted by a property and their gap, in cells that widen as values outgrow them."""

from typing import NamedTuple

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

LEVELS = 48
"""Levels of the gap on either side of none; an even number, so that two and two make one."""
_NARROWEST = 2.0**-12
_ROUNDING = 1e-9
"""Part of a cell by which rounding may put a value below the edge it stands on."""


class GapCells(NamedTuple):
    """Lists of one reranker, or of all, by place on an axis and absolute gap.

    Attributes:
        edges: (places + 1,) of the axis.
        levels: (n + 1,) edges of the absolute gaps, from 0 to that of the largest.
        high, low: (places, n) lists whose traditional value is too high, or too low.
        none: (places,) lists without a gap.
        sums, squares: (places,) of the absolute gaps.
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
        return GapCells(
            self.edges[places.start : places.stop + 1],
            self.levels,
            self.high[places],
            self.low[places],
            self.none[places],
            self.sums[places],
            self.squares[places],
        )

    @property
    def n_lists(self) -> IntArray:
        """(places,) lists, with and without a gap."""
        return np.asarray(self.high.sum(axis=1) + self.low.sum(axis=1) + self.none)


class GapHistogram:
    """Counts of lists by reranker, place on an axis, and gap.

    Gaps have a level on either side of none: level j of one side holds j·step ≤ |gap| < (j + 1)·step,
    the last one its end as well. Where a value lies beyond the last place or level, both widths double
    and two cells make one: the counts are those that the wide cells would have had from the start.

    Attributes:
        counts: (n_rerankers, places, 2·LEVELS + 1); no gap in the middle, the traditional value too high
            after it.
        sums, squares: (n_rerankers, places) of the absolute gaps.
        width: of a place; the first begins at 0.
        reach: largest absolute gap there is a level for.

    Args:
        n_rerankers: how many there are.
        places: on the axis.
        width: of a place, at least.
    """

    def __init__(self, n_rerankers: int, places: int, width: float) -> None:
        self.counts = np.zeros((n_rerankers, places, 2 * LEVELS + 1), np.int64)
        self.sums, self.squares = np.zeros((n_rerankers, places)), np.zeros((n_rerankers, places))
        self.width, self.reach = width, _NARROWEST

    def cells(self, reranker: int | None = None) -> GapCells:
        """Return the cells of one reranker, or of all, without the levels above the largest gap of all."""
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
        """Return (2n + 1,) edges of signed gaps, and (n_rerankers, 2n) lists with gaps between them; n ≥ 24."""
        n_levels = max(self._n_levels(), LEVELS // 2)
        counts = np.delete(self.counts.sum(axis=1), LEVELS, axis=1)
        edges = self.reach * np.arange(-n_levels, n_levels + 1) / LEVELS
        return edges, counts[:, LEVELS - n_levels : LEVELS + n_levels]

    def _n_levels(self) -> int:
        """Return the number of levels up to the largest gap."""
        either = self.counts.sum(axis=(0, 1))
        either = either[LEVELS + 1 :] + either[:LEVELS][::-1]
        return int(np.flatnonzero(either).max(initial=0)) + 1

    def add(self, owner: IntArray, x: FloatArray | IntArray, with_gap: IntArray, gap: FloatArray) -> None:
        """Count some lists by place and gap.

        Args:
            owner: (n,) places of their rerankers.
            x: (n,) values on the axis.
            with_gap: (m,) which of them have a gap.
            gap: (m,) of these.
        """
        _, places, levels = self.counts.shape
        while x.max() > self.width * places:
            self._double_places()
        size = np.abs(gap)
        while len(size) and size.max() > self.reach:
            self._double_levels()
        place = np.minimum((x * (1 / self.width) + _ROUNDING).astype(np.int32), places - 1)
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
    """Add up two neighbours along the last axis; the other half of the axis becomes empty."""
    pairs = counts.reshape(*counts.shape[:-1], -1, 2).sum(axis=-1)
    return np.concatenate([pairs, np.zeros_like(pairs)], axis=-1)
