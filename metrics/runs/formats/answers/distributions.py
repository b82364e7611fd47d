"""Distributions over grades: what is expected, how far it spreads, and what the likeliest grade throws away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings import Finding, make_finding
from metrics.support.arrays import BoolArray, FloatArray, combine_chunks
from metrics.support.wording import part_of

EXPECTED, STD, ARGMAX = "expected_grade", "score_std", "argmax_grade"
"""Columns that are made of a distribution."""
_TOLERANCE = 0.01
"""How far probabilities may sum from 1 before it is said."""


@dataclass(frozen=True, eq=False)
class GradeProbabilities:
    """Probabilities of grades, a row a document.

    Attributes:
        grades: (n_grades,) rising.
        weights: (n_rows, n_grades) what the file gives; 0 where it gives nothing.
    """

    grades: FloatArray
    weights: FloatArray

    @property
    def is_valid(self) -> BoolArray:
        """(n_rows,) whether there is a distribution: no weight below 0, and one above."""
        sums = self.weights.sum(axis=1)
        is_valid: BoolArray = (self.weights >= 0).all(axis=1) & (sums > 0) & np.isfinite(sums)
        return is_valid

    @property
    def n_scaled(self) -> int:
        """How many distributions do not sum to 1."""
        sums = self.weights[self.is_valid].sum(axis=1)
        return int((np.abs(sums - 1) > _TOLERANCE).sum())

    def scores(self) -> dict[str, FloatArray]:
        """Return the mean, standard deviation and likeliest grade of each row; NaN, and 0, where there is none.

        The mean is sum(p * g) / sum(p), to twelve decimals, so that the order of sums makes no difference. Of
        grades that are equally likely the lowest counts.
        """
        is_valid = self.is_valid
        weights = np.where(is_valid[:, None], self.weights, np.nan)
        p = weights / weights.sum(axis=1, keepdims=True)
        mean = np.round((p * self.grades).sum(axis=1), 12)
        spread = np.sqrt((p * (self.grades - mean[:, None]) ** 2).sum(axis=1))
        argmax = np.where(is_valid, self.grades[np.argmax(self.weights, axis=1)], np.nan)
        return {EXPECTED: mean, STD: np.nan_to_num(spread), ARGMAX: argmax}


def distribution_findings(
    probabilities: GradeProbabilities,
    raw: Mapping[str, pa.Array],
    mapping: Mapping[str, str],
    file: str,
) -> list[Finding]:
    """Return what the likeliest grade throws away, and that probabilities do not sum to 1.

    Args:
        probabilities: of the documents.
        raw: column → its values, the scores among them.
        mapping: our column → the file's.
        file: its name.
    """
    is_scored = probabilities.is_valid
    if not (n_rows := int(is_scored.sum())):
        return []
    keys = [mapping[ours] for ours in ("reranker", "query_id") if ours in mapping]
    argmax, expected = (
        _n_tied([raw[key] for key in keys], raw[name], is_scored) for name in (ARGMAX, EXPECTED)
    )
    message = (
        f"As likeliest grades {part_of(argmax, n_rows, 'document')} would tie with another of their list; "
        f"as expected grades {expected:,} do. The column {ARGMAX} has the likeliest."
    )
    findings = [make_finding("grades-expected", file, message, count=max(argmax, 1))]
    if probabilities.n_scaled:
        share = part_of(probabilities.n_scaled, n_rows, "document")
        message = f"Probabilities that do not sum to 1, and are scaled so that they do: {share}."
        findings.append(make_finding("grades-scaled", file, message, count=probabilities.n_scaled))
    return findings


def _n_tied(keys: Sequence[pa.Array], scores: pa.Array, is_scored: BoolArray) -> int:
    """Return how many rows share their score with another of the same keys; those without a score do not."""
    names = [f"key{number}" for number in range(len(keys))]
    columns = [combine_chunks(column) for column in (*keys, scores)]
    table = pa.table(columns, [*names, "score"]).filter(pa.array(is_scored))
    sizes = table.group_by([*names, "score"]).aggregate([([], "count_all")])["count_all"]
    return pc.sum(sizes.filter(pc.greater(sizes, 1))).as_py() or 0
