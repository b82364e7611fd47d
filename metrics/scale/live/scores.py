"""Lists scored as they arrive; what cannot be read is said and left out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import NamedTuple

from metrics.errors import TieScopeError, UsageError
from metrics.evaluation import ScoringOptions
from metrics.evaluation.running import Change, Running
from metrics.runs import Repeated, Runs, Source
from metrics.scale.live.feeds import Arrival
from metrics.scale.stream import QueryJudgments, split_by_reranker

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


MAX_RERANKERS = 200
"""Rerankers whose lists are kept, at most."""


class LiveScores:
    """Scores what arrives.

    Attributes:
        running: what was scored.
        unjudged: reranker → its lists that no judgment is about, and that do not count.
        version: a number that is another one after each list that counts.
    """

    def __init__(
        self,
        running: Callable[[Runs], Running],
        judgments: Source | None,
        repeated: Repeated,
        name: str | None,
        say: Callable[[str], None],
    ) -> None:
        """Begin.

        Raises:
            ReadError: a document is judged twice.
        """
        self._make, self._repeated, self._name, self._say = running, repeated, name, say
        self._judged = None if judgments is None else QueryJudgments.of(judgments, repeated)
        self._known_codes: set[str] = set()
        self.running: Running | None = None
        self.unjudged: Counter[str] = Counter()
        self.version = 0

    def add(self, arrival: Arrival) -> None:
        """Score what has come; where it cannot be read, list by list, and say which was left out."""
        try:
            source = arrival.read(self._name)
            lists, noted = split_by_reranker(source, self._judged, self._repeated)
            if self.running is None:
                self.running = self._make(lists[0][0])
            self._refuse_many([stats.name for _, rerankers in lists for stats in rerankers])
            for runs, rerankers in lists:
                self.running.add(runs, at=monotonic())
                for stats in rerankers:
                    self.unjudged[stats.name] += (stats.n_queries - len(stats.places)) * bool(self._judged)
            self.version += 1
        except TieScopeError as error:
            if not arrival.parts:
                self._say(f"{error} Left out.")
                arrival.refuse()
            for part in arrival.parts:
                self.add(part)
            return
        for finding in noted:
            if finding.code not in self._known_codes:
                self._known_codes.add(finding.code)
                self._say(f"{finding.severity} · {finding.file} · {finding.message} {finding.hint}")

    def _refuse_many(self, names: Sequence[str]) -> None:
        known_names = {*self.running.n_lists} if self.running else set()
        if len(known_names.union(names)) > MAX_RERANKERS:
            raise UsageError(
                f"{names[0]}: more than {MAX_RERANKERS} rerankers. NAME=PATH gives all lists one name."
            )


def running_for(measures: Sequence[str], traditional: str, options: ScoringOptions, keep: int) -> Running:
    """Return what scores lists by options made already; arguments as of `Running`.

    Raises:
        UsageError: a name that does not exist.
    """
    scoring = {name: value for name, value in vars(options).items() if name != "missing"}
    return Running(measures, traditional, keep=keep, **scoring)
