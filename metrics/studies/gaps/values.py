"""What tables of studies share: values by their names in them, and rerankers in order."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def named_values(by_treatment: pd.DataFrame, traditional: str) -> pd.DataFrame:
    """Return values with a column a treatment as tables call them: tied, worst, best, traditional."""
    treatments = ["expected", "pessimistic", "optimistic", traditional]
    return by_treatment[treatments].set_axis(["tied", "worst", "best", "traditional"], axis=1)


def in_order(table: pd.DataFrame, rerankers: Sequence[str] | pd.Index) -> pd.DataFrame:
    """Return the rows of a table with a column `reranker` in the order of these, else as they were."""
    places = pd.Index(rerankers).get_indexer(table["reranker"])
    return table.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)
