"""Measures of plain lists: numbers in, a number for each list out.

>>> import metrics
>>> metrics.reciprocal_rank([0, 1, 0])  # in ranked order
0.5
>>> metrics.reciprocal_rank([0, 1, 0], scores=[8, 8, 5])  # the first two are tied: mean of 1/2 and 1
0.75
>>> metrics.reciprocal_rank([0, 1, 0], scores=[8, 8, 5], ties="pessimistic")
0.5
>>> metrics.reciprocal_rank([[0, 1, 0], [1, 0, 0]], [[8, 8, 5], [8, 8, 5]]).tolist()  # two lists
[0.75, 0.75]

Every function takes, in this order, `relevance`, grades or booleans; `scores`, the highest best, without which
lists are in ranked order and nothing is tied; and where it has one, `k`, the cut-off. By name it takes `ties`,
the name of a treatment (`metrics.TREATMENTS`), and the keywords of `ListOptions`.

Shapes: `relevance` and `scores` are (n_docs,) for one list, and the value is a float. They are (n_lists,
n_docs) for many lists, or (n_docs,) of all lists with `indexes`, and the values are an array (n_lists,). Arrays
may be of numpy, nested lists, or tensors of torch, jax and others that export their numbers (`__array__`,
DLPack). In many lists, NaN in one of both marks a document that is not there; lists of different lengths are
filled up with it.

All raise UsageError, a ValueError, where an argument cannot be used. The values are those of
`metrics.evaluate`, by the same formulas; a list with nothing relevant scores 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Literal, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from metrics.errors import UsageError, relevant_from_error
from metrics.measures.catalogue import parse
from metrics.measures.model import MeasureAt, RefinedGroups
from metrics.support.arrays import BoolArray, FloatArray, IntArray, from_tensor
from metrics.ties import Ranking, treatment
from metrics.ties.groups import Judgments

Values = Sequence[float] | Sequence[Sequence[float]] | npt.NDArray[np.generic] | Iterable[float]
"""One number or boolean a document: a list, an array, a tensor, a column of a data frame."""


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


def numbers_of(values: Values, name: str) -> FloatArray:
    """Return numbers as an array of one or two dimensions; a UsageError names what is not a number."""
    try:
        try:
            array = np.asarray(from_tensor(values))
        except ValueError:  # lists of different lengths
            array = np.array([*zip_longest(*cast("Any", values), fillvalue=np.nan)]).T
        is_number = array.dtype.kind in "biufO" or "float" in array.dtype.name or not array.size
        numbers = np.asarray(array, np.float64) if is_number else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or numbers.ndim == 0:
        raise UsageError(
            f"{name}={values!r:.60}: give a number or boolean for each document, such as [1, 0, 1]."
        )
    if numbers.ndim > 2:  # noqa: PLR2004 lists and documents
        raise UsageError(f"{name} has shape {numbers.shape}. Give (n_docs,) or (n_lists, n_docs) numbers.")
    return numbers


def _refuse_any(is_wrong: BoolArray, name: str, problem: str) -> None:
    if np.count_nonzero(is_wrong):
        place = ", ".join(map(str, np.argwhere(is_wrong)[0].tolist()))
        raise UsageError(f"{name}[{place}] is {problem}")


_MISSING = "missing (NaN). Remove the document or give it a value."
_INFINITE = "infinite, which is not a grade."
_TOO_FEW = "below the number of relevant documents in the list."


def _grades_by_list(values: Values, name: str, n_lists: int, *, is_single: bool) -> tuple[IntArray, FloatArray]:
    """Return the list of each further judgment and its grade."""
    grades = numbers_of(values, name)
    _refuse_any(np.isinf(grades), name, _INFINITE)
    if is_single and grades.ndim == 1:
        _refuse_any(np.isnan(grades), name, _MISSING)
        grades = grades[None]
    if grades.ndim == 1 or len(grades) != n_lists:
        raise UsageError(
            f"{name} has shape {grades.shape}. Give the grades of {n_lists:,} lists, (n_lists, n)."
        )
    lists, places = np.nonzero(~np.isnan(grades))
    return lists, grades[lists, places]


class ListOptions(TypedDict, total=False):
    """Further options of lists.

    Where lists are cut, one of `unlisted`, `n_relevant` and `ideal` says what they lack. It counts in the
    divisors of recall, F1, average precision and nDCG.

    Attributes:
        relevant_from: smallest relevant grade, above 0; 1 by default.
        mask: as `relevance`; true where a document is there.
        indexes: (n_docs,) number of the list of each document. Values are in order of these numbers.
        unlisted: (n,) or (n_lists, n) grades of judged documents that a list lacks, filled up with NaN.
        n_relevant: (n_lists,) or one number, relevant documents of each query, listed or not. Those that a list
            lacks have the grade `relevant_from`.
        ideal: (n,) or (n_lists, n) grades of all judged documents of each query, listed or not.
    """

    relevant_from: float
    mask: Values
    indexes: Values
    unlisted: Values
    n_relevant: Values
    ideal: Values


def reciprocal_rank(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float | FloatArray:
    """Return one over the rank of the first relevant document, RR; its mean over queries is MRR.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.
    """
    return _value("RR", k, relevance, scores, ties, options)


def hits_at_k(
    relevance: Values,
    scores: Values | None = None,
    k: int | None = None,
    *,
    ties: str = "expected",
    **options: Unpack[ListOptions],
) -> float | FloatArray:
    """Return whether a relevant document is among the first k, Hits@k: its chance where documents are tied.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.

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
) -> float | FloatArray:
    """Return the relevant documents among the first k over k, P@k.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.

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
) -> float | FloatArray:
    """Return the relevant documents among the first k over all relevant documents, R@k.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.

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
) -> float | FloatArray:
    """Return the harmonic mean of P@k and R@k, F1@k.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.

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
) -> float | FloatArray:
    """Return the precision at each relevant document, averaged, AP; its mean over queries is MAP.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.

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
) -> float | FloatArray:
    """Return the gain discounted by place, over that of the best order, nDCG.

    Args:
        relevance: (n_docs,) or (n_lists, n_docs) grades.
        scores: as `relevance`, the highest best.
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


def tsrr(relevance: Values, scores: Values | None = None, **options: Unpack[ListOptions]) -> float | FloatArray:
    """Return the tie-sensitive reciprocal rank, TsRR, which settles ties by its own rule.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.

    Examples:
        >>> tsrr([0, 1])
        0.5
    """
    return _value("TsRR", None, relevance, scores, "expected", options)


def tarr(relevance: Values, scores: Values | None = None, **options: Unpack[ListOptions]) -> float | FloatArray:
    """Return one over the expected rank of the first relevant document, taRR.

    `relevance` and `scores` are (n_docs,) for a number, or (n_lists, n_docs) for (n_lists,) values.

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
) -> float | FloatArray:
    if unknown := [option for option in options if option not in _OPTIONS]:
        raise UsageError(f"There is no option {', '.join(unknown)}. Options: {', '.join(_OPTIONS)}.")
    tie_order = treatment(str(ties))
    if tie_order.name.startswith("docid"):
        raise UsageError(
            f"ties={ties!r}: a plain list has no document IDs. Use metrics.score with a data frame."
        )
    measure, relevant_from = _measure(name, cutoff_of(k)), threshold_of(options.get("relevant_from", 1))
    if not relevant_from > 0:
        raise relevant_from_error(relevant_from)
    grades, keys, lengths, is_single = _documents(relevance, scores, options)
    judgments = _judgments(grades, lengths, relevant_from, options, is_single=is_single)
    ranking = Ranking.of_lists(keys, grades, lengths, judgments)
    if tie_order.name.startswith("random:"):
        from metrics.runs.query_doc_keys import QueryDocKeys  # noqa: PLC0415 other tie orders need numpy alone

        queries = ["1"] if is_single else list(map(str, range(len(lengths))))
        ranking = replace(ranking, pairs=QueryDocKeys.numbered(queries, lengths))
    values = next(RefinedGroups(ranking).values(measure, [tie_order]))
    return float(values[0]) if is_single else values


