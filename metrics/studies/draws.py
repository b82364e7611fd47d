"""Draws of a leaderboard: ties broken at random, after noise in the scores where asked.

Draw i breaks ties as `random:SEED` does with SEED = seed + i: by a key of query and document, which all
rerankers share. A tie that two rerankers have in common is therefore broken alike in both.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EQUAL, Evaluation, ScoringOptions, score_runs
from metrics.measures import MeasureAt, RefinedGroups, parse
from metrics.runs import Runs
from metrics.runs.query_doc_keys import Hashes
from metrics.studies.leaderboard import mean_std, place_range, places
from metrics.studies.prose import Prose, Strong, and_more, decimal, own_rule_note
from metrics.studies.query_values import values_by_query
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.support.columns import places_in
from metrics.support.progress import begin_step
from metrics.support.wording import chance_percent, count_of, part_of, written_p
from metrics.ties import Ranking, treatment
from metrics.ties.treatments import seed_bits, seeded_order

Noise = float | Literal["score_std"]
"""Standard deviation of the noise in every score, or the column that has that of each score."""

BOUNDING_TIES = ("expected", "optimistic", "pessimistic", "std")
"""Treatments that bound a mean over its tie orders."""
_DOCUMENTS = 2**18
"""Documents that are drawn together, about."""
_CELLS = 2**24
"""Pairs times draws that are compared at once."""


def equality_margin(means: FloatArray) -> FloatArray:
    """Return the distance within which a mean equals each of these."""
    return np.asarray(EQUAL * np.maximum(1.0, np.abs(means)))


class Estimate(NamedTuple):
    """A figure from draws, with its standard error."""

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Draws:
    """The means of all rerankers in each draw.

    Attributes:
        means: index seed, a column for each reranker with a scored list, the highest tied mean first.
        evaluation: the exact values of the lists under `BOUNDING_TIES`, without noise.
        measure: name of the measure.
        noise: the noise added to the scores; 0 for none.
    """

    means: pd.DataFrame
    evaluation: Evaluation
    measure: str
    noise: Noise

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """The `tie_bounds` of each mean and rank, without noise; rerankers as in `means`."""
        return tie_bounds(self.evaluation, self.measure)

    @cached_property
    def _ranks(self) -> IntArray:
        """(n_rerankers, n_draws) rank of each reranker in each draw; equal means share the better rank."""
        means = self.means.to_numpy()
        order = np.argsort(-means, axis=1, kind="stable")
        falling = np.take_along_axis(means, order, axis=1)
        is_lower = np.ones(falling.shape, dtype=bool)
        is_lower[:, 1:] = falling[:, :-1] > falling[:, 1:] + equality_margin(falling[:, 1:])
        ranks = np.empty(means.shape, dtype=np.int64)
        first = np.maximum.accumulate(np.where(is_lower, np.arange(1, means.shape[1] + 1), 0), axis=1)
        np.put_along_axis(ranks, order, first, axis=1)
        return np.ascontiguousarray(ranks.T)

    @property
    def n(self) -> int:
        """Number of draws."""
        return len(self.means)

    def _signs(self, first: IntArray, second: IntArray) -> Iterator[npt.NDArray[np.int8]]:
        """Yield (n_pairs, n_draws) 1, 0 or -1 where the first of two rerankers is above, level or below."""
        step = max(1, _CELLS // self.n)
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            begin_step("Comparing pairs", start, len(first))
            yield np.sign(self._ranks[second[part]] - self._ranks[first[part]]).astype(np.int8)

    def chances(self, rerankers: Sequence[str], others: Sequence[str]) -> pd.DataFrame:
        """Return the chances of the order of two rerankers, pair by pair.

        Returns:
            reranker, other; above, equal, below (chances that `reranker` is above, level with and below
            `other`), standard_error (sqrt(p (1 - p) / n), the largest of the three), reversible (whether the
            bounds of the two over their own tie orders cross: the best of `other` is above the worst of
            `reranker`).
        """
        first, second = (self.means.columns.get_indexer(pd.Index(names)) for names in (rerankers, others))
        signs = ([(sign == value).mean(axis=1) for value in (1, 0, -1)] for sign in self._signs(first, second))
        shares = np.hstack([np.empty((3, 0)), *signs])
        worst, best = (self.bounds[bound].to_numpy() for bound in ("worst", "best"))
        return pd.DataFrame(
            {
                "reranker": self.means.columns[first],
                "other": self.means.columns[second],
                **dict(zip(("above", "equal", "below"), shares, strict=True)),
                "standard_error": self._chance_error(shares).max(axis=0, initial=0),
                "reversible": best[second] > (worst + equality_margin(worst))[first],
            }
        )

    def _chance_error(self, chances: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(chances * (1 - chances) / self.n))

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The `chances` of all pairs, the reranker with the higher tied mean first."""
        first, second = np.triu_indices(self.means.shape[1], 1)
        return self.chances(self.means.columns[first], self.means.columns[second])

    @cached_property
    def places(self) -> pd.DataFrame:
        """The chance of each rank: index reranker, columns 1, 2, ... n; rows sum to 1."""
        n_rerankers = self.means.shape[1]
        cells = np.arange(n_rerankers)[:, None] * n_rerankers + self._ranks - 1
        counts = np.bincount(cells.ravel(), minlength=n_rerankers**2).reshape(n_rerankers, n_rerankers)
        return pd.DataFrame(counts / self.n, self.bounds.index, pd.RangeIndex(1, n_rerankers + 1))

    @property
    def place_errors(self) -> pd.DataFrame:
        """The standard error of each chance of `places`."""
        return self.places.apply(self._chance_error)

    @property
    def rank_ranges(self) -> pd.DataFrame:
        """best_place and worst_place of each reranker: as ties allow, with noise as drawn."""
        if not self.noise:
            return self.bounds[["best_place", "worst_place"]]
        best, worst = (rank(self._ranks, axis=1) for rank in (np.min, np.max))
        return pd.DataFrame({"best_place": best, "worst_place": worst}, self.bounds.index)

    @cached_property
    def tau(self) -> Estimate:
        """Kendall's tau-a of two draws, over all pairs of draws.

        A pair of rerankers counts 1 if both draws agree on it, -1 if they disagree and 0 if it is level in one.
        Pairs that are level in every draw do not count; without pairs tau is 1. With s_ij the sign of pair j in
        draw i, tau is the mean over j of ((sum_i s_ij)^2 - sum_i s_ij^2) / (n (n - 1)), a U-statistic. Its
        standard error is twice that of the mean over draws of each draw's tau with all others.

        Source: Hoeffding, A class of statistics with asymptotically normal distribution, 1948.
        """
        with_others, n_pairs = np.zeros(self.n), 0
        for signs in self._signs(*np.triu_indices(self.means.shape[1], 1)):
            ordered = signs[signs.any(axis=1)].astype(np.float64)
            n_pairs += len(ordered)
            with_others += (ordered * (ordered.sum(axis=1, keepdims=True) - ordered)).sum(axis=0)
        if not n_pairs or self.n == 1:
            return Estimate(1.0, 0.0 if not n_pairs else np.nan)
        with_others /= n_pairs * (self.n - 1)
        return Estimate(float(with_others.mean()), 2 * float(with_others.std(ddof=1)) / self.n**0.5)

    @property
    def summary(self) -> pd.DataFrame:
        """Mean and standard deviation of each reranker's mean over the draws.

        The standard error of the deviation s is sqrt((m4 - s^4) / n) / 2s, with m4 the fourth central moment.

        Returns:
            index reranker; mean, mean_error, std, std_error; NaN errors for one draw.
        """
        first = self.means.to_numpy()[:1]
        moved = self.means.to_numpy() - first
        mean = moved.mean(axis=0)
        std = moved.std(axis=0, ddof=1) if self.n > 1 else np.full(len(mean), np.nan)
        spread = np.sqrt(np.maximum(((moved - mean) ** 4).mean(axis=0) - std**4, 0) / self.n)
        std_error = np.divide(spread, 2 * std, out=np.where(np.isnan(std), std, 0.0), where=std > 0)
        columns = {"mean": first[0] + mean, "mean_error": std / self.n**0.5, "std": std, "std_error": std_error}
        return pd.DataFrame(columns, self.bounds.index)


