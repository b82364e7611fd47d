"""Where the integrals of noisy orders are taken: stretches of scores, and what reaches into each."""

from dataclasses import dataclass

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from metrics.ties.noise.limits import MAX_STRETCHES, refuse_long, refuse_wide
from metrics.ties.noise.model import REACH, Spreads

EVEN_NODES = 6
"""Nodes of a stretch of normal scores whose standard deviations are alike."""
_EVEN_STEP = 0.35 * EVEN_NODES
"""Longest such stretch, in standard deviations."""
_STEP = 1.5
"""Longest stretch where they differ, in the smallest that reaches into it."""
_PLAIN_CROWD = 15
"""Documents within 1.5 standard deviations of one up to which that serves."""
_CLOSER = 1.15
"""Factor between the crowds that are told apart."""
_DEGREE = 128
"""Documents up to which a stretch of even scores that they reach into is integrated exactly."""


@dataclass(frozen=True, eq=False)
class Tiles:
    """Stretches of scores in which some member may lie; the order of the documents outside is certain.

    Attributes:
        cluster: (n,) cluster of each, a place among those given.
        origin: (n,) score that `low` and `high` are counted from, so that small noise loses no digit.
        low: (n,) lower end.
        high: (n,) upper end.
        first: (n,) first document that reaches into it; the documents of the list before are above.
        end: (n,) the document after the last that does; those from here on are below.
        is_alike: (n,) whether all scores of its cluster are normal with one standard deviation.
    """

    cluster: IntArray
    origin: FloatArray
    low: FloatArray
    high: FloatArray
    first: IntArray
    end: IntArray
    is_alike: BoolArray

    @classmethod
    def of(cls, spreads: Spreads, starts: IntArray, sizes: IntArray, members: IntArray) -> "Tiles":
        """Cut clusters into stretches.

        Args:
            spreads: of all documents.
            starts: (n_clusters,) first document of each cluster, rising.
            sizes: (n_clusters,) documents of each.
            members: documents of these clusters whose places matter, rising.

        Returns:
            The stretches in which some member may lie.

        Raises:
            UsageError: a cluster asks for too many, or has standard deviations too far apart.
        """
        owner, documents = _documents(starts, sizes)
        smallest, unit, is_alike = _units(spreads, starts, sizes, documents)
        is_bordered = ~is_alike[owner]
        is_member = np.zeros(len(documents), dtype=bool)
        is_member[np.searchsorted(documents, members)] = True
        is_bordered |= is_member
        owner, documents, is_member = owner[is_bordered], documents[is_bordered], is_member[is_bordered]
        if spreads.is_normal:
            n_borders = 2 * REACH * np.where(is_alike, 1, 2) * smallest / unit  # of a document, at most
            refuse_long(sizes, np.bincount(owner, minlength=len(starts)) * n_borders, MAX_STRETCHES)
        origin = spreads.scores[starts]
        border_of, border, change = _borders(
            spreads, documents, origin[owner], smallest[owner], unit[owner], is_member
        )
        owner = owner[border_of]
        order = np.lexsort((border, owner))
        owner, border = owner[order], border[order]
        n_members = np.cumsum(change[order])
        is_tile = (owner[1:] == owner[:-1]) & (border[1:] > border[:-1]) & (n_members[:-1] > 0)
        cluster = owner[:-1][is_tile]
        low, high = (ends[is_tile] * unit[cluster] for ends in (border[:-1], border[1:]))
        bounds = starts[cluster], starts[cluster] + sizes[cluster]
        first = _bisect(*bounds, spreads.lowest, origin[cluster], high)
        end = _bisect(*bounds, spreads.highest, origin[cluster], np.nextafter(low, np.inf))
        # Borders on the grid lie outside the reach of what asks for them: no member may reach into the last.
        is_reached = np.subtract(*np.searchsorted(members, [end, first])) > 0
        cluster, low, high, first, end = (part[is_reached] for part in (cluster, low, high, first, end))
        if not spreads.is_normal:
            n_pieces = -(-(end - first) // _DEGREE)
            n_stretches = np.asarray(np.bincount(cluster, n_pieces, len(sizes)), dtype=np.float64)
            refuse_long(sizes, n_stretches, MAX_STRETCHES)
            tile, low, high = _pieces(n_pieces, low, high)
            cluster, first, end = cluster[tile], first[tile], end[tile]
        return cls(cluster, origin[cluster], low, high, first, end, is_alike[cluster])


def _documents(starts: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return every document of clusters, and before it the place of its cluster."""
    return np.repeat(np.arange(len(starts)), sizes), joined_ranges(starts, sizes)


def _units(
    spreads: Spreads, starts: IntArray, sizes: IntArray, documents: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the smallest spread and stretch of each cluster, and whether all standard deviations are alike.

    Then the members alone ask for borders; where spreads differ or end abruptly, every document does.
    """
    if not spreads.is_normal:
        return np.ones(len(starts)), np.ones(len(starts)), np.zeros(len(starts), dtype=bool)
    scale = spreads.scale[documents]
    first = np.cumsum(sizes) - sizes
    smallest, largest = np.minimum.reduceat(scale, first), np.maximum.reduceat(scale, first)
    is_alike = smallest == largest
    span = np.where(is_alike, 0.0, spreads.highest[starts] - spreads.lowest[starts + sizes - 1])
    refuse_wide(span, smallest)
    crowding = np.sqrt(np.maximum(_crowds(spreads, starts, sizes, documents) / _PLAIN_CROWD, 1))
    return smallest, smallest * np.where(is_alike, _EVEN_STEP, _STEP) / crowding, is_alike


def _crowds(spreads: Spreads, starts: IntArray, sizes: IntArray, documents: IntArray) -> IntArray:
    """Return (n_clusters,) about how many documents at most stand within 1.5 standard deviations of one.

    How many of n such documents are above x is told by x but for a part of 1/sqrt(n) of a standard deviation:
    nodes must be as close.
    """
    scores, reach = spreads.scores[documents], 1.5 * spreads.scale[documents]
    owner = np.repeat(np.arange(len(starts)), sizes)
    crowds = np.ones(len(starts), dtype=np.int64)
    n, largest = 2, int(sizes.max(initial=0))
    while n <= largest:
        first, last = slice(None, len(scores) - n + 1), slice(n - 1, None)
        is_close = (scores[first] - scores[last] <= np.maximum(reach[first], reach[last])) & (
            owner[first] == owner[last]
        )
        if not is_close.any():
            break
        n = max(n + 1, int(n * _CLOSER))
        crowds[owner[first][is_close]] = n - 1
    return crowds


def _borders(
    spreads: Spreads,
    documents: IntArray,
    origin: FloatArray,
    smallest: FloatArray,
    unit: FloatArray,
    is_member: BoolArray,
) -> tuple[IntArray, FloatArray, IntArray]:
    """Return borders of stretches that documents ask for, in units, and how many members begin or end there.

    A normal score asks for cells of a grid that is doubled with its standard deviation over the smallest: the
    grids of all are nested, so that the finest that reaches a stretch decides. An even score asks for its ends.

    Returns:
        (n,) the document of each, a place in `documents`; the border; 1, -1 or 0.
    """
    if not spreads.is_normal:
        ends = np.concatenate([spreads.low[documents] - origin, spreads.high[documents] - origin])
        change = np.concatenate([is_member.astype(np.int64), -is_member.astype(np.int64)])
        return np.tile(np.arange(len(documents)), 2), ends, change
    center = (spreads.scores[documents] - origin) / unit
    scale = spreads.scale[documents] / unit
    cell = np.exp2(np.floor(np.log2(spreads.scale[documents] / smallest)))
    low = np.floor((center - REACH * scale) / cell)
    n_borders = (np.ceil((center + REACH * scale) / cell) - low).astype(np.int64) + 1
    border_of = np.repeat(np.arange(len(documents)), n_borders)
    last = np.cumsum(n_borders) - 1
    first = last - n_borders + 1
    border = (low[border_of] + np.arange(len(border_of)) - first[border_of]) * cell[border_of]
    change = np.zeros(len(border_of), dtype=np.int64)
    change[first[is_member]], change[last[is_member]] = 1, -1
    return border_of, border, change


def _pieces(n_pieces: IntArray, low: FloatArray, high: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return stretches of even scores in as many pieces as keep each polynomial within reach of the nodes.

    Returns:
        (n,) the stretch each piece is of, its lower end and its upper end.
    """
    tile = np.repeat(np.arange(len(n_pieces)), n_pieces)
    piece = joined_ranges(np.zeros_like(n_pieces), n_pieces)
    width = (high - low)[tile] / n_pieces[tile]
    return tile, low[tile] + piece * width, low[tile] + (piece + 1) * width


def _bisect(
    first: IntArray, end: IntArray, sorted_scores: FloatArray, origin: FloatArray, bound: FloatArray
) -> IntArray:
    """Return the first place of each range where values, less an origin, are below a bound, or its end."""
    first, end = first.copy(), end.copy()
    while (first < end).any():
        middle = (first + end) // 2
        is_below = sorted_scores[np.minimum(middle, len(sorted_scores) - 1)] - origin < bound
        is_open = first < end
        end = np.where(is_open & is_below, middle, end)
        first = np.where(is_open & ~is_below, middle + 1, first)
    return first