def _documents(
    relevance: Values, scores: Values | None, options: ListOptions
) -> tuple[FloatArray, FloatArray, IntArray, bool]:
    """Return (n_docs,) grades and scores list by list, (n_lists,) lengths, and whether it is one list."""
    grades = numbers_of(relevance, "relevance")
    is_flat = grades.ndim == 1
    if scores is None:
        keys = np.broadcast_to(-np.arange(grades.shape[-1], dtype=np.float64), grades.shape)
    else:
        keys = numbers_of(scores, "scores")
    if keys.shape != grades.shape:
        sizes = [
            f"{len(array):,} values" if is_flat and keys.ndim == 1 else f"shape {array.shape}"
            for array in (grades, keys)
        ]
        raise UsageError(f"relevance has {sizes[0]}, scores has {sizes[1]}. Both need one value per document.")
    _refuse_any(np.isinf(grades), "relevance", _INFINITE)
    if is_flat and "mask" not in options and "indexes" not in options:
        _refuse_any(np.isnan(grades), "relevance", _MISSING)
        _refuse_any(np.isnan(keys), "scores", _MISSING)
        return grades, keys, np.array([len(grades)]), True
    is_there = ~(np.isnan(grades) | np.isnan(keys))
    further = {name: numbers_of(options[name], name) for name in ("mask", "indexes") if name in options}
    for name, array in further.items():
        if array.shape != grades.shape:
            raise UsageError(f"{name} has shape {array.shape}, relevance has shape {grades.shape}.")
    is_there &= further.get("mask", is_there) != 0
    if "indexes" in further:
        _, list_of = np.unique(further["indexes"].ravel(), return_inverse=True)
        documents = np.argsort(list_of, kind="stable")
        documents = documents[is_there.ravel()[documents]]
        lengths = np.bincount(list_of[documents], minlength=int(list_of.max(initial=-1)) + 1)
        return grades.ravel()[documents], keys.ravel()[documents], lengths, False
    lengths = np.atleast_1d(np.count_nonzero(is_there, axis=-1))
    return grades[is_there], keys[is_there], lengths, is_flat


