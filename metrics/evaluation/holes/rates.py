"""How likely unjudged documents are to be relevant: as often as judged ones that stand as high."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.options import AS_READ, ScoringOptions
from metrics.runs import Runs
from metrics.runs.query_doc_keys import Hashes, reseed
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.ties.ranking import PART

Rate = float | Sequence[float] | None
"""Chance that an unjudged document is relevant: of all, by place from 1 on (the last one also beyond), or None:
as often as judged documents of the same places."""


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """The documents that rerankers have for judged queries, each once.

    Attributes:
        query_ids: (n,) query of each.
        doc_ids: (n,) its id.
        hashes: (n,) a number of each pair of query and document.
        places: (n,) the highest place that the scores of any reranker allow it, from 1.
        grades: (n,) its grade, 0 where unjudged.
        is_judged: (n,) whether somebody judged it.
        relevant_from: smallest relevant grade.
    """

    query_ids: pa.Array
    doc_ids: pa.Array
    hashes: Hashes
    places: IntArray
    grades: FloatArray
    is_judged: BoolArray
    relevant_from: float

    @classmethod
    def of(cls, runs: Runs, options: ScoringOptions = AS_READ) -> "RankedDocuments":
        """Return the documents of all rerankers, at the best place of each."""
        n_queries = 0 if runs.qrels is None else len(runs.judged_pairs.queries)
        parts = [
            (
                ranking.query_ids.take(pa.array(ranking.group_lists[ranking.groups])).cast(pa.string()),
                ranking.ids(np.arange(len(ranking.rows))).cast(pa.string()),
                ranking.pairs.hashes[ranking.rows],
                (ranking.above + 1)[ranking.groups],
                ranking.grades,
                ranking.judged,
            )
            for stack in runs.matched_stacks.batches(PART, n_queries)
            for ranking in options.rankings(runs, stack)
        ]
        queries, ids, *columns = zip(*parts, strict=True)
        hashes, places, grades, is_judged = map(np.concatenate, columns)
        _, first, pair = np.unique(hashes, return_index=True, return_inverse=True)
        best = np.full(len(first), np.iinfo(np.int64).max)
        np.minimum.at(best, pair, places)
        rows = pa.array(first)
        return cls(
            pa.chunked_array(queries).take(rows).combine_chunks(),
            pa.chunked_array(ids).take(rows).combine_chunks(),
            hashes[first],
            best,
            grades[first],
            is_judged[first],
            options.relevant_from,
        )

    @property
    def bands(self) -> IntArray:
        """(n,) band of places of each: 1, 2 to 3, 4 to 7, and so on, numbered from 0."""
        return np.log2(self.places).astype(np.int64)

    def unjudged_rates(self, rate: Rate, depth: int | None) -> FloatArray:
        """(n_unjudged,) chance of each unjudged document to be relevant, 0 where all have it below `depth`.

        Raises:
            UsageError: a chance below 0 or above 1, or none where nobody judged a document that is ranked.
        """
        places = self.places[~self.is_judged]
        if rate is None:
            rates = judged_rates(self)["rate"].to_numpy()[self.bands[~self.is_judged]]
        else:
            chances = _checked_chances(rate)
            rates = chances[np.minimum(places, len(chances)) - 1]
        return np.where(places <= (np.inf if depth is None else depth), rates, 0.0)

    def draw_grades(self, rates: FloatArray, seed: int) -> FloatArray:
        """Draw (n_unjudged,) grades: relevant as often as `rates` say, then as grades of judged documents fall.

        A document has the same grade in the lists of all rerankers, whatever other documents there are.
        """
        uniform = (reseed(self.hashes[~self.is_judged], seed) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        is_relevant = uniform < rates
        judged = np.sort(self.grades[self.is_judged])
        split = np.searchsorted(judged, self.relevant_from)
        irrelevant = judged[:split] if split else np.zeros(1)
        relevant = judged[split:] if split < len(judged) else np.array([self.relevant_from])
        share = np.where(is_relevant, uniform, uniform - rates) / np.where(is_relevant, rates, 1 - rates)
        return np.where(is_relevant, _quantiles(relevant, share), _quantiles(irrelevant, share))


def _quantiles(ordered: FloatArray, shares: FloatArray) -> FloatArray:
    """(n,) the value below which a share of some sorted values lies."""
    return ordered[np.minimum((shares * len(ordered)).astype(np.int64), len(ordered) - 1)]


def _checked_chances(rate: Rate) -> FloatArray:
    """Return (n,) chances by place, the last of them for all further places."""
    try:
        chances = np.atleast_1d(np.asarray(rate, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise UsageError(f"rate={rate!r}: give chances from 0 to 1.") from error
    if not len(chances) or not ((chances >= 0) & (chances <= 1)).all():
        raise UsageError(f"rate={rate!r}: give chances from 0 to 1.")
    return chances


def judged_rates(documents: RankedDocuments) -> pd.DataFrame:
    """Return how many judged documents are relevant, by the highest place that any scores allow them.

    A band without a judged document has the rate of the nearest one above it, or else below it.

    Returns:
        a row for each band of places: first, last, judged, relevant, unjudged, rate, error (its standard error,
        NaN where the rate is that of another band).

    Raises:
        UsageError: nobody judged a document that is ranked.
    """
    if not documents.is_judged.any():
        raise UsageError("No ranked document is judged, so nothing says how many are relevant. Give a rate.")
    bands, n_bands = documents.bands, int(documents.bands.max()) + 1
    is_relevant = documents.is_judged & (documents.grades >= documents.relevant_from)
    n_judged, n_relevant = (
        np.bincount(bands[has], minlength=n_bands) for has in (documents.is_judged, is_relevant)
    )
    rate = pd.Series(np.where(n_judged > 0, n_relevant / np.maximum(n_judged, 1), np.nan))
    return pd.DataFrame(
        {
            "first": 2 ** np.arange(n_bands),
            "last": 2 ** np.arange(1, n_bands + 1) - 1,
            "judged": n_judged,
            "relevant": n_relevant,
            "unjudged": np.bincount(bands[~documents.is_judged], minlength=n_bands),
            "rate": rate.ffill().bfill(),
            "error": np.sqrt(rate * (1 - rate) / np.maximum(n_judged, 1)),
        }
    )
