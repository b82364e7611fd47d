"""What judgments that came back are worth: how far bars narrowed, and which orders they settled."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, EQUAL, ScoringOptions
from metrics.evaluation.holes import RankedDocuments, joint_bounds
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.leaderboard.judging.copies import judged_below
from metrics.studies.leaderboard.judging.plan import JudgingPlan
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.arrays import BoolArray
from metrics.support.wording import count_of, percent

_MOST_NAMED = 5
"""Orders that are named one by one."""


@dataclass(frozen=True, eq=False)
class JudgmentsValue:
    """What judgments changed.

    Attributes:
        n_judged: documents judged since, n_relevant of them relevant.
        n_relevant: as said.
        bars: index reranker; lowest_before, highest_before, lowest, highest: bounds of its mean.
        settled: above, below: orders that no bars leave open any more, and did before; widest first.
        n_settled_before: orders settled before.
    """

    n_judged: int
    n_relevant: int
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

    Args:
        before: the lists with the judgments there were.
        after: the same lists with more.
        measure: name of a measure.
        options: how lists are scored.
        depth: place below which documents that nobody judged count as not relevant, for all rerankers; None:
            all may be relevant.
    """
    columns: dict[str, pd.Series[float]] = {}
    for runs, suffix in ((before, "_before"), (after, "")):
        if depth is not None:
            runs = judged_below(runs, RankedDocuments.of(runs, options), depth)  # noqa: PLW2901
        bounds = joint_bounds(runs, measure, options)[measure]
        means = bounds.groupby(level="reranker", sort=False).mean().reindex(before.rerankers)
        columns |= {f"{bound}{suffix}": means[bound] for bound in ("lowest", "highest")}
    bars = pd.DataFrame(columns)
    was_apart = _apart(bars["lowest_before"], bars["highest_before"])
    is_apart = _apart(bars["lowest"], bars["highest"]) & ~was_apart
    above, below = np.nonzero(is_apart)
    names = bars.index.to_numpy()
    settled = pd.DataFrame({"above": names[above], "below": names[below]})
    space = bars["lowest"].to_numpy()[above] - bars["highest"].to_numpy()[below]
    new_grades = _new_grades(before, after)
    return JudgmentsValue(
        len(new_grades),
        int((new_grades >= options.relevant_from).sum()),
        bars,
        settled.iloc[np.argsort(-space, kind="stable")].reset_index(drop=True),
        int(was_apart.sum()),
    )


def _apart(lowest: "pd.Series[float]", highest: "pd.Series[float]") -> BoolArray:
    """(n, n) whether the bar of the row lies wholly above that of the column."""
    return np.asarray(lowest.to_numpy()[:, None] > highest.to_numpy()[None, :] + EQUAL)


def _new_grades(before: Runs, after: Runs) -> "pd.Series[float]":
    """Return the grades of pairs that were not judged before."""
    if before.qrels is None or after.qrels is None:
        return pd.Series(dtype=float)
    is_new = ~np.isin(after.judged_pairs.hashes, before.judged_pairs.hashes)
    return pd.Series(after.qrels["relevance"].to_numpy()[is_new])


def value_finding(value: JudgmentsValue, plan: JudgingPlan) -> Prose:
    """Say what judgments that came back are worth.

    Args:
        value: as `judgments_value` returns it, at the depth of the plan.
        plan: of what is left to judge after them.
    """
    name, n_pairs = parse(plan.measure).traditional, len(value.bars) * (len(value.bars) - 1) // 2
    judged = f"{count_of(value.n_judged, 'document')} judged since, {value.n_relevant:,} relevant: "
    widths = f"{decimal(value.width_before)} to {decimal(value.width)}"
    open_before = value.width_before - plan.floor
    closed = percent((value.width_before - value.width) / open_before) if open_before > EQUAL else percent(1)
    head: Prose = (
        judged,
        Strong(f"bars of {name} narrowed from {widths}"),
        f" on average, {closed} of what unjudged documents left open.",
    )
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
    others = f" and {len(value.settled) - len(rows):,} more" if len(value.settled) > len(rows) else ""
    total = value.n_settled_before + len(value.settled)
    return (
        *head,
        f" Bars are apart in {total:,} of {count_of(n_pairs, 'pair')}, {value.n_settled_before:,} before: ",
        Strong(pairs),
        f"{others}.",
    )
