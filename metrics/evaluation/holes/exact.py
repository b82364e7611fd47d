"""Means where unjudged documents are relevant at given chances, exactly, of measures that add up."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metrics.evaluation.holes.rates import RankedDocuments
from metrics.evaluation.options import ScoringOptions
from metrics.measures import MeasureAt
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
