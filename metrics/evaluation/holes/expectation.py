"""Means that are expected where unjudged documents are relevant at a rate, and what moves them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.holes.rates import RankedDocuments, Rate
from metrics.evaluation.options import AS_READ, ScoringOptions
from metrics.evaluation.scoring import score_runs
from metrics.runs import Runs
from metrics.support.arrays import FloatArray

DRAWS = 50
"""Ways to judge that are drawn."""
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

    Judgments are drawn, the same for all rerankers; given these, ties are exact. The variance of a mean is that
    of the drawn tied means (holes) and the mean of the variances over ties (ties).

    Rates and grades are those of all queries together: `error` and `sd_holes` do not say how far they are off.
    Where queries differ much, a query with little of high grade is drawn too much of it, and nDCG, whose ideal
    rises with it, comes out too low.

    Args:
        runs: what was ranked.
        measures: names of measures.
        options: how lists are scored; unjudged documents stay in their lists.
        rate: chance of an unjudged document to be relevant; None: as often as judged ones (`judged_rates`). The
            grades of relevant and of other documents fall as those of judged ones do.
        depth: documents that all scores put below this place are not relevant, as elsewhere; None: any may be.
            What was judged far down was mostly found by others, so its rate is too high for the rest.
        draws: how many ways to judge are drawn.
        seed: of the draws.

    Returns:
        a row for each reranker and measure: reranker, measure, expectation, error (its standard error over
        draws), sd_ties, sd_holes.

    Raises:
        UsageError: a measure that does not exist, a rate that is no chance, or fewer than two draws.
    """
    if draws < 2:  # noqa: PLR2004 a spread needs two
        raise UsageError(f"draws={draws}: give 2 or more.")
    options = replace(options, unjudged="nonrelevant")
    documents = RankedDocuments.of(runs, options)
    rates = documents.unjudged_rates(rate, depth)
    means, variances = [], []
    for number in range(draws if rates.any() else 1):
        judged = _judged(runs, documents, documents.draw_grades(rates, seed * 2**32 + number))
        scores = score_runs(judged, measures, ["expected", "std"], options).scores
        tied, spread = (scores.xs(ties, axis=1, level="ties") for ties in ("expected", "std"))
        means.append(tied.groupby(level="reranker").mean().reindex(runs.rerankers))
        squares = (spread**2).groupby(level="reranker")
        variances.append((squares.sum() / squares.count() ** 2).reindex(runs.rerankers))
    means_of_draws = np.stack([mean.to_numpy() for mean in means])
    sd_holes = (
        means_of_draws.std(axis=0, ddof=1) if len(means_of_draws) > 1 else np.zeros(means_of_draws.shape[1:])
    )
    columns = {
        "expectation": means_of_draws.mean(axis=0),
        "error": sd_holes / np.sqrt(len(means_of_draws)),
        "sd_ties": np.sqrt(np.mean([variance.to_numpy() for variance in variances], axis=0)),
        "sd_holes": sd_holes,
    }
    rows = pd.MultiIndex.from_product([runs.rerankers, means[0].columns], names=["reranker", "measure"])
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()}, rows).reset_index()


def _judged(runs: Runs, documents: RankedDocuments, grades: FloatArray) -> Runs:
    """Return the runs with judgments of the documents that have none."""
    if not len(grades) or runs.qrels is None:
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
    return runs.judged_by(pa.concat_tables(tables, promote_options="default").combine_chunks())
