"""Rank rerankers by traditional and tied score, and judge the effect of ties on each mean."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import needs
from metrics.evaluation import EQUAL, EXCESS, Evaluation
from metrics.measures import parse, side_by_side
from metrics.measures.model import GEOMETRIC_FLOOR
from metrics.runs import Runs
from metrics.scale.stored import Stored
from metrics.studies.gaps import difference, named_values
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal, own_rule_note
from metrics.studies.query_values import largest_difference
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.columns import combine_chunks
from metrics.support.wording import percent
from metrics.ties import treatment

Verdict = Literal["stable", "tie-sensitive", "tie-inflated", "tie-deflated", "own rule"]

SHARE = 0.01
"""Share of the best tied score from which a difference is large, the same for all rerankers of a board."""

_LARGE = f"by at least {SHARE:.0%} of the best tied score"
VERDICTS: dict[Verdict, str] = {
    "stable": f"No tie order moves the mean {_LARGE}.",
    "tie-sensitive": f"Worst and best tie order differ {_LARGE}. The traditional score is near the tied score.",
    "tie-inflated": f"The tie order of traditional scores raises the mean {_LARGE}.",
    "tie-deflated": f"The tie order of traditional scores lowers the mean {_LARGE}.",
    "own rule": "The measure settles ties by its own rule, so tie order does not change it.",
}
"""Meaning of each verdict."""


def judge(rows: pd.DataFrame, own_rule: str = "") -> pd.DataFrame:
    """Return the verdict on each reranker's mean and the reason in words.

    `rows` has the columns of `leaderboard` before the verdict; `own_rule` is the name of a measure that has its
    own rule for ties. Gap and best − worst are large from `SHARE` of the best tied score, above rounding.

    Returns:
        index reranker; verdict (None if nothing is scored), size (of the gap or, where that is not large, of
        best − worst, divided by the tied score; NaN for the others) and why.
    """
    tied, gap, width = rows["tied"], rows["gap"], rows["best"] - rows["worst"]
    large = max(SHARE * tied.max() / EXCESS, EQUAL * max(1.0, tied.max()))
    is_off, is_wide = gap.abs() > large, width > large
    names = np.select(
        [is_off & (gap > 0), is_off, is_wide], ["tie-inflated", "tie-deflated", "tie-sensitive"], "stable"
    )
    reasons = [_reason(rows, row, by_gap=bool(by_gap)) for row, by_gap in enumerate(is_off)]
    size = gap.abs().where(is_off, width.where(is_wide)) / tied.where(tied > 0)
    words = pd.Series(names, rows.index, dtype=object)
    table = pd.DataFrame({"verdict": words, "size": size, "why": reasons})
    if own_rule:
        table["verdict"], table["why"] = "own rule", f"{own_rule} settles ties by its own rule"
    table.loc[tied.isna(), ["verdict", "why"]] = None, ""
    return table


def _count_above(means: FloatArray, limits: FloatArray) -> IntArray:
    """Return (n,) the number of means above each limit, within rounding; NaN is above none."""
    ordered = np.sort(means[~np.isnan(means)])
    return np.asarray(len(ordered) - np.searchsorted(ordered, limits + EQUAL, side="right"))


def _reason(rows: pd.DataFrame, row: int, *, by_gap: bool) -> str:
    """Write how large the gap of a mean is, or else its range, and what that exceeds."""
    tied, before = (rows[name].to_numpy(np.float64) for name in ("tied", "traditional"))
    own, (low, high, error) = tied[row], rows[["worst", "best", "standard_error"]].iloc[row]
    if by_gap:
        difference = before[row] - own
        was_ahead, is_ahead = tied > own + EQUAL, before > before[row] + EQUAL
        passed = was_ahead & ~is_ahead if difference > 0 else ~was_ahead & is_ahead
        text = relative_size(difference, own)
    elif not high > EQUAL:
        return "it scores 0 in every tie order"
    elif not high - low > EQUAL:
        return "no tie order changes its score" if rows["tie_ratio"].iloc[row] else "it has no ties"
    else:
        difference, passed = high - low, (tied > low + EQUAL) & (tied <= high + EQUAL)
        text = f"its worst and best case differ by {share_text(difference / own)} of its tied score"
    if abs(difference) > EXCESS * error and error > EQUAL:
        text += f", more than the standard error over queries ({decimal(error)})"
    passed[row] = False
    climbed = rows["tied_rank"].iloc[row] - rows["traditional_rank"].iloc[row]
    if passed.any() and (not by_gap or climbed * difference > 0):
        nearest = int(np.where(passed, np.abs(tied - own), np.inf).argmin())
        others = and_more(int(passed.sum()) - 1)
        text += f", enough to change its rank against {rows.index[nearest]}{others}"
    return text


def relative_size(difference: float, tied: float) -> str:
    """Write a difference as a share of the tied score: `36% above its tied score`."""
    side = "above" if difference > 0 else "below"
    if not tied > 0:
        return f"{decimal(abs(difference))} {side} a tied score of {decimal(tied)}"
    return f"{share_text(abs(difference) / tied)} {side} its tied score"


def share_text(share: float) -> str:
    """Write a share as a percent, with a decimal below 10%: 0.6% is below the 1% that counts."""
    if share < 0.0005:  # noqa: PLR2004 what one decimal of a percent shows
        return "under 0.1%"
    return f"{share:.1%}" if share < 0.0995 else f"{share:,.0%}"  # noqa: PLR2004 rounds to 10


def leaderboard(evaluation: Evaluation | Stored, measure: str, traditional: str) -> pd.DataFrame:
    """Return one row a reranker, highest tied mean first.

    The evaluation has `measure` under expected, optimistic, pessimistic and `traditional`. A stored evaluation
    has its means in its footer, so no list is read.

    Returns:
        index reranker; tied, worst, best, traditional (means), gap (traditional − tied),
        tie_ratio (mean over lists), standard_error (of the tied mean over queries, NaN for one list),
        tied_rank, traditional_rank (1 is best, equal means share a rank), best_rank, worst_rank (highest and
        lowest rank in any tie order), verdict, size and why (of `judge`).
    """
    table = named_values(evaluation.means(measure), traditional)
    table["gap"] = table["traditional"] - table["tied"]
    table["tie_ratio"], table["standard_error"] = evaluation.tie_ratios, evaluation.standard_errors(measure)
    for value in ("tied", "traditional"):
        table[f"{value}_rank"] = places(table[value])
    table["best_rank"], table["worst_rank"] = place_range(table)
    own_rule = measure if parse(measure).measure.answers else ""
    table = table.join(judge(table, own_rule))
    return table.sort_values("tied", ascending=False, kind="stable")


def places(means: "pd.Series[float]") -> "pd.Series[int]":
    """Return the rank of each mean: 1 + the number of means above it, within rounding; NA without a mean."""
    return means.round(12).rank(method="min", ascending=False).astype("Int64")


def swaps_of(before: IntArray, tied: IntArray) -> BoolArray:
    """Return (n, n) whether the row ranks above the column traditionally and below it when tied."""
    return np.asarray((before[:, None] < before) & (tied[:, None] > tied))


def place_range(table: pd.DataFrame) -> Iterator["pd.Series[int]"]:
    """Yield the highest, then the lowest rank of each reranker in any tie order; NA if not scored."""
    best, worst = (table[bound].to_numpy() for bound in ("best", "worst"))
    for theirs, ours in ((worst, best), (best, worst)):
        above = _count_above(theirs, ours) - (theirs > ours + EQUAL)
        yield pd.Series(1 + above, table.index, dtype="Int64").mask(table["tied"].isna())


def mean_std(evaluation: Evaluation, measure: str) -> "pd.Series[float]":
    """Return the standard deviation of each mean over random tie orders: sqrt(sum of variances) / n."""
    lists = evaluation.scores[measure]["std"].groupby(level="reranker", sort=False)
    return lists.agg(lambda std: np.sqrt(np.square(std).sum()) / len(std)).rename("std")


def mean_intervals(evaluation: Evaluation, measure: str) -> pd.DataFrame:
    """Return Student's t interval of each tied mean over queries; it is of one mean, not of a difference.

    It ends at 0 and at the largest value of the measure; that of a geometric mean is one of logarithms.

    Returns:
        index reranker; query_low and query_high (NaN for one query), n (queries).
    """
    with needs("stats"):
        from scipy.special import stdtrit  # noqa: PLC0415 a quarter of a second to import
    values, is_geometric = evaluation.scores[measure, "expected"], parse(measure).measure.geometric
    if is_geometric:
        values = np.log(values.clip(lower=GEOMETRIC_FLOOR))
    lists = values.groupby(level="reranker", sort=False)
    n, mean = lists.count(), lists.mean()
    half = stdtrit(np.maximum(1, n - 1), 0.975) * lists.sem()
    low, high = (np.exp(end) if is_geometric else end for end in (mean - half, mean + half))
    low, high = low.clip(lower=0), high.clip(upper=largest_difference(measure))
    return pd.DataFrame({"query_low": low, "query_high": high, "n": n})


def leaderboard_finding(table: pd.DataFrame, measure: str, traditional: str = "input") -> Prose:
    """Write the effect of ties on this leaderboard, in one or two sentences."""
    table = table[table["tied"].notna()]
    if not len(table):
        return NOTHING_SCORED
    if (table["verdict"] == "own rule").all():
        return own_rule_note(measure)
    order = treatment(traditional).order
    rank_changes = table[table["tied_rank"] != table["traditional_rank"]]
    if len(rank_changes):
        return _rank_change_finding(rank_changes, measure, order)
    off = table[table["verdict"].isin(["tie-inflated", "tie-deflated"])]
    if not len(off):
        return _same_ranks_finding(table, measure, order)
    farthest = off.loc[off["gap"].abs().idxmax()]
    size = decimal(abs(farthest["gap"]))
    return (
        f"By {order}, ",
        Strong(str(farthest.name)),
        f" scores {size} {measure} too {'high' if farthest['gap'] > 0 else 'low'}, {farthest['why']}: "
        f"{_share_tied(farthest)}. ",
        "Averaging ties changes no rank." if len(table) > 1 else "",
    )


def _same_ranks_finding(table: pd.DataFrame, measure: str, order: str) -> Prose:
    if table["best"].max() <= EQUAL:
        reason = "no tie order gives any reranker a higher score."
        return Strong(f"Every {measure} is 0: "), reason
    is_open = table["verdict"] == "tie-sensitive"
    if not is_open.any():
        harmless, close = harmless_ties(table, measure)
        ranks = f" But {close} rerankers are so close that tie order can change their ranks." if close else ""
        return *harmless, ranks
    name = str((table["best"] - table["worst"])[is_open].idxmax())
    low, high = (decimal(table.loc[name, end]) for end in ("worst", "best"))
    return (
        Strong(f"Scores by {order} are close to the tied scores. Scores by another order may not be. "),
        "Tie order alone can put ",
        Strong(name),
        f" anywhere from {low} to {high}: {table.loc[name, 'why']}.",
    )


def harmless_ties(table: pd.DataFrame, measure: str) -> tuple[Prose, int]:
    """Write how little ties move stable means, and count the rerankers whose rank tie order can change."""
    width = table["best"] - table["worst"]
    if width.max() <= EQUAL:
        if not table["tie_ratio"].any():
            return (Strong("No documents tie: "), "traditional and tied scores are equal."), 0
        unchanged = f"Documents tie, but no tie order changes any reranker's {measure}."
        return (Strong("Ties do not matter here. "), unchanged), 0
    widest, close = str(width.idxmax()), int((table["best_rank"] != table["worst_rank"]).sum())
    claim = Strong(f"Ties {'hardly' if close else 'do not'} matter here. ")
    limit = f"No tie order moves a mean by more than {decimal(width.max(), 4)} {measure} ("
    return (claim, limit, Strong(widest), f": {table.loc[widest, 'why']})."), close


def _share_tied(row: "pd.Series[float]") -> str:
    return f"{percent(row['tie_ratio'])} of the documents in a list tie on average"


def _rank_change_finding(rank_changes: pd.DataFrame, measure: str, order: str) -> Prose:
    """Describe the rank change nearest the top, the largest one first."""
    ranks, size = rank_changes[["traditional_rank", "tied_rank"]], rank_changes["gap"].abs()
    jump = (ranks["traditional_rank"] - ranks["tied_rank"]).abs()
    nearest = pd.DataFrame({"top": -ranks.min(axis=1), "jump": jump, "size": size})
    row = rank_changes.loc[nearest.sort_values(["top", "jump", "size"], ascending=False).index[0]]
    gap = row["gap"]
    why = (
        f"{_share_tied(row)}, and {order} puts its {measure} {decimal(abs(gap))} too "
        f"{'high' if gap > 0 else 'low'}, {relative_size(gap, row['tied'])}"
        if abs(gap) > EQUAL
        else "its own score stays the same, but ties move other rerankers"
    )
    return (
        Strong(str(row.name)),
        " is ",
        Strong(f"#{row['traditional_rank']}"),
        f" by {order} and ",
        Strong(f"#{row['tied_rank']}"),
        f" once ties are averaged: {why}.",
    )


UNNAMED = "none"
"""Group of a query that has no named group."""


def query_segments(runs: Runs) -> "pd.Series[str]":
    """Return query → its query group: the first that a row names, rerankers in order.

    The group belongs to the query, whichever reranker names it. Queries without a named group are left out.
    """
    parts = [pd.Series(index=pd.Index([], dtype="str"), dtype="str")]
    for name, table in runs.tables.items():
        if "segment" not in table.column_names:
            continue
        coded, pairs = combine_chunks(table["segment"]), runs.pairs(name)
        words = pc.utf8_trim_whitespace(coded.dictionary)
        is_named = np.asarray(pc.fill_null(pc.not_equal(words, ""), fill_value=False))
        codes = np.asarray(pc.fill_null(coded.indices, -1))
        rows = np.flatnonzero(np.append(is_named, False)[codes])
        first_rows = np.sort(rows[np.unique(pairs.query[rows], return_index=True)[1]])
        queries = pairs.queries.take(pa.array(pairs.query[first_rows])).to_pylist()
        parts.append(pd.Series(words.take(pa.array(codes[first_rows])).to_pylist(), index=queries, dtype="str"))
    segments = pd.concat(parts)
    return segments[~segments.index.duplicated()].rename("segment")


def segment_table(
    evaluation: Evaluation, segments: "pd.Series[str]", measure: str, traditional: str
) -> pd.DataFrame:
    """Return one row a reranker and query group, rerankers in order, groups by falling number of lists.

    Queries without a group count as `UNNAMED`.

    Returns:
        reranker, segment, traditional, tied (means), gap (traditional − tied), n (lists).
    """
    index = evaluation.scores.index
    list_segments = segments.reindex(index.get_level_values("query_id")).fillna(UNNAMED)
    size = list_segments.value_counts()
    order = sorted(size.index, key=lambda name: (name == UNNAMED, -size[name]))
    table = pd.DataFrame(
        {
            "reranker": pd.Categorical(index.get_level_values("reranker"), evaluation.policies.index),
            "segment": pd.Categorical(list_segments, order),
            "traditional": evaluation.scores[measure, traditional].to_numpy(),
            "tied": evaluation.scores[measure, "expected"].to_numpy(),
        }
    )
    groups = table.groupby(["reranker", "segment"], observed=True)
    rows = groups[["traditional", "tied"]].mean().assign(n=groups.size()).reset_index()
    rows.insert(4, "gap", difference(rows["traditional"], rows["tied"]))
    return rows.astype({"reranker": "str", "segment": "str"})


def tie_answers(evaluation: Evaluation, measure: str, traditional: str) -> pd.DataFrame:
    """Return the traditional and tied means of a measure and the means of its variants with own rules for ties.

    Returns:
        index reranker, best tied mean first; one column per mean, such as MRR, MTRR, taRR, TsRR.
    """
    answered, *rules = side_by_side(parse(measure))
    means = evaluation.means(str(answered))
    columns = {answered.traditional: means[traditional], answered.tied: means["expected"]}
    columns |= {str(rule): evaluation.means(str(rule))["expected"] for rule in rules}
    return pd.DataFrame(columns).sort_values(answered.tied, ascending=False, kind="stable")
