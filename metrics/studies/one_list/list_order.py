"""Which list to look at first: the one that ties make the largest difference to."""

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation
from metrics.measures import parse, question
from metrics.studies.gaps.gap import difference
from metrics.studies.prose import signed
from metrics.support.wording import percent

_DIGITS = 9
"""Decimals in which gaps that are one number, but for rounding, agree."""


def lists_by_gap(evaluation: Evaluation, measure: str, traditional: str) -> pd.DataFrame:
    """Order all lists by the size of their gap, then by their tied documents, then as the evaluation has them.

    Args:
        evaluation: with the measure under expected and `traditional`.
        measure: its name; of one that settles ties by its own rule, the measure whose ties it settles counts.
        traditional: the treatment taken as the traditional one.

    Returns:
        reranker, query_id, n_docs, tied_docs, tie_ratio, gap (traditional − tied).
    """
    values = evaluation.scores[str(question(parse(measure)))]
    lists = evaluation.lists[["n_docs", "tied_docs", "tie_ratio"]].reset_index()
    lists["gap"] = difference(values[traditional], values["expected"]).to_numpy()
    size = np.nan_to_num(lists["gap"].abs().round(_DIGITS).to_numpy())
    return lists.iloc[np.lexsort((-lists["tied_docs"].to_numpy(), -size))].reset_index(drop=True)


def list_label(name: str, gap: float, tie_ratio: float) -> str:
    """Return the name of a list in a picker, with its gap and its ties.

    Args:
        name: what the list is called.
        gap: traditional − tied.
        tie_ratio: share of its documents that are tied.
    """
    if not tie_ratio:
        return f"{name} · no ties"
    return f"{name} · {f'gap {signed(gap)}' if gap else 'no gap'} · {percent(tie_ratio)} tied"
