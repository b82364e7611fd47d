"""The leaderboard: who leads, traditionally and with ties averaged, and what ties do to each mean."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse
from metrics.runs import Runs
from metrics.scale.stored import Stored
from metrics.studies.gaps import difference, named_values
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal
from metrics.studies.tie_rules import own_rule_note
from metrics.support.arrays import BoolArray, FloatArray, IntArray, combine_chunks
from metrics.support.wording import percent
from metrics.ties import treatment

Verdict = Literal["stable", "tie-sensitive", "tie-inflated", "tie-deflated", "own rule"]

SHARE = 0.01
"""Share of the tied value from which on a difference counts, however many queries there are."""
_ROUNDING = 1e-6
"""Part of a standard error that it may be off: one that is stored comes of a sum of squares."""
_TIMES = 10
"""Tied values from which on a difference is told as a multiple of it."""

LARGE = (
    f"by {SHARE:.0%} of the tied value, by more than its standard error over queries, or past another reranker"
)
"""When a difference that ties make is large, in words; `is_large` decides."""
VERDICTS: dict[Verdict, str] = {
    "stable": f"No order of its ties moves the mean {LARGE}.",
    "tie-sensitive": f"The order of its ties can move the mean {LARGE}; the traditional value is close.",
    "tie-inflated": f"The traditional value is above the tied one {LARGE}.",
    "tie-deflated": f"The traditional value is below the tied one {LARGE}.",
    "own rule": "The measure settles ties by a rule of its own, so no order of them gives another value.",
}
"""What each verdict means."""


def is_large(
    difference: FloatArray, tied: FloatArray, standard_error: FloatArray, changes_place: BoolArray
) -> BoolArray:
    """Return (n,) whether a difference that ties make to a mean is large, whatever the scale of the measure.

    It is where it is no rounding (above 1e-12) and one of these holds:

        |difference| >= 0.01 · tied              beside the mean itself
        |difference| > standard error > 0        beside its luck with queries
        it changes a place                       beside the other rerankers

    Args:
        difference: (n,) traditional − tied, or best − worst.
        tied: (n,) tied means.
        standard_error: (n,) of the tied mean over queries; NaN where it is not known, 0 where no query differs.
        changes_place: (n,) whether the difference does.
    """
    size = np.abs(difference)
    by_value = size >= SHARE * np.abs(tied)
    by_queries = _exceeds(difference, standard_error)
    return np.asarray((size > EQUAL * np.maximum(1.0, np.abs(tied))) & (by_value | by_queries | changes_place))


def _exceeds(difference: FloatArray, standard_error: FloatArray) -> BoolArray:
    """Return whether a difference is above a standard error that is not 0, by more than either is rounded."""
    return np.asarray((standard_error > EQUAL) & (np.abs(difference) > (1 + _ROUNDING) * standard_error))


def judge(rows: pd.DataFrame, own_rule: str = "") -> pd.DataFrame:
    """Say of each reranker what ties do to its mean, and beside what that is large.

    Args:
        rows: index reranker; tied, worst, best, traditional, gap, tie_ratio, tied_rank, traditional_rank,
            standard_error, as `leaderboard` has them.
        own_rule: name of the measure where it settles ties by a rule of its own.

    Returns:
        index reranker; verdict (None where nothing is scored) and why, in words.
    """
    tied, gap, error = (rows[name].to_numpy(np.float64) for name in ("tied", "gap", "standard_error"))
    gap_moves, ties_move = _gap_changes_place(rows), _ties_change_place(rows)
    is_off = is_large(gap, tied, error, gap_moves)
    is_wide = is_large((rows["best"] - rows["worst"]).to_numpy(), tied, error, ties_move)
    is_open = [is_off & (gap > 0), is_off, is_wide]
    names = np.select(is_open, ["tie-inflated", "tie-deflated", "tie-sensitive"], "stable").astype(object)
    words = _Reasons(rows)
    reasons = [
        words.of_gap(row, moves=bool(gap_moves[row]))
        if is_off[row]
        else words.of_width(row, moves=bool(ties_move[row]))
        for row in range(len(rows))
    ]
    table = pd.DataFrame({"verdict": names, "why": reasons}, rows.index, dtype=object)
    if own_rule:
        table["verdict"], table["why"] = "own rule", f"{own_rule} settles ties by its own rule"
    table.loc[np.isnan(tied), ["verdict", "why"]] = None, ""
    return table


def _gap_changes_place(rows: pd.DataFrame) -> BoolArray:
    """Return (n,) whether traditional and tied place differ, and that on the side of the own gap."""
    climbed = (rows["tied_rank"] - rows["traditional_rank"]).to_numpy(np.float64, na_value=0.0)
    return np.asarray(climbed * np.nan_to_num(rows["gap"].to_numpy()) > 0)


def _ties_change_place(rows: pd.DataFrame) -> BoolArray:
    """Return (n,) whether worst and best mean stand at different places among the tied means of others."""
    tied, worst, best = (rows[name].to_numpy(np.float64) for name in ("tied", "worst", "best"))
    means = np.sort(tied[~np.isnan(tied)])
    passed = np.searchsorted(means, best + EQUAL, side="right") - np.searchsorted(
        means, worst + EQUAL, side="right"
    )
    own = (tied > worst + EQUAL) & (tied <= best + EQUAL)
    return np.asarray(passed - own > 0)


class _Reasons:
    """What a difference is large beside, in words."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self._rows = rows
        self._names = [str(name) for name in rows.index]
        self._tied = rows["tied"].to_numpy(np.float64)
        self._before = rows["traditional"].to_numpy(np.float64)

    def of_gap(self, row: int, *, moves: bool) -> str:
        """Return by how much the traditional value of a row is off, and whom it passes."""
        gap, tied, before = self._before[row] - self._tied[row], self._tied, self._before
        side = "above" if gap > 0 else "below"
        was_ahead, is_ahead = tied > tied[row] + EQUAL, before > before[row] + EQUAL
        passed = was_ahead & ~is_ahead if gap > 0 else ~was_ahead & is_ahead
        return f"{relative_size(gap, tied[row], side)}{self._comparisons(row, gap, passed & moves)}"

    def of_width(self, row: int, *, moves: bool) -> str:
        """Return how far apart the worst and the best value of a row are, and whom they surround."""
        low, high, tied = self._rows["worst"].iloc[row], self._rows["best"].iloc[row], self._tied[row]
        if not high - low > EQUAL:
            return "no order of its ties moves it" if self._rows["tie_ratio"].iloc[row] else "it has no ties"
        passed = (self._tied > low + EQUAL) & (self._tied <= high + EQUAL)
        size = _share((high - low) / tied)
        return (
            f"worst to best spans {size} of its tied value{self._comparisons(row, high - low, passed & moves)}"
        )

    def _comparisons(self, row: int, difference: float, passed: BoolArray) -> str:
        error = float(self._rows["standard_error"].iloc[row])
        text = ""
        if _exceeds(np.array(difference), np.array(error)):
            text = f", more than its standard error over queries, {decimal(error)}"
        passed[row] = False
        if passed.any():
            distance = np.where(passed, np.abs(self._tied - self._tied[row]), np.inf)
            nearest = self._names[int(distance.argmin())]
            text += f", enough to change places with {nearest}{and_more(int(passed.sum()) - 1)}"
        return text


