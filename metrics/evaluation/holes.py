"""Unjudged documents: bounds over all orders of ties and all possible grades, and expectations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.evaluation import (
    AS_READ,
    Evaluation,
    ScoringOptions,
    concat,
    list_index,
    list_owners,
    rankings_of,
    refuse_unbounded,
)
from metrics.evaluation.grade_model import RankedDocuments, Rate
from metrics.evaluation.scoring import score_runs
from metrics.measures import MeasureAt, parse
from metrics.measures.holes import Holes
from metrics.measures.weights import Linear, LinearMoments
from metrics.runs import Runs
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import JOINT_BOUNDS, Ranking

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy


BOUNDS = tuple(ties.name for ties in JOINT_BOUNDS)
"""Columns of bounds: lowest and highest."""


def joint_bounds(
    runs: Runs,
    measures: Sequence[str] | str,
    options: ScoringOptions = AS_READ,
    *,
    n_unlisted: int = 0,
    is_cut: bool = False,
) -> pd.DataFrame:
    """Return the smallest and largest value of each list over all orders of ties and all missing judgments.

    Each unjudged document that some reranker lists for a query may have grade 0 or any grade of the judgments.
    The number of relevant documents and the ideal order change with it. Lists that `missing` leaves out
    elsewhere are included.

    Args:
        runs: the runs.
        measures: names of measures.
        options: how lists are scored; unjudged documents must stay in their lists.
        n_unlisted: number of documents per query that no reranker lists and that may be relevant.
        is_cut: whether lists continue past their end with documents that may be relevant. The highest RBP then
            grows by p^n, n documents listed (`residuals`); other measures do not change.

    Returns:
        index (reranker, query_id), columns (measure, bound), with bounds `lowest` and `highest`. Some order and
            some
        judgments reach them, except for measures for which `is_exact` is false.

    Raises:
        UsageError: a measure does not exist or has no known bounds, `options` leave out unjudged documents or
            queries without relevant documents, no measure is given, or n_unlisted is negative.
    """
    refuse_unbounded(runs, options)
    if n_unlisted < 0:
        raise UsageError(f"n_unlisted={n_unlisted}: give 0 or more documents.")
    parsed = tuple(dict.fromkeys(map(parse, [measures] if isinstance(measures, str) else measures)))
    columns = pd.MultiIndex.from_product([map(str, parsed), BOUNDS], names=["measure", "bound"])
    if not parsed:
        raise UsageError("Name at least one measure.")
    tables = []
    for holes, index in holed_lists(runs, options, n_unlisted, is_cut=is_cut):
        bounds: list[FloatArray] = [bound for measure in parsed for bound in measure.joint_bounds(holes)]
        tables.append(pd.DataFrame(np.stack(bounds, axis=1), index=index, columns=columns))
    return concat(tables)


def is_exact(runs: Runs, measure: MeasureAt) -> bool:
    """Return whether some order and some judgments reach the joint bounds of a measure.

    They do for all measures except bpref, infAP, and DR@k and Div@k where documents share targets.
    """
    exact = measure.measure.family.joint_exact
    if exact != "own targets":
        return exact == "always"
    tables = [runs.qrels] if runs.qrels is not None else runs.tables.values()
    has_targets = any("target_id" in table.column_names for table in tables)
    return not has_targets


def holed_lists(
    runs: Runs, options: ScoringOptions, n_unlisted: int = 0, *, is_cut: bool = False
) -> Iterator[tuple[Holes, pd.MultiIndex]]:
    """Yield lists with their unjudged documents a few at a time, and their index."""
    rerankers, owner = list(runs.matched_stacks.places), list_owners(runs)
    for ranking, lists in rankings_of(runs, options):
        holes = Holes.of(ranking, runs.open_documents, lists, n_unlisted, is_cut=is_cut)
        yield holes, list_index(rerankers, owner[lists], pa.chunked_array([ranking.query_ids]))


def holes_by_reranker(
    runs: Runs, rerankers: Iterable[str], options: ScoringOptions
) -> dict[str, tuple[Holes, pd.Index]]:
    """Return all lists of some rerankers with their unjudged documents, and their queries."""
    rankings = {name: options.ranking(runs, name) for name in rerankers}
    return {
        name: (
            Holes.of(ranking, runs.open_documents, np.arange(ranking.n_lists)),
            pd.Index(ranking.query_ids.to_pandas()),
        )
        for name, ranking in rankings.items()
    }


def difference_bounds(
    runs: Runs, measure: str, pairs: pd.DataFrame, bounds: pd.DataFrame, options: ScoringOptions = AS_READ
) -> pd.DataFrame:
    """Return bounds of the mean difference of pairs of rerankers, over the queries that both have.

    An unjudged document has the same grade in both lists. For measures that add up gains by rank, this bounds
    each difference, together with the bounds of the two lists; for others only those bounds count. The result
    is proven, but not always reached.

    Args:
        runs: the runs.
        measure: name of the measure.
        pairs: reranker and baseline, one row per comparison.
        bounds: index (reranker, query_id), lowest and highest, as in `joint_bounds`, of the lists that count.
        options: how lists are scored; unjudged documents must stay in their lists.

    Returns:
        Index of the pairs; lowest and highest, NaN without a common query.

    Raises:
        UsageError: a reranker has no bounds, or as in `joint_bounds`.
    """
    refuse_unbounded(runs, options)
    parsed = parse(measure)
    lowest, highest = (bounds[end].unstack("reranker") for end in BOUNDS)  # noqa: PD010 nothing is averaged
    names = pd.unique(pairs[["reranker", "baseline"]].to_numpy().ravel())
    for name in names:
        if name not in lowest:
            raise UsageError(f"There is no reranker {name!r}. Rerankers: {', '.join(map(str, lowest))}.")
    shares_of = parsed.measure.family.shares
    holes = holes_by_reranker(runs, names, options) if shares_of is not None and runs.qrels is not None else {}
    shares = {name: shares_of(lists, parsed.argument) for name, (lists, _) in holes.items() if shares_of}
    ends = []
    for first, second in pairs[["reranker", "baseline"]].itertuples(index=False):
        low, high = lowest[first] - highest[second], highest[first] - lowest[second]
        if shares:
            queries = holes[first][1]
            lower_bounds, upper_bounds = (
                -shares[second].most_above(shares[first]),
                shares[first].most_above(shares[second]),
            )
            low = np.maximum(low, pd.Series(lower_bounds, queries).reindex(low.index))
            high = np.minimum(high, pd.Series(upper_bounds, queries).reindex(high.index))
        ends.append((low.mean(), high.mean()))
    return pd.DataFrame(ends, pairs.index, list(BOUNDS), dtype=float)


def has_residual(measure: MeasureAt) -> bool:
    """Return whether a measure gives weight to ranks past the end of a list: RBP."""
    linear = measure.measure.family.linear
    return linear is not None and linear.weight.endless


def residuals(runs: Runs, measure: str = "RBP", options: ScoringOptions = AS_READ) -> pd.DataFrame:
    """Return the smallest RBP of each list and how much it could gain, as exact means over ties.

    If all unjudged documents and all ranks past the end of a list were relevant, RBP(p) would grow by the
    residual: the weights (1 - p) p^(i - 1) of the ranks i with unjudged documents, plus p^n after n documents.
    A list that the run lacks has a residual of 1. `joint_bounds(is_cut=True)` gives the value of the best
    order.

    Returns:
        index (reranker, query_id); base (the tied value with unjudged documents irrelevant), unjudged (weight
            of
        the unjudged documents), beyond (weight of the ranks past the end) and residual, their sum.

    Raises:
        UsageError: the measure has no residual.

    Source: Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008.
    """
    parsed = parse(measure)
    linear = parsed.measure.family.linear
    if linear is None or not has_residual(parsed):
        raise UsageError(f"{measure}: only RBP has a residual, because only RBP gives weight to all ranks.")
    tables = []
    for holes, index in holed_lists(runs, options):
        ranking, n_docs = holes.ranking, holes.ranking.n_docs.astype(np.float64)
        no_variance = np.zeros(len(ranking.grades))
        base, unjudged = (
            linear.moments(ranking, gains, no_variance, parsed.argument).mean
            for gains in (
                linear.gains(ranking.grades, options.relevant_from),
                (~ranking.judged).astype(np.float64),
            )
        )
        beyond = linear.weight.span(n_docs, np.full_like(n_docs, np.inf), parsed.argument)
        columns = {"base": base, "unjudged": unjudged, "beyond": beyond, "residual": unjudged + beyond}
        tables.append(pd.DataFrame(columns, index=index))
    return concat(tables)


def has_exact_expectation(measure: MeasureAt, options: ScoringOptions) -> bool:
    """Return whether the expected mean at a given rate is a sum over documents: DCG, P and RBP.

    It is not if queries without relevant documents are left out, because their number is unknown.
    """
    return measure.measure.family.linear is not None and options.empty == "zero"


def exact_expectations(
    runs: Runs,
    documents: RankedDocuments,
    measures: Sequence[MeasureAt],
    options: ScoringOptions,
    rates: FloatArray,
) -> pd.DataFrame:
    """Return the expected mean of each reranker, and its standard deviations over ties and judgments.

    Shapes: `rates` (n_unjudged,).

    Returns:
        index (reranker, measure); expectation, sd_ties, sd_holes.
    """
    rerankers, owners = list(runs.matched_stacks.places), list_owners(runs)
    n_rerankers, sums = len(rerankers), np.zeros((len(measures), 3, len(rerankers)))
    n_scored = np.zeros(n_rerankers)
    gains = [_unjudged_gains(documents, measure, rates) for measure in measures]
    for ranking, lists in rankings_of(runs, options):
        owner = owners[lists]
        is_scored = ~ranking.is_missing | (options.missing == "zero")
        n_scored += np.bincount(owner[is_scored], minlength=n_rerankers)
        open_docs = np.flatnonzero(~ranking.judged)
        unjudged = documents.unjudged_places(ranking.pairs.hashes[ranking.rows[open_docs]])
        for row, measure, (mean, variance) in zip(sums, measures, gains, strict=True):
            moments = _moments(ranking, measure, open_docs, mean[unjudged], variance[unjudged])
            row += [np.bincount(owner, values, minlength=n_rerankers) for values in moments]
    means = sums / np.where(n_scored, n_scored, np.nan) ** np.array([1, 2, 2])[:, None]
    expectation, of_grades, of_ties = (means[:, number].T.ravel() for number in range(3))
    columns = {"expectation": expectation, "sd_ties": np.sqrt(of_ties), "sd_holes": np.sqrt(of_grades)}
    return pd.DataFrame(columns, pd.MultiIndex.from_product([rerankers, map(str, measures)], names=_KEYS))


def _unjudged_gains(
    documents: RankedDocuments, measure: MeasureAt, rates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (n_unjudged,) mean and variance of the gain of each unjudged document."""
    levels, chances = documents.grade_chances(rates)
    shares = chances - np.concatenate([chances[1:], np.zeros((1, chances.shape[1]))])
    worth = _linear(measure).gains(levels, documents.relevant_from)
    mean = worth @ shares
    return mean, np.maximum(np.square(worth) @ shares - mean**2, 0.0)


