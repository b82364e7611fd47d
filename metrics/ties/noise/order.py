"""The random order of documents whose scores are noisy, beside the tie groups it takes the place of."""

from dataclasses import dataclass, field

import numpy as np

from metrics.support.arrays import BoolArray, IntArray
from metrics.support.cached import cached_property
from metrics.ties.noise.batches import Members
from metrics.ties.noise.model import Spreads
from metrics.ties.noise.tiles import Tiles


@dataclass(frozen=True, eq=False)
class NoisyOrder:
    """How likely the orders of documents are inside groups whose order is open.

    A group whose documents have one score and one spread is a tie: all its orders are equally likely,
    whatever the noise. The others are mixed.

    Attributes:
        spreads: where the true scores of all documents lie.
        starts: (n_groups,) first document of each group.
        sizes: (n_groups,) documents of each.
        above: (n_groups,) documents of the list certainly above each.
        documents: (n_contributing,) the contributing documents, rising.
        n_contributing: (n_groups,) how many of them each group has.
    """

    spreads: Spreads
    starts: IntArray
    sizes: IntArray
    above: IntArray
    documents: IntArray
    n_contributing: IntArray
    _memo: dict[bytes, tuple[IntArray, Members]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def is_mixed(self) -> BoolArray:
        """(n_groups,) whether its orders are not equally likely."""
        return ~self.spreads.are_ties(self.starts, self.sizes)

    @cached_property
    def owner(self) -> IntArray:
        """(n_contributing,) group of each contributing document."""
        return np.repeat(np.arange(len(self.starts)), self.n_contributing)

    def members(self, selection: BoolArray) -> tuple[IntArray, Members]:
        """Return those of chosen contributing documents that are in mixed groups, ready to be integrated.

        Measures that choose the same share what is computed of them.

        Args:
            selection: (n_contributing,) which.

        Returns:
            (n_members,) their places among the contributing documents, and the members.
        """
        key = selection.tobytes()
        if key not in self._memo:
            self._memo[key] = self._members(np.flatnonzero(selection & self.is_mixed[self.owner]))
        return self._memo[key]

    def _members(self, places: IntArray) -> tuple[IntArray, Members]:
        clusters = np.unique(self.owner[places])
        starts, documents = self.starts[clusters], self.documents[places]
        tiles = Tiles.of(self.spreads, starts, self.sizes[clusters], documents)
        start = starts[tiles.cluster]
        members = Members(
            spreads=self.spreads,
            documents=documents,
            tiles=tiles,
            clusters=clusters[tiles.cluster],
            above=self.above[clusters][tiles.cluster] + tiles.first - start,
            members_above=np.subtract(*np.searchsorted(documents, [tiles.first, start])),
        )
        return places, members
