"""The table that a careless script prints: ties as the file lists them, a few digits, and no word on either."""

from collections.abc import Sequence
from io import StringIO

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.measures import parse

MEASURES = ("RR", "AP", "nDCG@10", "P@10", "R@10", "Hits@1")
"""Measures of the table unless others are asked for; the first decides the order of its rows."""


def careless_table(
    evaluation: Evaluation, measures: Sequence[str] = MEASURES, ties: str = "input", digits: int = 4
) -> str:
    """Return means as CSV, a row a reranker, the highest by the first measure first.

    Args:
        evaluation: with the measures under `ties`.
        measures: names; each has the heading that papers give it, such as MRR.
        ties: the treatment whose means are printed.
        digits: decimals.
    """
    means = pd.DataFrame({parse(name).traditional: evaluation.means(name)[ties] for name in measures})
    means = means.dropna(how="all").sort_values(means.columns[0], ascending=False, kind="stable")
    text = StringIO()
    means.rename_axis("reranker").to_csv(text, float_format=f"%.{digits}f", lineterminator="\n")
    return text.getvalue()