def _moments(
    ranking: Ranking, measure: MeasureAt, open_docs: IntArray, mean: FloatArray, variance: FloatArray
) -> LinearMoments:
    """Return the moments of each list, with (n_open,) mean and variance of its unjudged gains."""
    linear = _linear(measure)
    gains = linear.gains(ranking.grades, ranking.judgments.relevant_from)
    variances = np.zeros(len(gains))
    gains[open_docs], variances[open_docs] = mean, variance
    return linear.moments(ranking, gains, variances, measure.argument)


def _linear(measure: MeasureAt) -> Linear:
    linear = measure.measure.family.linear
    assert linear is not None, measure  # noqa: S101 has_exact_expectation says so
    return linear


DRAWS = 50
"""Ways to judge that are drawn."""
_KEYS = ["reranker", "measure"]
_COLUMNS = ("expectation", "error", "sd_ties", "sd_holes", "is_drawn")
DEPTH = 10
"""Place below which unjudged documents are taken to be irrelevant, unless said otherwise."""


def expectations_at_rate(
    runs: Runs,
    measures: Sequence[str] | str,
    options: ScoringOptions = AS_READ,
    *,
    rate: Rate = None,
    depth: int | None = DEPTH,
    draws: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the mean of each reranker if each unjudged document is relevant at a rate, independently.

    At a given rate, the expected DCG, P and RBP and their variances over ties and judgments are exact. For
    other measures, and without a rate, judgments are drawn, the same for all rerankers; given the judgments,
    ties are exact. The variance of a mean is that of tied means over judgments (holes) plus the mean variance
    over ties.

    Without a rate, `GradeModel` draws the grades, also for documents that no reranker lists. This estimates the
    mean with the judgments that are missing at random. On TREC DL 2019 (five rerankers, relevant from grade 2,
    10, 30 and 50 % of the judgments hidden at random, eight times each) the means are wrong by at most 0.014,
    0.022 and 0.036 for nDCG@10 (strong rerankers too low), 0.025, 0.020 and 0.043 for P@10, 0.027, 0.024 and
    0.044 for RR, and 0.012, 0.037 and 0.059 for AP (too low). For nDCG@10, 95, 92 and 91 % of the lists are
    within 1.96 standard deviations, for AP 89, 83 and 79 %. Documents that only one reranker lists are less
    often relevant than judged ones, so a reranker outside the pool comes out too high: by at most 0.02 for four
    of the five, and by 0.08 (P@10) and 0.05 (nDCG@10) for bm25, the weakest. `is_estimable` marks results that
    may have errors of this kind.

    Args:
        runs: the runs.
        measures: names of measures.
        options: how lists are scored; unjudged documents stay in their lists.
        rate: chance that an unjudged document is relevant, for all or by rank; its grade is then distributed
            like
            those of judged documents. None: estimated from judged documents at similar ranks of the same query.
        depth: at a given rate, documents below this rank are irrelevant. Without one, all documents down to
            this
            rank were meant to be judged. None: no limit.
        draws: number of drawn judgments.
        seed: of the draws.

    Returns:
        one row per reranker and measure: reranker, measure, expectation, error (its standard error over draws;
            0
        where it is exact), sd_ties, sd_holes, is_drawn, is_estimable (whether it needs no warning: always at a
            given
        rate. Otherwise not for AP and for measures of shared targets. The reranker must have at least 0.7 times
            the
        pool's share of judged documents within the depth, that share must be at least 0.45, and some
        documents must be judged irrelevant).

    Raises:
        UsageError: no measure, or one that does not exist; a rate that is no chance; fewer than two draws; a
            negative seed; or `empty="skip"` with queries that a judgment may add.
    """
    options = replace(options, unjudged="nonrelevant")
    refuse_unbounded(runs, options)
    documents = RankedDocuments.of(runs, options)
    parsed = list(dict.fromkeys(map(parse, [measures] if isinstance(measures, str) else measures)))
    if not parsed:
        raise UsageError("Name at least one measure.")
    rates = None if rate is None or runs.qrels is None else documents.unjudged_rates(rate, depth)
    exact_measures = [] if rates is None else [at for at in parsed if has_exact_expectation(at, options)]
    drawn_measures = [at for at in parsed if at not in exact_measures]
    tables = []
    if drawn_measures:
        draws_of_scores = drawn_scores(
            runs,
            documents,
            [*map(str, drawn_measures)],
            options,
            rate=rate,
            depth=depth,
            draws=draws,
            seed=seed,
        )
        tables.append(_drawn_expectations(runs, draws_of_scores))
    if exact_measures and rates is not None:
        sums = exact_expectations(runs, documents, exact_measures, options, rates)
        tables.append(sums.assign(error=0.0, is_drawn=False))
    rows = pd.MultiIndex.from_product([runs.rerankers, [*map(str, parsed)]], names=_KEYS)
    table = pd.concat(tables).reindex(rows)[list(_COLUMNS)].reset_index()
    is_close = np.array([rate is not None or _is_estimable(runs, at) for at in parsed])
    is_pooled = documents.pooled_rerankers(depth) if rate is None else np.ones(len(runs.rerankers), dtype=bool)
    return table.assign(is_estimable=np.outer(is_pooled, is_close).ravel())


def _drawn_expectations(
    runs: Runs, draws_of_scores: Iterable[tuple[pd.DataFrame, pd.DataFrame]]
) -> pd.DataFrame:
    """Return mean and standard deviations of the drawn means: index (reranker, measure)."""
    means, variances = [], []
    for tied, spread in draws_of_scores:
        means.append(tied.groupby(level="reranker").mean().reindex(runs.rerankers))
        squares = (spread**2).groupby(level="reranker")
        variances.append((squares.sum() / squares.count() ** 2).reindex(runs.rerankers))
    values = np.stack([mean.to_numpy() for mean in means])
    sd_holes = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1:])
    columns = {
        "expectation": values.mean(axis=0),
        "error": sd_holes / np.sqrt(len(values)),
        "sd_ties": np.sqrt(np.mean([variance.to_numpy() for variance in variances], axis=0)),
        "sd_holes": sd_holes,
    }
    rows = pd.MultiIndex.from_product([runs.rerankers, means[0].columns], names=_KEYS)
    return pd.DataFrame({name: column.ravel() for name, column in columns.items()}, rows).assign(is_drawn=True)


def _is_estimable(runs: Runs, measure: MeasureAt) -> bool:
    return measure.measure.family.estimable and is_exact(runs, measure)


def drawn_scores(
    runs: Runs,
    documents: RankedDocuments,
    measures: Sequence[str] | str,
    options: ScoringOptions = AS_READ,
    *,
    rate: Rate = None,
    depth: int | None = DEPTH,
    draws: int = DRAWS,
    seed: int = 0,
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the tied value of each list, and its standard deviation over ties, for each draw of judgments."""
    if draws < 2:  # noqa: PLR2004 a spread needs two
        raise UsageError(f"draws={draws}: give 2 or more.")
    if seed < 0:
        raise UsageError(f"seed={seed}: give 0 or more.")
    for judged in _drawn_judgments(runs, documents, rate, depth, draws, seed):
        scores = score_runs(judged, measures, ["expected", "std"], options).scores
        yield scores.xs("expected", axis=1, level="ties"), scores.xs("std", axis=1, level="ties")


def _drawn_judgments(
    runs: Runs, documents: RankedDocuments, rate: Rate, depth: int | None, draws: int, seed: int
) -> Iterator[Runs]:
    if runs.qrels is None or documents.is_judged.all():
        yield runs
        return
    seeds = [seed * 2**32 + number * 2**8 for number in range(draws)]
    if rate is not None:
        rates = documents.unjudged_rates(rate, depth)
        for number in seeds if rates.any() else seeds[:1]:
            yield _judged(runs, documents, documents.draw_grades(rates, number))
        return
    model = documents.grade_model(depth)
    for number in seeds:
        grades = documents.draw(model.levels, model.chances(number), number)
        yield _judged(runs, documents, grades, *model.draw_unlisted(number))


def _judged(
    runs: Runs,
    documents: RankedDocuments,
    grades: FloatArray,
    unlisted_queries: IntArray | None = None,
    unlisted_grades: FloatArray | None = None,
) -> Runs:
    """Return the runs with grades for their unjudged documents, and for documents that no reranker lists."""
    if runs.qrels is None:
        return runs
    rows = pa.array(np.flatnonzero(~documents.is_judged))
    added = {
        "query_id": documents.query_ids.take(rows),
        "doc_id": documents.doc_ids.take(rows),
        "relevance": pa.array(grades),
    }
    judgments = pa.table({name: runs.qrels[name].cast(column.type) for name, column in added.items()})
    if "target_id" in runs.qrels.column_names:
        judgments = judgments.append_column("target_id", runs.qrels["target_id"])
    tables = [judgments, pa.table(added)]
    if unlisted_queries is not None and len(unlisted_queries):
        queries = runs.judged_pairs.queries.cast(pa.string()).take(pa.array(unlisted_queries))
        names = pa.array([f"\x1f{number}" for number in range(len(unlisted_queries))])  # no id has this letter
        columns = {"query_id": queries, "doc_id": names, "relevance": pa.array(unlisted_grades)}
        tables.append(pa.table(columns))
    return runs.judged_by(pa.concat_tables(tables, promote_options="default").combine_chunks())


_ALL = 10**9 - 1
"""A cut-off below every list."""


def judged_name(measure: MeasureAt) -> str:
    """Return the name of the measure that counts judged documents within a measure's cut-off."""
    return f"Judged@{measure.k or _ALL}"


def unjudged_counts(evaluation: Evaluation, measure: MeasureAt) -> pd.DataFrame:
    """Return the expected number of unjudged documents within the cut-off of a measure.

    The evaluation must hold `judged_name` of the measure under `expected`.

    Returns:
        index (reranker, query_id); documents within the cut-off, and how many of them are unjudged.
    """
    k = measure.k or _ALL
    n_docs = np.minimum(evaluation.lists["n_docs"], k)
    n_judged = (evaluation.scores[judged_name(measure), "expected"] * k).round(6)
    return pd.DataFrame({"documents": n_docs, "unjudged": n_docs - n_judged})


def unjudged_shares(counts: pd.DataFrame) -> "pd.Series[float]":
    """Return the share of unjudged documents of each reranker, from `unjudged_counts`."""
    sums = counts.groupby(level="reranker", sort=False).sum()
    return sums["unjudged"] / sums["documents"].where(sums["documents"] > 0)


COLUMNS = (
    *("reranker", "measure", "tied", "worst", "best", "lowest", "highest", "is_exact"),
    *("expectation", "error", "sd_ties", "sd_holes", "is_drawn", "is_estimable", "unjudged", "residual"),
)
_TIED = {"tied": "expected", "worst": "pessimistic", "best": "optimistic"}


def hole_table(
    runs: Runs,
    measures: Sequence[str],
    options: ScoringOptions = AS_READ,
    *,
    rate: Rate = None,
    depth: int | None = DEPTH,
    draws: int = DRAWS,
    n_unlisted: int = 0,
) -> pd.DataFrame:
    """Return the bounds of each mean over ties and over judgments, and its expectation.

    The options are those of `joint_bounds` and `expectations_at_rate`.

    Returns:
        one row per reranker and measure: reranker, measure, tied, worst and best (over ties, unjudged documents
        irrelevant), lowest and highest (over ties and judgments), is_exact (whether those two are
        reached), expectation, error, sd_ties, sd_holes, is_drawn, is_estimable (as in `expectations_at_rate`),
        unjudged, the share of unjudged documents within the cut-off, and residual (as in `residuals`;
        NaN except for RBP).
    """
    parsed = {str(parse(name)): parse(name) for name in measures}
    judged = map(judged_name, parsed.values())
    bounds = joint_bounds(runs, list(parsed), options, n_unlisted=n_unlisted)
    evaluation = score_runs(runs, [*parsed, *judged], list(_TIED.values()), options)
    scores, ends = evaluation.scores, bounds.loc[evaluation.scores.index]
    by_list = {name: scores.xs(ties, axis=1, level="ties")[[*parsed]] for name, ties in _TIED.items()}
    by_list |= {bound: ends.xs(bound, axis=1, level="bound") for bound in BOUNDS}
    columns = {name: _by_reranker(values).mean() for name, values in by_list.items()}
    columns["unjudged"] = pd.DataFrame(
        {name: unjudged_shares(unjudged_counts(evaluation, measure)) for name, measure in parsed.items()}
    )
    columns["residual"] = _mean_residuals(runs, parsed.values(), options, scores.index)
    table = expectations_at_rate(runs, list(parsed), options, rate=rate, depth=depth, draws=draws)
    for name, values in columns.items():
        table[name] = values.reindex(runs.rerankers).to_numpy().ravel()
    table["is_exact"] = table["measure"].map({name: is_exact(runs, at) for name, at in parsed.items()})
    return table[list(COLUMNS)]


def _mean_residuals(
    runs: Runs, measures: Iterable[MeasureAt], options: ScoringOptions, scored: pd.Index
) -> pd.DataFrame:
    """Return the mean residual: index reranker, columns measures, NaN where a measure has none."""
    columns = {
        str(at): residuals(runs, str(at), options)["residual"] if has_residual(at) else pd.Series(index=scored)
        for at in measures
    }
    return _by_reranker(pd.DataFrame(columns).reindex(scored).astype(float)).mean()


def _by_reranker(values: pd.DataFrame) -> "DataFrameGroupBy[Any]":
    return values.groupby(level="reranker", sort=False)
