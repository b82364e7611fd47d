"""What judgments that came back are worth: how far bars narrowed, and which orders they settled."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EQUAL, ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.holes import joint_bounds
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.leaderboard.judging.copies import judged_below, list_weights
from metrics.studies.leaderboard.judging.plan import JudgingPlan
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.arrays import BoolArray, FloatArray
from metrics.support.wording import count_of, percent

_MOST_NAMED = 5
"""Orders that are named one by one."""


@dataclass(frozen=True, eq=False)
class JudgmentsValue:
    """What judgments changed.

    Attributes:
        n_judged: documents judged since of queries with judgments before, n_relevant of them relevant.
        n_relevant: as said.
        n_queries_added: queries first judged since, which are not compared.
        top_grade: the highest grade, where it is above every earlier one; else None.
        bars: index reranker; lowest_before, highest_before, lowest, highest: bounds of its mean.
        settled: above, below: orders that no bars leave open any more, and did before; widest first.
        n_settled_before: orders settled before.
    """

    n_judged: int
    n_relevant: int
    n_queries_added: int
    top_grade: float | None
    bars: pd.DataFrame
    settled: pd.DataFrame
    n_settled_before: int

    @property
    def width_before(self) -> float:
        """Mean width of the bars before."""
        return float((self.bars["highest_before"] - self.bars["lowest_before"]).mean())

    @property
    def width(self) -> float:
        """Mean width of the bars now."""
        return float((self.bars["highest"] - self.bars["lowest"]).mean())


def judgments_value(
    before: Runs, after: Runs, measure: str, options: ScoringOptions = AS_READ, depth: int | None = None
) -> JudgmentsValue:
    """Return how far the joint bounds of the means narrowed with more judgments of the same lists.

    Compared are means over the queries that had judgments before, without the lists that `missing` leaves out.

    Args:
        before: the lists with the judgments there were.
        after: the same lists with more.
        measure: name of a measure.
        options: how lists are scored.
        depth: place below which documents that nobody judged count as not relevant, for all rerankers; None:
            all may be relevant.

    Raises:
        UsageError: no judgments apart, or as of `joint_bounds`.
    """
    if before.qrels is None or after.qrels is None:
        raise UsageError("Relevance stands inside the tables, so nothing is unjudged. Give judgments apart.")
    measure, queries = str(parse(measure)), before.judged_pairs.queries.to_pylist()
    weights = list_weights(before, options)
    scored = weights.index[weights > 0]
    columns: dict[str, pd.Series[float]] = {}
    for runs, suffix in ((before, "_before"), (after, "")):
        if depth is not None:
            runs = judged_below(runs, RankedDocuments.of(runs, options), depth)  # noqa: PLW2901
        bounds = joint_bounds(runs, measure, options)[measure]
        bounds = bounds[bounds.index.isin(queries, level="query_id")]
        sums = bounds.groupby(level="reranker").sum().reindex(scored)  # a list left out has a value of 0
        columns |= {f"{bound}{suffix}": sums[bound] * weights[scored] for bound in ("lowest", "highest")}
    bars = pd.DataFrame(columns)
    was_apart = _apart(bars["lowest_before"], bars["highest_before"])
    is_apart = _apart(bars["lowest"], bars["highest"]) & ~was_apart
    above, below = np.nonzero(is_apart)
    names = bars.index.to_numpy()
    settled = pd.DataFrame({"above": names[above], "below": names[below]})
    space = bars["lowest"].to_numpy()[above] - bars["highest"].to_numpy()[below]
    new_grades, n_queries_added = _new_grades(before, after)
    top_before, top = (pc.max(qrels["relevance"]).as_py() or 0 for qrels in (before.qrels, after.qrels))
    return JudgmentsValue(
        len(new_grades),
        int((new_grades >= options.relevant_from).sum()),
        n_queries_added,
        top if top > max(top_before, options.relevant_from) else None,
        bars,
        settled.iloc[np.argsort(-space, kind="stable")].reset_index(drop=True),
        int(was_apart.sum()),
    )


def _apart(lowest: "pd.Series[float]", highest: "pd.Series[float]") -> BoolArray:
    """Return (n, n) whether the bar of the row lies wholly above that of the column."""
    return np.asarray(lowest.to_numpy()[:, None] > highest.to_numpy()[None, :] + EQUAL)


def _new_grades(before: Runs, after: Runs) -> tuple[FloatArray, int]:
    """Return the grades of pairs that were not judged before, of queries that were, and how many were not."""
    pairs, earlier = after.judged_pairs, before.judged_pairs
    was_judged = np.isin(pairs.queries.to_pylist(), earlier.queries.to_pylist())
    is_new = ~np.isin(pairs.hashes, earlier.hashes) & was_judged[pairs.query]
    assert after.qrels is not None  # noqa: S101 judgments_value says so
    return after.qrels["relevance"].to_numpy()[is_new], int((~was_judged).sum())


def value_finding(value: JudgmentsValue, plan: JudgingPlan) -> Prose:
    """Say what judgments that came back are worth, at the depth of the plan of what is left after them."""
    name, n_pairs = parse(plan.measure).traditional, len(value.bars) * (len(value.bars) - 1) // 2
    judged = f"{count_of(value.n_judged, 'document')} judged since, {value.n_relevant:,} relevant: "
    head: Prose = (judged, *_width_change(value, plan, name))
    if value.n_queries_added:
        head = (*head, f" {count_of(value.n_queries_added, 'query')} first judged since: not compared.")
    if not n_pairs:
        return head
    if not len(value.settled):
        before = value.n_settled_before
        return (
            *head,
            f" No order more is settled: bars are apart in {before:,} of {count_of(n_pairs, 'pair')}.",
        )
    rows = value.settled.head(_MOST_NAMED)
    pairs = "; ".join(f"{row.above} above {row.below}" for row in rows.itertuples())
    and_more = f" and {len(value.settled) - len(rows):,} more" if len(value.settled) > len(rows) else ""
    total = value.n_settled_before + len(value.settled)
    return (
        *head,
        f" Bars are apart in {total:,} of {count_of(n_pairs, 'pair')}, {value.n_settled_before:,} before: ",
        Strong(pairs),
        f"{and_more}.",
    )


def _width_change(value: JudgmentsValue, plan: JudgingPlan, name: str) -> Prose:
    """Say how far bars narrowed or widened, and why where grades rose."""
    narrowed = value.width_before - value.width
    if abs(narrowed) <= EQUAL:
        return (Strong(f"bars of {name} are as wide as before"), f", {decimal(value.width)} on average.")
    verb = "narrowed" if narrowed > 0 else "widened"
    change = Strong(f"bars of {name} {verb} from {decimal(value.width_before)} to {decimal(value.width)}")
    if value.top_grade is not None:
        above = f" on average; grade {value.top_grade:g} is above every earlier one"
        return (change, f"{above}, and what is still unjudged may have it, too.")
    open_before = value.width_before - plan.floor
    if narrowed < 0 or value.n_queries_added or open_before <= EQUAL:
        return (change, " on average.")
    return (change, f" on average, {percent(narrowed / open_before)} of what unjudged documents left open.")