def relative_size(difference: float, tied: float, side: str) -> str:
    """Write a difference as a share of the tied value: `36% above its tied value`."""
    if not tied > 0:
        return f"{decimal(abs(difference))} {side} a tied value of {decimal(tied)}"
    share = abs(difference) / tied
    if side == "above" and share >= _TIMES:
        return f"{1 + share:,.0f} times its tied value"
    return f"{_share(share)} {side} its tied value"


def _share(share: float) -> str:
    """Write a share of a tied value as a percent; with a decimal below 10: 0.6% is not the 1% that counts."""
    if share < 0.0005:  # noqa: PLR2004 what one decimal of a percent shows
        return "under 0.1%"
    return f"{share:.1%}" if share < 0.0995 else f"{share:,.0%}"  # noqa: PLR2004 rounds to 10


def leaderboard(evaluation: Evaluation | Stored, measure: str, traditional: str) -> pd.DataFrame:
    """Return one row a reranker, best tied mean first.

    Args:
        evaluation: with `measure` under expected, optimistic, pessimistic and `traditional`; one that is
            stored has its means in its footer, so that no list is read.
        measure: name of a measure, such as `RR`.
        traditional: the treatment taken as the traditional one, such as `input`.

    Returns:
        index reranker; tied, worst, best, traditional (means), gap (traditional − tied),
        tie_ratio (mean over lists), standard_error (of the tied mean over queries, NaN where it is not
        known: of one list), tied_rank, traditional_rank (1 best, equal means share one),
        best_rank, worst_rank (the highest and lowest place that any tie-breaking gives), verdict and why.
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
    """Return the place of each mean: 1 + how many are above it, rounding left out; NA where there is none."""
    return means.round(12).rank(method="min", ascending=False).astype("Int64")


def swap_matrix(leaderboard: pd.DataFrame) -> BoolArray:
    """Return (n, n) whether the row's reranker is above the column's by the sort, and below it when tied."""
    return swaps_of(*(leaderboard[f"{value}_rank"].to_numpy(np.int64) for value in ("traditional", "tied")))


def swaps_of(before: IntArray, tied: IntArray) -> BoolArray:
    """Return (n, n) whether the row is above the column by the (n,) places before, and below it by the tied."""
    return np.asarray((before[:, None] < before) & (tied[:, None] > tied))


def place_range(table: pd.DataFrame) -> Iterator["pd.Series[int]"]:
    """Yield the highest, then the lowest place any tie-breaking gives each reranker, NA if not scored."""
    best, worst = (table[bound].to_numpy() for bound in ("best", "worst"))
    for theirs, ours in ((worst, best), (best, worst)):
        sorted_means = np.sort(theirs[~np.isnan(theirs)])
        above = (
            len(sorted_means)
            - np.searchsorted(sorted_means, ours + EQUAL, side="right")
            - (theirs > ours + EQUAL)
        )
        yield pd.Series(1 + above, table.index, dtype="Int64").mask(table["tied"].isna())


def mean_std(evaluation: Evaluation, measure: str) -> "pd.Series[float]":
    """Return the standard deviation of each mean when ties are broken at random: sqrt(sum of variances) / n."""
    lists = evaluation.scores[measure]["std"].groupby(level="reranker", sort=False)
    return lists.agg(lambda std: np.sqrt(np.square(std).sum()) / len(std)).rename("std")


def leaderboard_finding(table: pd.DataFrame, measure: str, traditional: str = "input") -> Prose:
    """Return what ties did to this leaderboard, in one or two sentences.

    Args:
        table: as `leaderboard` returns it.
        measure: how the measure is called, such as `MRR`.
        traditional: the treatment taken as the traditional one there.
    """
    table = table[table["tied"].notna()]
    if not len(table):
        return NOTHING_SCORED
    if (table["verdict"] == "own rule").all():
        return _own_rule_finding(table, measure)
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
        f"By {order} ",
        Strong(str(farthest.name)),
        f" reads {size} {measure} {'above' if farthest['gap'] > 0 else 'below'} what its scores say, "
        f"{farthest['why']}: {_share_tied(farthest)}. ",
        "The order of rerankers stays the same." if len(table) > 1 else "",
    )


def _same_ranks_finding(table: pd.DataFrame, measure: str, order: str) -> Prose:
    """Say of unchanged ranks without a large gap that ties do not matter, or this order was lucky."""
    if table["best"].max() <= EQUAL:
        reason = "no list has a relevant document where it counts, in any order of its ties."
        return Strong(f"Every {measure} is 0 here: "), reason
    width, largest = table["best"] - table["worst"], table["gap"].abs().max()
    if width.max() <= EQUAL:
        return no_order_matters(f"any reranker's {measure}", has_ties=bool(table["tie_ratio"].any()))
    is_open = table["verdict"] == "tie-sensitive"
    if not is_open.any():
        name = str(width.idxmax())
        close = int((table["best_rank"] != table["worst_rank"]).sum())
        places = f"; but {close} rerankers are so close that it can change their places." if close else "."
        return (
            Strong("Ties hardly matter here. " if close else "Ties do not matter here. "),
            f"No tie-breaking moves a mean by more than {decimal(width.max(), 4)} {measure} (",
            Strong(name),
            f": {table.loc[name, 'why']}); the largest gap is {decimal(largest, 4)}{places}",
        )
    name = str(width[is_open].idxmax())
    low, high = (decimal(table.loc[name, end]) for end in ("worst", "best"))
    return (
        Strong(f"By {order} it comes out close, by another it need not. "),
        f"The largest gap is {decimal(largest, 4)} {measure}, but tie-breaking alone can put ",
        Strong(name),
        f" anywhere from {low} to {high}: {table.loc[name, 'why']}.",
    )


def _own_rule_finding(table: pd.DataFrame, measure: str) -> Prose:
    """Return who leads by a measure that settles ties by its own rule; how many documents tie all the same."""
    most_tied = table.loc[table["tie_ratio"].idxmax()]
    if not most_tied["tie_ratio"]:
        return no_order_matters(measure, has_ties=False)
    return (
        *own_rule_note(measure),
        "Of ",
        Strong(str(most_tied.name)),
        f", {_share_tied(most_tied)}.",
    )


def _share_tied(row: "pd.Series[float]") -> str:
    return f"{percent(row['tie_ratio'])} of the documents of a list tie on average"


def no_order_matters(value: str, *, has_ties: bool) -> Prose:
    """Say that no order of the ties moves a value, or that there are none."""
    if not has_ties:
        return Strong(
            "No document ties: "
        ), "the scores leave one order, and traditional and tied are the same."
    return Strong("Ties do not matter here. "), f"Documents tie, but no order of them moves {value}."


def _rank_change_finding(rank_changes: pd.DataFrame, measure: str, order: str) -> Prose:
    """Say of the reranker nearest the top whose rank changes, of several the one that changes most."""
    ranks, size = rank_changes[["traditional_rank", "tied_rank"]], rank_changes["gap"].abs()
    jump = (ranks["traditional_rank"] - ranks["tied_rank"]).abs()
    nearest = pd.DataFrame({"top": -ranks.min(axis=1), "jump": jump, "size": size})
    row = rank_changes.loc[nearest.sort_values(["top", "jump", "size"], ascending=False).index[0]]
    gap, tied = row["gap"], row["tied"]
    why = (
        f"{_share_tied(row)}, and {order} puts its {measure} "
        f"{decimal(abs(gap))} too {'high' if gap > 0 else 'low'}, "
        f"{relative_size(gap, tied, 'above' if gap > 0 else 'below')}"
        if abs(gap) > EQUAL
        else "its own value stays, the ties of others move"
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
"""Segment of a query that has none."""


def query_segments(runs: Runs) -> "pd.Series[str]":
    """Return query → its segment: the first that a row of it names, rerankers in their order.

    A segment belongs to a query, whoever ranked it. Queries of which no row names one are left out.
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
    """Return one row a reranker and segment, rerankers in order, segments by falling number of lists.

    Args:
        evaluation: with `measure` under expected and `traditional`.
        segments: as `query_segments` returns it; queries not in it count as `UNNAMED`.
        measure: name of a measure.
        traditional: the treatment taken as the traditional one.

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