def draws(
    runs: Runs,
    measure: str,
    options: ScoringOptions = AS_READ,
    n: int = 1000,
    noise: Noise = 0,
    seed: int = 0,
    *,
    queries: Collection[str] | None = None,
) -> Draws:
    """Draw the means of all rerankers with ties broken at random, after noise in the scores where asked.

    Noise is normal, independent for each document, list and reranker, and added before scores are rounded.
    Lists that neither ties nor noise can move are scored once.

    Args:
        runs: the runs.
        measure: name of a measure, such as `nDCG@10`.
        options: how lists are scored.
        n: number of draws.
        noise: standard deviation of the noise in every score, or `score_std` for the column of that name.
        seed: SEED of the first draw; the next ones follow.
        queries: the queries to average over; None for all.

    Raises:
        UsageError: an unknown measure, no draws, noise below 0, or no column `score_std`.
    """
    if n < 1:
        raise UsageError(f"n={n}: give a number of draws of at least 1.")
    _check_noise(runs, noise, options)
    at = parse(measure)
    evaluation = score_runs(runs, str(at), BOUNDING_TIES, options).only(runs.rerankers, queries)
    bounds = tie_bounds(evaluation, str(at))
    lists, bits = evaluation.scores[str(at)], seed_bits(range(seed, seed + n))
    rows = lists.groupby(level="reranker", sort=False, observed=True).indices
    means = np.empty((n, len(bounds)))
    for column, name in enumerate(map(str, bounds.index)):
        values = lists.iloc[rows[name]].droplevel("reranker")
        moves = np.ones(len(values), bool) if noise else _can_move(values)
        means[:, column] = values["expected"].mean()
        if moves.any():
            ranking = Ranking.of(runs, name, options)
            list_ids = places_in(pa.array(values.index[moves]), ranking.query_ids)
            is_listed = ranking.n_docs[list_ids] > 0
            noisy = _NoisyScores.of(runs, name, noise, options.precision, seed) if noise else None
            step = (column * n, len(bounds) * n)
            sums = _drawn_sums(ranking, list_ids[is_listed], at, bits, noisy, step)
            means[:, column] = (values["expected"][~moves].sum() + sums) / len(values)
    table = pd.DataFrame(means, pd.RangeIndex(seed, seed + n, name="seed"), bounds.index)
    return Draws(table, evaluation, str(at), noise)


