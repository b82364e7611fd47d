"""Changes of means that ties alone cannot explain, each told once."""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from metrics.evaluation.change import Change
from metrics.evaluation.running import Running

CHANCE = 0.01
"""Chance that a change is told of a reranker and measure, ever, where nothing changes."""
FIRST_LOOK, GROWTH = 20, 1.1
"""Lists at which a change is looked for first, and how many times as many there are at the next look."""


class NewChange(NamedTuple):
    """A change that was not told yet."""

    reranker: str
    measure: str
    change: Change


@dataclass
class _Looks:
    """Of a reranker and measure: lists before the last change; since, how often and when to look."""

    n_before: int = 0
    n_looks: int = 0
    next_look: int = FIRST_LOOK


class ChangeWatch:
    """Looks for changes as lists come.

    Who looks again and again finds something in the end. So looks are as far apart as lists grow by a tenth,
    and the k-th takes CHANCE / (k (k + 1)) of the chance of a false alarm; all of them together take CHANCE.
    After a change, lists before it are left out, and looks begin again.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._looks: dict[tuple[str, str], _Looks] = {}

    def new_changes(self) -> list[NewChange]:
        """Return the changes that are beyond ties and beyond chance, and were not returned before."""
        changes = []
        for reranker, n_lists in self._running.n_lists.items():
            for measure in self._running.measures:
                looks = self._looks.setdefault((reranker, measure), _Looks())
                if n_lists - looks.n_before < looks.next_look:
                    continue
                looks.n_looks += 1
                looks.next_look = ceil(GROWTH * (n_lists - looks.n_before))
                change = self._running.change(reranker, measure, after=looks.n_before)
                limit = CHANCE / (looks.n_looks * (looks.n_looks + 1))
                if change is not None and change.is_beyond_ties and change.p <= limit:
                    changes.append(NewChange(reranker, measure, change))
                    self._looks[reranker, measure] = _Looks(n_lists - change.n_after)
        return changes
