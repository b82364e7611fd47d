"""Measures of one plain list: numbers in, number out.

>>> import metrics
>>> metrics.reciprocal_rank([0, 1, 0])  # in ranked order
0.5
>>> metrics.reciprocal_rank([0, 1, 0], scores=[8, 8, 5])  # the first two are tied: mean of 1/2 and 1
0.75
>>> metrics.reciprocal_rank([0, 1, 0], scores=[8, 8, 5], ties="pessimistic")
0.5

Every function takes, in this order, `relevance`, (n_docs,) grades or booleans; `scores`, (n_docs,), the highest
best, without which the list is in ranked order and nothing is tied; and where it has one, `k`, the cut-off. By
name it takes `ties`, the name of a treatment (`metrics.TREATMENTS`), and the keywords of `ListOptions`. All
raise UsageError, a ValueError, where one of these cannot be used.
The values are those of `metrics.evaluate`, by the same formulas; a list with nothing relevant scores 0.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from metrics.errors import UsageError
from metrics.measures import MeasureAt, RefinedGroups, parse
from metrics.support.arrays import FloatArray, from_tensor
from metrics.ties import Ranking, treatment
from metrics.ties.options import ScoringOptions

Values = Sequence[float] | npt.NDArray[np.generic] | Iterable[float]
"""One number or boolean a document: a list, an array, a column of a data frame."""


def cutoff_of(k: object) -> int | None:
    """Return a cut-off as an integer; UsageError where it is not a whole number from 1 on."""
    if k is None:
        return None
    if isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 1:
        return int(k)
    raise UsageError(
        f"k={k!r:.60} is not a whole number of 1 or more, such as k=10. Give scores as scores=[...]."
    )


def threshold_of(relevant_from: object) -> float:
    """Return the smallest relevant grade; UsageError where it is not a number."""
    if isinstance(relevant_from, int | float | np.number):
        return float(relevant_from)
    raise UsageError(f"relevant_from={relevant_from!r:.60} is not a number. Give a grade, such as 1.")


def grades_of(values: Values, name: str) -> FloatArray:
    """Return the grades of one list; UsageError where one is not finite."""
    numbers = numbers_of(values, name)
    if not np.isfinite(numbers).all():
        raise UsageError(f"{name}[{np.argmin(np.isfinite(numbers))}] is infinite, which is not a grade.")
    return numbers


def numbers_of(values: Values, name: str) -> FloatArray:
    """Return the (n_docs,) numbers of one list; a UsageError names a value that is not a number."""
    try:
        array = np.asarray(from_tensor(values))
        numbers = array.astype(np.float64) if array.dtype.kind in "biufO" or not array.size else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or numbers.ndim == 0:
        raise UsageError(
            f"{name}={values!r:.60}: give a number or boolean for each document, such as [1, 0, 1]."
        )
    if numbers.ndim > 1:
        raise UsageError(
            f"{name} has shape {numbers.shape}, but must have one dimension. For many lists, use "
            "metrics.score(frame)."
        )
    if np.isnan(numbers).any():
        raise UsageError(
            f"{name}[{np.argmax(np.isnan(numbers))}] is missing (NaN). Remove the document or give it a value."
        )
    return numbers


class ListOptions(TypedDict, total=False):
    """Further options of a list.

    Attributes:
        relevant_from: smallest relevant grade, above 0; 1 by default.
        unlisted: grades of judged documents that the list lacks. They count in the divisors of recall, F1,
            average precision and nDCG.
    """

    relevant_from: float
    unlisted: Values


def reciprocal_rank(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float:
    """Return one over the rank of the first relevant document, RR; its mean over queries is MRR."""
    return _value("RR", k, relevance, scores, ties, options)


def hits_at_k(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float:
    """Return whether a relevant document is among the first k, Hits@k: its chance where documents are tied.

    Examples:
        >>> hits_at_k([0, 0, 1], [1, 1, 1], 1, ties="optimistic")
        1.0
    """
    return _value("Hits", k, relevance, scores, ties, options)


def precision_at_k(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float:
    """Return the relevant documents among the first k over k, P@k.

    Examples:
        >>> precision_at_k([1, 0, 1, 0], k=2)
        0.5
    """
    return _value("P", k, relevance, scores, ties, options)


def recall_at_k(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float:
    """Return the relevant documents among the first k over all relevant documents, R@k.

    Examples:
        >>> recall_at_k([1, 0, 1], k=2, unlisted=[1, 1])  # two relevant documents were not retrieved
        0.25
    """
    return _value("R", k, relevance, scores, ties, options)


def f1_at_k(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float:
    """Return the harmonic mean of P@k and R@k, F1@k.

    Examples:
        >>> f1_at_k([1, 0, 1, 0], k=2)
        0.5
    """
    return _value("F1", k, relevance, scores, ties, options)


def average_precision(
    relevance: Values,
    scores: Values | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float:
    """Return the precision at each relevant document, averaged, AP; its mean over queries is MAP.

    Examples:
        >>> average_precision([1, 0, 0, 1])
        0.75
    """
    return _value("AP", None, relevance, scores, ties, options)


def ndcg(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    gain: Literal["exponential", "linear"] = "exponential",
    **options: Unpack[ListOptions],
) -> float:
    """Return the gain discounted by place, over that of the best order, nDCG.

    Args:
        relevance: (n_docs,) grades.
        scores: (n_docs,) the highest best.
        k: places that count; all where None.
        ties: name of a treatment.
        gain: of a grade: 2^grade - 1, or the grade itself (linear) as trec_eval and scikit-learn have it.
        options: as of `ListOptions`.

    Raises:
        UsageError: another gain, or what `ListOptions` refuses.

    Examples:
        >>> round(ndcg([3, 2, 3, 0, 1, 2], k=5), 4), round(ndcg([3, 2, 3, 0, 1, 2], k=5, gain="linear"), 4)
        (0.8756, 0.861)
    """
    names = {"exponential": "nDCG", "linear": "nDCG-linear"}
    if gain not in tuple(names):
        raise UsageError(f"gain={gain!r:.60}: use 'exponential' or 'linear'.")
    return _value(names[gain], k, relevance, scores, ties, options)


def tsrr(relevance: Values, scores: Values | None = None, **options: Unpack[ListOptions]) -> float:
    """Return the tie-sensitive reciprocal rank, TsRR, which settles ties by its own rule.

    Examples:
        >>> tsrr([0, 1])
        0.5
    """
    return _value("TsRR", None, relevance, scores, "expected", options)


def tarr(relevance: Values, scores: Values | None = None, **options: Unpack[ListOptions]) -> float:
    """Return one over the expected rank of the first relevant document, taRR.

    Examples:
        >>> tarr([0, 1, 0], scores=[8, 8, 8])  # its expected rank is 2
        0.5
    """
    return _value("taRR", None, relevance, scores, "expected", options)


def _value(
    name: str,
    k: int | None,
    relevance: Values,
    scores: Values | None,
    ties: str,
    options: ListOptions,
) -> float:
    if unknown := sorted(set(options) - ListOptions.__annotations__.keys()):
        raise UsageError(f"There is no option {', '.join(unknown)}. Options: relevant_from, unlisted.")
    grades = grades_of(relevance, "relevance")
    keys = -np.arange(len(grades), dtype=np.float64) if scores is None else numbers_of(scores, "scores")
    if len(keys) != len(grades):
        raise UsageError(
            f"relevance has {len(grades):,} values, scores has {len(keys):,}. Both need one value per document."
        )
    if str(ties).startswith("docid"):
        raise UsageError(
            f"ties={ties!r}: a plain list has no document IDs. Use metrics.score with a data frame."
        )
    unlisted = grades_of(options.get("unlisted", ()), "unlisted")
    scoring = ScoringOptions(relevant_from=threshold_of(options.get("relevant_from", 1)))
    ranking = Ranking.of_one(keys, grades, unlisted, scoring)
    groups = RefinedGroups(ranking)
    return float(next(groups.values(_measure(name, cutoff_of(k)), [treatment(str(ties))]))[0])


@lru_cache(maxsize=256)
def _measure(name: str, k: int | None) -> MeasureAt:
    return parse(name if k is None else f"{name}@{k}")
