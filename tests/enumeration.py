"""A reference that knows nothing of TieScope: every ordering, one by one, in exact fractions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, permutations, product
from typing import NamedTuple


class Doc(NamedTuple):
    id: str
    score: float
    grade: float


def tie_groups(docs: Sequence[Doc]) -> list[list[Doc]]:
    """Documents that share a score, best score first, each group as listed."""
    return [
        [doc for doc in docs if doc.score == score] for score in sorted({d.score for d in docs}, reverse=True)
    ]


def all_orderings(docs: Sequence[Doc]) -> Iterator[tuple[Doc, ...]]:
    for parts in product(*map(permutations, tie_groups(docs))):
        yield tuple(chain.from_iterable(parts))


def first_rank(relevant: Sequence[bool]) -> int | None:
    return next((rank for rank, hit in enumerate(relevant, 1) if hit), None)


def rank_counts(docs: Sequence[Doc], relevant_from: float = 1) -> Counter[int | None]:
    """In how many orderings the first relevant document stands at each rank; None where there is none."""
    return _rank_counts(tuple(tuple(doc.grade >= relevant_from for doc in group) for group in tie_groups(docs)))


@cache
def _rank_counts(groups: tuple[tuple[bool, ...], ...]) -> Counter[int | None]:
    orders = product(*map(permutations, groups))
    return Counter(first_rank(list(chain.from_iterable(parts))) for parts in orders)


def value(measure: str, rank: int | None) -> Fraction:
    """What `RR`, `RR@k` or `Hits@k` is where the first relevant document has that rank."""
    name, _, cutoff = measure.partition("@")
    if rank is None or (cutoff and rank > int(cutoff)):
        return Fraction(0)
    return Fraction(1, rank) if name == "RR" else Fraction(1)


def in_order(docs: Sequence[Doc], ties: str) -> list[Doc]:
    """The one ordering of a sort that leaves nothing tied."""
    if ties == "docid_asc":
        docs = sorted(docs, key=lambda doc: doc.id)
    elif ties == "docid_desc":
        docs = sorted(docs, key=lambda doc: doc.id, reverse=True)
    return sorted(docs, key=lambda doc: -doc.score)


def reference(docs: Sequence[Doc], measure: str, ties: str, relevant_from: float = 1) -> Fraction:
    """The exact value of a measure for one list under one treatment of its ties."""
    if ties in ("input", "docid_asc", "docid_desc"):
        return value(measure, first_rank([doc.grade >= relevant_from for doc in in_order(docs, ties)]))
    counts = rank_counts(docs, relevant_from)
    values = {rank: value(measure, rank) for rank in counts}
    if ties == "optimistic":
        return max(values.values())
    if ties == "pessimistic":
        return min(values.values())
    return sum((count * values[rank] for rank, count in counts.items()), Fraction(0)) / counts.total()
