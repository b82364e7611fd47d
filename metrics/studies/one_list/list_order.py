"""Which list to look at first: the one that ties make the largest difference to."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation
from metrics.measures import parse, question
from metrics.studies.gaps.gap import difference
from metrics.studies.prose import Prose, Strong, signed
from metrics.support.wording import count_of, part_of, percent

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


@dataclass(frozen=True)
class ListRank:
    """Where one list stands among all by the size of its gap.

    Attributes:
        n_lists: all lists.
        n_larger: those with a larger gap.
        n_alike: those with a gap of this size, this one included.
    """

    n_lists: int
    n_larger: int
    n_alike: int

    @classmethod
    def of(cls, lists: pd.DataFrame, current: pd.Series) -> "ListRank":
        """Return the rank of a row of `lists_by_gap`."""
        sizes, size = lists["gap"].abs().round(_DIGITS), round(abs(current["gap"]), _DIGITS)
        return cls(len(lists), int((sizes > size).sum()), int((sizes == size).sum()))


def list_reason(lists: pd.DataFrame, reranker: str, query_id: str, measure: str) -> Prose:
    """Say why a list is shown: what is its place among all by the size of their gaps.

    Args:
        lists: as `lists_by_gap` returns them.
        reranker: whose list is shown.
        query_id: of that list.
        measure: which the gaps are in.
    """
    current = lists[(lists["reranker"] == reranker) & (lists["query_id"] == query_id)].iloc[0]
    first, rank = lists.iloc[0], ListRank.of(lists, current)
    name = str(question(parse(measure)))
    if rank.n_lists == 1:
        return ("The only list: ", *_ties(current), f", and its {name} gap is {signed(current['gap'])}.")
    if not first["gap"]:
        return _reason_without_gaps(lists, current, name)
    size = signed(current["gap"])
    if not rank.n_larger:
        more = ", none with more ties than this one" if current.name == first.name else ""
        shared = f" {count_of(rank.n_alike, 'list')} have it{more}." if rank.n_alike > 1 else ""
        return (Strong(f"The largest {name} gap of {rank.n_lists:,} lists: {size}."), shared)
    if not current["gap"]:
        return (f"No {name} gap, as in {part_of(rank.n_alike, rank.n_lists, 'list')}", *_largest(first))
    return (f"{name} gap {size}, number {rank.n_larger + 1:,} of {rank.n_lists:,} lists", *_largest(first))


def _largest(first: pd.Series) -> Prose:
    """Say whose the largest gap of all lists is."""
    whose = Strong(str(first["query_id"])), " of ", Strong(str(first["reranker"]))
    return (f"; the largest, {signed(first['gap'])}, is that of ", *whose, ".")


def _ties(current: pd.Series) -> Prose:
    """Say how many documents of a list are tied."""
    return (f"{part_of(int(current['tied_docs']), int(current['n_docs']), 'document')} tie",)


def _reason_without_gaps(lists: pd.DataFrame, current: pd.Series, measure: str) -> Prose:
    """Say why a list is shown where none has a gap: it has the most ties, or is the first."""
    count = count_of(len(lists), "list")
    if not lists["tied_docs"].max():
        is_first = lists.index[0] == current.name
        return (f"None of {count} has a tie", "; this is the first." if is_first else ".")
    most = int(lists["tied_docs"].max())
    reason = (f"The {measure} gap of all {count} is 0 by this order. In this one ", *_ties(current))
    return (*reason, ", the most there are." if current["tied_docs"] == most else f"; the most is {most:,}.")