_BUDGET, _FEWEST, _USUAL = 2**25, 100, 1000
"""Rows times draws where nobody gives a number of draws, the fewest and the most draws."""


def affordable_draws(runs: Runs) -> int:
    """Return a number of draws that takes a few seconds."""
    rows = sum(len(stack.table) for stack in runs.stacks.stacks)
    return int(np.clip(_BUDGET // max(1, rows), _FEWEST, _USUAL))


def _check_noise(runs: Runs, noise: Noise, options: ScoringOptions) -> None:
    if noise == "score_std":
        without = [name for name, table in runs.tables.items() if "score_std" not in table.column_names]
        if without:
            raise UsageError(
                f"{without[0]} has no column score_std with the standard deviation of each score. Name the "
                "column that holds it (score_std=NAME), or give one standard deviation for all scores."
            )
    elif not 0 <= noise < np.inf:
        raise UsageError(f"noise={noise!r}: give a standard deviation of 0 or more, or score_std.")
    if noise and options.criteria:
        raise UsageError(
            f"Noise is added to the score, but {', '.join(options.criteria)} rank instead. Remove the "
            "criteria, or draw without noise."
        )


def _can_move(values: pd.DataFrame) -> BoolArray:
    """Return (n_lists,) whether tie order changes the value of each list."""
    low, high = (values[ties].to_numpy() for ties in ("pessimistic", "optimistic"))
    return np.asarray(high > low + equality_margin(low))


class _NoisyScores(NamedTuple):
    """How noise is added to the scores of one reranker: (n_rows,) scores and deviations, or one deviation."""

    scores: FloatArray
    sigma: FloatArray
    precision: str
    generator: np.random.Generator

    @classmethod
    def of(cls, runs: Runs, name: str, noise: Noise, precision: str, seed: int) -> "_NoisyScores":
        table = runs.tables[name]
        scores = table["score"].to_numpy()
        sigma = table["score_std"].to_numpy() if noise == "score_std" else np.full(len(scores), float(noise))
        return cls(scores, sigma, precision, np.random.default_rng([seed, crc32(name.encode())]))

    def drawn(self, ranking: Ranking) -> Ranking:
        """Return the lists of a ranking with new noise."""
        noise = self.sigma[ranking.rows] * self.generator.standard_normal(len(ranking.rows))
        return ranking.rescored(self.scores[ranking.rows] + noise, self.precision)


def _drawn_sums(
    ranking: Ranking,
    list_ids: IntArray,
    measure: MeasureAt,
    bits: Hashes,
    noisy: _NoisyScores | None,
    step: tuple[int, int],
) -> FloatArray:
    """Return the (n_draws,) sum over some lists of their values in each draw, many draws at once.

    `step` counts the draws before these and in all.
    """
    n = len(bits)
    if not len(list_ids):
        return np.zeros(n)
    n_blocks = -(-n // max(1, _DOCUMENTS // int(ranking.n_docs[list_ids].sum())))
    size = -(-n // n_blocks)
    copies, sums = ranking.copies(list_ids, size), np.empty(n_blocks * size)
    padded = np.resize(bits, len(sums))
    for start in range(0, len(sums), size):
        begin_step("Drawing", min(step[0] + start, step[1]), step[1])
        ties = replace(treatment("random:0"), key=seeded_order(padded[start : start + size]))
        lists = noisy.drawn(copies) if noisy else copies
        (values,) = RefinedGroups(lists).values(measure, [ties])
        sums[start : start + size] = values.reshape(size, -1).sum(axis=1)
    return sums[:n]


def tie_bounds(evaluation: Evaluation, measure: str) -> pd.DataFrame:
    """Return the bounds of each mean and rank over tie orders, for an evaluation under `BOUNDING_TIES`.

    A rank is 1 + the number of rerankers with a strictly higher mean. For the best rank only rerankers whose
    worst case is above its best case count, for the worst rank all whose best case is above its worst case.

    Returns:
        index reranker, the highest tied mean first, without rerankers that have no scored list; expected, std
        (of the mean over tie orders), worst, best, place (rank by the tied mean), best_place, worst_place.
    """
    means = evaluation.means(measure).dropna(subset="expected")
    table = pd.DataFrame(
        {
            "expected": means["expected"],
            "std": mean_std(evaluation, measure).reindex(means.index),
            "worst": means["pessimistic"],
            "best": means["optimistic"],
            "place": places(means["expected"]).astype(np.int64),
        }
    )
    best_place, worst_place = place_range(table.assign(tied=table["expected"]))
    table = table.assign(best_place=best_place.astype(np.int64), worst_place=worst_place.astype(np.int64))
    order = np.argsort(-table["expected"].round(12).to_numpy(), kind="stable")
    return table.iloc[order].rename_axis("reranker")


def same_runs(runs: Runs, evaluation: Evaluation, measure: str) -> list[list[str]]:
    """Return groups of rerankers with the same tie groups in the same order."""
    by_value, by_ranking = defaultdict[bytes, list[str]](list), defaultdict[int, list[str]](list)
    for name, values in values_by_query(evaluation, measure, "expected").round(12).items():
        by_value[values.to_numpy().tobytes()].append(str(name))
    for name in chain.from_iterable(names for names in by_value.values() if len(names) > 1):
        ranking = Ranking.of(runs, name, evaluation.options)
        lists, above = (of_group[ranking.groups] for of_group in (ranking.group_lists, ranking.above))
        documents = ranking.ids(np.arange(len(ranking.rows))).to_pandas()
        rows = pd.DataFrame({"list": lists, "document": documents, "above": above})
        by_ranking[int(pd.util.hash_pandas_object(rows, index=False).sum())].append(name)
    return [names for checksum, names in by_ranking.items() if checksum and len(names) > 1]


def copies_text(copies: Sequence[Sequence[str]]) -> str:
    """Say which rerankers have the same ranking, ties included."""
    if not copies:
        return ""
    first, second, *further_copies = copies[0]
    names = f"{first}, {second}{and_more(len(further_copies))}" if further_copies else f"{first} and {second}"
    n_more = len(copies) - 1
    more = f" {count_of(n_more, 'other ranking')} also appear{'s' * (n_more == 1)} more than once."
    return f" {names} have the same ranking.{more * bool(n_more)}"


def stability_finding(tie_draws: Draws, measure: str, copies: Sequence[Sequence[str]] = ()) -> Prose:
    """Say which pair depends most on tie order, or that none does; pairs of the same ranking do not count."""
    pairs, noisy = tie_draws.pairs, bool(tie_draws.noise)
    if not len(pairs):
        return (
            "There is one reranker, so no order can change." if len(tie_draws.bounds) else "No list is scored.",
        )
    if not noisy and (note := own_rule_note(tie_draws.measure)):
        return note
    copied = copies_text(copies).strip()
    group = {name: number for number, names in enumerate(copies) for name in names}
    is_copy = pairs["reranker"].map(group) == pairs["other"].map(group)
    if is_copy.all() and not noisy:
        return Strong(copied), " Random tie-breaking does not separate them, because they share all ties."
    among = " with different rankings" * bool(is_copy.any())
    pairs = pairs[~is_copy] if not is_copy.all() else pairs
    reversible = pairs[pairs["reversible"]]
    if not noisy and not len(reversible):
        widest = tie_draws.bounds["best"].sub(tie_draws.bounds["worst"]).max()
        amount = f" by more than {decimal(widest, 4)}" if widest > EQUAL else ""
        unmoved = f"ties do not change any {measure}{amount}. {copied}"
        return Strong(f"No tie order reverses any pair{among}: "), unmoved.strip()
    open_pairs = pairs if noisy else reversible
    row = open_pairs.loc[open_pairs["above"].sub(open_pairs["below"]).abs().idxmin()]
    first, second = ("reranker", "other") if row["above"] >= row["below"] else ("other", "reranker")
    tau = tie_draws.tau.value
    tau_text = written_p(tau).replace(">", "over ").replace("<", "under ") if 0 < tau < 1 else f"{tau:.3f}"
    is_level = f" and the same {measure} in {chance_percent(row['equal'])}" if row["equal"] > 0 else ""
    with_noise = " with noise" * noisy
    rest = (
        f"No pair{among} has a less certain order. Tie order{' alone' * noisy} can reverse "
        f"{part_of(len(reversible), len(pairs), 'pair')}{among}. "
    ) * (len(pairs) > 1)
    return (
        *(Strong(str(row[first])), f" has a higher {measure} than ", Strong(str(row[second])), " in "),
        Strong(chance_percent(max(row["above"], row["below"]))),
        f" of {count_of(tie_draws.n, 'random tie order')}{with_noise}{is_level} (standard error "
        f"{row['standard_error']:.1%}). {rest}Two leaderboards with ties broken at random"
        f"{' after noise' * noisy} have an expected Kendall tau of {tau_text}. {copied}".rstrip(),
    )


def read_noise(text: str) -> Noise:
    """Return the noise that somebody typed: a standard deviation, or `score_std`; UsageError for other text."""
    if text == "score_std":
        return "score_std"
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"Noise {text!r}: give a standard deviation of 0 or more, or score_std.") from None
