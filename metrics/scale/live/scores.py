"""Lists scored as they arrive; what cannot be read is said and left out."""

from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic

from metrics.errors import TieScopeError, UsageError
from metrics.evaluation import ScoringOptions
from metrics.evaluation.running import Running
from metrics.runs import Repeated, Runs, Source
from metrics.scale.live.arrival import Arrival
from metrics.scale.stream import QueryJudgments, split_by_reranker

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

        Args:
            running: what scores lists, made for the first runs that come.
            judgments: those given apart, as `as_judgments` returns them.
            repeated: what is done about a document twice in one list.
            name: of the reranker; None where rows or files name it.
            say: takes what a person should know.

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

    Args:
        measures: names of measures.
        traditional: the treatment taken as the traditional one.
        options: how lists are scored; judged queries without rows may come later, and are left out.
        keep: lists of each reranker that are kept.

    Raises:
        UsageError: a name that does not exist.
    """
    scoring = {name: value for name, value in vars(options).items() if name != "missing"}
    return Running(measures, traditional, keep=keep, **scoring)