def _judgments(
    grades: FloatArray, lengths: IntArray, relevant_from: float, options: ListOptions, *, is_single: bool
) -> Judgments:
    """Return the judgments of the listed documents, and of those that lists lack."""
    n_lists = len(lengths)
    lists = np.repeat(np.arange(n_lists), lengths)
    names = [name for name in ("unlisted", "n_relevant", "ideal") if name in options]
    if not names:
        return Judgments(cast("Any", range(n_lists)), relevant_from, lists, grades)
    if len(names) > 1:
        raise UsageError(f"Give only one of {' and '.join(names)}.")
    n_listed = np.bincount(lists[grades >= relevant_from], minlength=n_lists)
    if "n_relevant" in options:
        n_relevant = numbers_of(np.atleast_1d(from_tensor(options["n_relevant"])), "n_relevant")
        if n_relevant.shape not in ((1,), (n_lists,)):
            raise UsageError(
                f"n_relevant has shape {n_relevant.shape}. Give a number for each of {n_lists:,} lists."
            )
        n_lacking = np.broadcast_to(n_relevant - n_listed, n_lists)
        _refuse_any(~(n_lacking >= 0), "n_relevant", _TOO_FEW)
        further_lists = np.repeat(np.arange(n_lists), n_lacking.astype(np.int64))
        further = np.full(len(further_lists), relevant_from, np.float64)
    else:
        further_lists, further = _grades_by_list(options[names[0]], names[0], n_lists, is_single=is_single)
    if "ideal" in options:
        n_ideal = np.bincount(further_lists[further >= relevant_from], minlength=n_lists)
        _refuse_any(n_ideal < n_listed, "ideal", _TOO_FEW)
    else:
        further_lists, further = np.append(lists, further_lists), np.append(grades, further)
    return Judgments(cast("Any", range(n_lists)), relevant_from, further_lists, further)


_OPTIONS = tuple(ListOptions.__annotations__)


@lru_cache(maxsize=256)
def _measure(name: str, k: int | None) -> MeasureAt:
    return parse(name if k is None else f"{name}@{k}")
