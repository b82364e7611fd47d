"""Means that are expected where unjudged documents are relevant at a rate, and what moves them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.holes.bounds import is_exact
from metrics.evaluation.holes.rates import RankedDocuments, Rate
from metrics.evaluation.options import AS_READ, ScoringOptions, refuse_unbounded
from metrics.evaluation.scoring import score_runs
from metrics.measures import MeasureAt, parse
from metrics.measures.weights import Linear, LinearMoments
from metrics.runs import Runs
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties import Ranking
from metrics.ties.ranking import PART


def has_exact_expectation(measure: MeasureAt, options: ScoringOptions) -> bool:
    """Return whether the mean of a measure at a given rate is a sum over documents: DCG, P and RBP.

    It is not where queries with nothing relevant are left out, for how many there are is open.
    """
    return measure.measure.family.linear is not None and options.empty == "zero"


def exact_expectations(
    runs: Runs,
    documents: RankedDocuments,
    measures: Sequence[MeasureAt],
    options: ScoringOptions,
    rates: FloatArray,
) -> pd.DataFrame:
    """Return the expected mean of each reranker, and what ties and judgments move it by.

    Args:
        runs: what was ranked, its judgments apart.
        documents: of the runs.
        measures: those of which `has_exact_expectation` says yes.
        options: how lists are scored.
        rates: (n_unjudged,) chance of each unjudged document to be relevant.

    Returns:
        index (reranker, measure); expectation, sd_ties, sd_holes.
    """
    totals: dict[str, FloatArray] = {}
    n_queries = documents.placements.n_queries
    gains = [_unjudged_gains(documents, measure, rates) for measure in measures]
    for stack in runs.matched_stacks.batches(PART, n_queries):
        sums, n_scored, first = np.zeros((len(measures), 3, len(stack.names))), np.zeros(len(stack.names)), 0
        for ranking in options.rankings(runs, stack):
            owner = (first + np.arange(ranking.n_lists)) // n_queries
            is_scored = ~ranking.is_missing | (options.missing == "zero")
            n_scored += np.bincount(owner[is_scored], minlength=len(stack.names))
            open_docs = np.flatnonzero(~ranking.judged)
            unjudged = documents.unjudged_places(ranking.pairs.hashes[ranking.rows[open_docs]])
            for row, measure, (mean, variance) in zip(sums, measures, gains, strict=True):
                moments = _moments(ranking, measure, open_docs, mean[unjudged], variance[unjudged])
                row += [np.bincount(owner, values, minlength=len(stack.names)) for values in moments]
            first += ranking.n_lists
        means = sums / np.where(n_scored, n_scored, np.nan) ** np.array([1, 2, 2])[:, None]
        totals |= dict(zip(stack.names, means.transpose(2, 0, 1), strict=True))
    rows = pd.MultiIndex.from_product([runs.rerankers, map(str, measures)], names=["reranker", "measure"])
    expectation, of_grades, of_ties = np.concatenate([totals[name] for name in runs.rerankers]).T
    columns = {"expectation": expectation, "sd_ties": np.sqrt(of_ties), "sd_holes": np.sqrt(of_grades)}
    return pd.DataFrame(columns, rows)


def _unjudged_gains(
    documents: RankedDocuments, measure: MeasureAt, rates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (n_unjudged,) mean and variance of what each unjudged document is worth to a measure."""
    levels, chances = documents.grade_chances(rates)
    shares = chances - np.concatenate([chances[1:], np.zeros((1, chances.shape[1]))])
    worth = _linear(measure).gains(levels, documents.relevant_from)
    mean = worth @ shares
    return mean, np.maximum(np.square(worth) @ shares - mean**2, 0.0)


def _moments(
    ranking: Ranking, measure: MeasureAt, open_docs: IntArray, mean: FloatArray, variance: FloatArray
) -> LinearMoments:
    """Return what is expected of each list, of (n_open,) mean and variance of what each document is worth."""
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
    """Return the mean of each reranker where each unjudged document is relevant at a rate, independently.

    At a given rate what is expected of DCG, P and RBP, and how far ties and judgments move it, is exact. For
    the other measures, and without a rate, judgments are drawn, the same for all rerankers; given these, ties
    are exact. The variance of a mean is that of tied means over judgments (holes) and the mean of the variances
    over ties (ties).

    Without a rate, grades are drawn as `GradeModel` tells, for documents that no reranker has as well: this
    estimates what the mean were with the judgments that are missing at random of those that were meant to be
    made. TREC DL 2019, five rerankers, relevant from grade 2, eight times 10, 30 and 50 % of the judgments
    hidden at random: means are off by at most 0.014, 0.022 and 0.036 for nDCG@10 (strong rerankers too low), by
    0.025, 0.020 and 0.043 for P@10, by 0.027, 0.024 and 0.044 for RR, by 0.012, 0.037 and 0.059 for AP (too
    low); of the lists 95, 92 and 91 % lie within 1.96 standard deviations for nDCG@10, 89, 83 and 79 % for AP.
    Documents that one reranker alone has are less often relevant than judged ones tell, so that a reranker
    outside the pool comes out too high: by 0.02 at most for four of the five, by 0.08 (P@10) and 0.05 (nDCG@10)
    for bm25, the weakest.
    `is_estimable` says where errors of this kind are to be expected.

    Args:
        runs: what was ranked.
        measures: names of measures.
        options: how lists are scored; unjudged documents stay in their lists.
        rate: chance of an unjudged document to be relevant, of all or by place, its grade then falling as those
            of all judged ones do; None: as judged documents of the same query and of like places tell.
        depth: at a given rate, documents that all scores put below this place are not relevant. Without one,
            place down to which all documents were meant to be judged; further ones are relevant as far as some
            of their kind were judged. None: any may be.
        draws: how many ways to judge are drawn.
        seed: of the draws.

    Returns:
        a row for each reranker and measure: reranker, measure, expectation, error (its standard error over
        draws; 0 where it is exact), sd_ties, sd_holes, is_drawn, is_estimable (whether it may be shown without
        a warning: any at a given rate; else all measures but AP and those of shared targets, of rerankers with
        at least 0.7 times as large a share judged within the depth as was judged of the pool, where that is at
        least 0.45, and where documents were judged irrelevant, too).

    Raises:
        UsageError: no measure, or one that does not exist, a rate that is no chance, fewer than two draws, a
            negative seed, or queries left out that a judgment may add (`empty="skip"`).
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
    """Return mean and deviations of the drawn means of each reranker: index (reranker, measure)."""
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
    """Return whether means of a measure came out near those of all judgments where grades were estimated."""
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
    """Yield the tied value of each list, and its deviation over ties, for each drawn way to judge.

    Raises:
        UsageError: as of `expectations_at_rate`.
    """
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
    """Yield the runs with grades drawn for the documents that have none."""
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
    """Return the runs with grades of their unjudged documents, and of documents that no reranker has."""
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
