"""Units of documents, of which the highest counts, beside what is above them in each tile."""

from dataclasses import dataclass

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges, span_starts
from metrics.ties.noise.batches import Batch, Members
from metrics.ties.noise.generating import Take


def first_documents(documents: IntArray, units: IntArray) -> IntArray:
    """Return (n_units,) the first document of each unit, of rising documents."""
    firsts = np.zeros(int(units.max(initial=-1)) + 1, dtype=np.int64)
    firsts[units[::-1]] = documents[::-1]
    return firsts


@dataclass(frozen=True, eq=False)
class UnitBatch:
    """The units of a batch of tiles.

    Attributes:
        batch: the tiles.
        numbers: (n_rows, n_tiles) unit of each row, -1 where a tile has fewer.
        grid: (n_rows, most, n_tiles) its documents, a column of the members of each tile, -1 past the last.
        is_alive: (n_rows, n_tiles) whether the highest of the unit may be in the tile: none is certainly above.
    """

    batch: Batch
    numbers: IntArray
    grid: IntArray
    is_alive: BoolArray

    @classmethod
    def of(cls, batch: Batch, members: Members, units: IntArray, tops: IntArray) -> "UnitBatch":
        """Arrange the members of tiles by unit.

        Args:
            batch: the tiles.
            members: all members.
            units: (n_members,) unit of each.
            tops: (n_units,) first document of each unit.

        Returns:
            The units of the tiles, with the members of each.
        """
        if np.array_equal(tops[units], members.documents):
            grid = batch.members.T[:, None]
            numbers = np.where(grid[:, 0] >= 0, units[grid[:, 0]], -1)
        else:
            numbers, grid = _by_unit(batch.members, units)
        is_alive = (numbers >= 0) & (tops[numbers] >= members.tiles.first[batch.tiles])
        return cls(batch, numbers, np.where(grid >= 0, grid - batch.members[:, 0], -1), is_alive)

    def summed(self, above: FloatArray, gains: FloatArray, take: Take, n_taken: int) -> FloatArray:
        """Return (n, n_tiles, n_nodes) how many documents are above the highest of units, by density and gain.

        With g what is known of the documents above that were taken so far, and h the sum over the units taken:
        h <- h (the unit taken) + gain f g, then g <- g (the unit taken). No unit is ever taken out again.

        Args:
            above: (n, n_tiles, n_nodes) g for the documents of no unit.
            gains: (n_units,) gain of each unit.
            take: takes one more document into g or h.
            n_taken: documents that g knows, at most.
        """
        if len(self.grid) > 1:
            above = above.copy()
        total, tile = above[:0], np.arange(above.shape[1])
        for row, columns in enumerate(self.grid):
            documents = self.batch.documents[columns, tile]
            tails = self.batch.tails(np.where(columns >= 0, documents, -1))
            density = self._density_of_highest(columns, tails)
            density *= np.where(self.is_alive[row], gains[self.numbers[row]], 0.0)[:, None]
            for place, tail in enumerate(tails if row else tails[:0]):
                take(total, tail, n_taken + place)
            if row:
                total += density * above
            else:
                total = density * above
            for place, tail in enumerate(tails if row + 1 < len(self.grid) else tails[:0]):
                take(above, tail, n_taken + place)
            n_taken += len(tails)
        return total

    def _density_of_highest(self, columns: IntArray, tails: FloatArray) -> FloatArray:
        """Return (n_tiles, n_nodes) density of the highest of documents: f <- f F_l + F f_l, F <- F F_l."""
        densities, tile = self.batch.densities, np.arange(columns.shape[1])
        density, below = densities[columns[0], tile], 1 - tails[0]
        for column, tail in zip(columns[1:], tails[1:], strict=True):
            is_below = 1 - tail
            density *= is_below
            density += below * densities[column, tile]
            below *= is_below
        return np.asarray(density)


def _by_unit(members: IntArray, units: IntArray) -> tuple[IntArray, IntArray]:
    """Arrange the members of tiles by their units.

    Args:
        members: (n_tiles, n_members) places, -1 past the last.
        units: of all members.

    Returns:
        (n_rows, n_tiles) unit of each row, -1 where a tile has fewer, and (n_rows, most, n_tiles) its members.
    """
    tile, column = np.nonzero(members >= 0)
    member = members[tile, column]
    order = np.lexsort((units[member], tile))
    tile, member, unit = tile[order], member[order], units[member[order]]
    start = span_starts(tile, unit)
    n_members = np.diff(start, append=len(tile))
    number = np.repeat(np.arange(len(start)), n_members)
    row = (number - number[np.searchsorted(tile, tile)]) if len(tile) else number
    place = joined_ranges(np.zeros_like(start), n_members)
    shape = int(row.max(initial=-1)) + 1, int(place.max(initial=-1)) + 1, len(members)
    grid = np.full(shape, -1)
    grid[row, place, tile] = member
    numbers = np.full((shape[0], shape[2]), -1)
    numbers[row, tile] = unit
    return numbers, grid
