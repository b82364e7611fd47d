"""How lists are scored: one record, made once from keywords, a link or a command, and passed whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.errors import UsageError
from metrics.runs import Runs
from metrics.runs.stacks import RunStack
from metrics.ties import Ranking
from metrics.ties.fronts import criterion
from metrics.ties.judgments import Judgments, Unjudged, check_relevant_from, check_unjudged
from metrics.ties.precision import rounded

Policy = Literal["zero", "skip"]
"""What is done about queries without a value of their own: they count 0, or are left out."""


@dataclass(frozen=True)
class ScoringOptions:
    """How lists are scored, whatever the measures and treatments.

    Attributes:
        precision: how scores are compared: as read (float64), rounded (float32, float16, bfloat16,
            decimals:N), or tied within E of the highest of their group (within:E).
        missing: queries of the qrels that a run lacks count 0, or are left out.
        empty: queries with nothing relevant count 0, or are left out.
        relevant_from: smallest grade that counts as relevant, above 0.
        tiebreak_by: further score columns that split ties first, highest first.
        criteria: score columns that rank together instead of the score, such as `score`, `cost:asc`: documents
            stand by non-dominated fronts, and a front is a tie.
        unjudged: documents that nobody judged are not relevant, or are left out of their lists: nDCG', AP' and
            the like of condensed lists (Sakai, SIGIR 2007); what remains of a tie stays tied.

    Raises:
        UsageError: a precision or policy that does not exist, or a grade of 0 as relevant.
    """

    precision: str = "float64"
    missing: Policy = "zero"
    empty: Policy = "zero"
    relevant_from: float = 1
    tiebreak_by: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    unjudged: Unjudged = "nonrelevant"

    def __post_init__(self) -> None:
        """Check each option."""
        for name, policy in (("missing", self.missing), ("empty", self.empty)):
            if policy not in ("zero", "skip"):
                raise UsageError(f"{name}={policy!r}: it is 'zero' or 'skip'.")
        check_relevant_from(self.relevant_from)
        check_unjudged(self.unjudged)
        rounded(np.empty(0), self.precision)
        object.__setattr__(self, "tiebreak_by", tuple(self.tiebreak_by))
        object.__setattr__(self, "criteria", tuple(self.criteria))

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Score columns that are read besides the score."""
        names = [criterion(text)[0] for text in self.criteria] + list(self.tiebreak_by)
        return tuple(dict.fromkeys(name for name in names if name != "score"))

    @property
    def _cut(self) -> tuple[float, str, tuple[str, ...], tuple[str, ...], Unjudged]:
        return self.relevant_from, self.precision, self.tiebreak_by, self.criteria, self.unjudged

    def ranking(self, runs: Runs, reranker: str, query_id: str | None = None) -> Ranking:
        """Return the lists of one reranker, cut into tie groups.

        Args:
            runs: what was ranked.
            reranker: whose lists.
            query_id: the query whose list is cut alone, none where it is not judged; all lists where None.

        Raises:
            UsageError: a reranker or column that does not exist.
        """
        return Ranking.of(runs, reranker, *self._cut, query_id=query_id)

    def rankings(self, runs: Runs, stack: RunStack) -> Iterator[Ranking]:
        """Yield the lists of some rerankers a few at a time, in the order of the judged queries."""
        return Ranking.parts(runs, stack, *self._cut)


AS_READ = ScoringOptions()
"""The usual: scores as they were read, every judged query counts."""


def refuse_unbounded(runs: Runs, options: ScoringOptions) -> None:
    """Raise a UsageError where nothing bounds what judgments to come may do to a mean.

    Raises:
        UsageError: unjudged documents are left out; or queries with nothing relevant are, and there is one.
    """
    if options.unjudged == "leave_out":
        raise UsageError("unjudged='leave_out': what is left out bounds nothing. Keep unjudged documents.")
    if adds_queries(runs, options):
        raise UsageError(
            "empty='skip': a judged query with nothing relevant is left out, and a judgment to come may add it "
            "to the mean, which no bound or expectation foresees. Let such queries count 0: empty='zero'."
        )


def adds_queries(runs: Runs, options: ScoringOptions) -> bool:
    """Return whether a judgment to come may add a query to the mean: one is left out with nothing relevant."""
    if options.empty == "zero" or runs.qrels is None:
        return False
    judgments = Judgments.of(runs.qrels, runs.judged_pairs, options.relevant_from)
    return not judgments.n_relevant.all()


class HasScoringOptions:
    """What was scored by `options`, each of which can be read from it directly."""

    options: ScoringOptions

    @property
    def precision(self) -> str:
        """How scores were rounded before they were compared."""
        return self.options.precision

    @property
    def missing(self) -> Policy:
        """What was done about queries the run lacks."""
        return self.options.missing

    @property
    def empty(self) -> Policy:
        """What was done about queries with nothing relevant."""
        return self.options.empty

    @property
    def relevant_from(self) -> float:
        """Smallest grade that counted as relevant."""
        return self.options.relevant_from

    @property
    def tiebreak_by(self) -> tuple[str, ...]:
        """Further score columns that split ties first."""
        return self.options.tiebreak_by

    @property
    def criteria(self) -> tuple[str, ...]:
        """Score columns that ranked together instead of the score."""
        return self.options.criteria

    @property
    def unjudged(self) -> Unjudged:
        """What was done about documents that nobody judged."""
        return self.options.unjudged
