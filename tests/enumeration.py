"""A reference for every measure: all orderings of a list, each scored by the textbook, in exact fractions.

It knows nothing of TieScope. Logarithms are the one thing that is not exact; those sums are `math.fsum`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain, permutations, product
from statistics import mean
from typing import NamedTuple


class Doc(NamedTuple):
    id: str
    score: float
    grade: float = 0
    is_judged: bool = True
    target: str | None = None


class JudgedList(NamedTuple):
    """One list in file order, and grade and target of every judgment of its query, listed or not."""

    docs: tuple[Doc, ...]
    judgments: tuple[tuple[float, str | None], ...]
    relevant_from: float = 1


class Rule(NamedTuple):
    """How a measure scores an ordering: by what it sees of a document and what it takes from the judgments."""

    of_document: Callable[[Doc, float], object]
    of_judgments: Callable[[JudgedList], object]
    score: Callable[..., Fraction | float]


def judged_list(docs: Sequence[Doc], relevant_from: float = 1) -> JudgedList:
    """The list whose judgments are the grades of its documents, each a target of its own."""
    judgments = tuple((doc.grade, doc.id) for doc in docs)
    return JudgedList(tuple(doc._replace(target=doc.id) for doc in docs), judgments, relevant_from)


def count_relevant(listing: JudgedList) -> int:
    return sum(grade >= listing.relevant_from for grade, _ in listing.judgments)


def count_targets(listing: JudgedList) -> int:
    return len({target for grade, target in listing.judgments if grade >= listing.relevant_from})


def ideal_gains(listing: JudgedList) -> tuple[float, ...]:
    return tuple(sorted((max(grade, 0) for grade, _ in listing.judgments), reverse=True))


def rr(order, _, k):
    return next((Fraction(1, rank) for rank, hit in enumerate(order[:k], 1) if hit), Fraction(0))


def ap(order, n_relevant, k):
    total = sum(Fraction(sum(order[:rank]), rank) for rank, hit in enumerate(order[:k], 1) if hit)
    return Fraction(total, n_relevant or 1)


def capped_ap(order, n_relevant, k):
    return ap(order, min(n_relevant, k), k)


def precision(order, _, k):
    return Fraction(sum(order[:k]), k)


def recall(order, n_relevant, k):
    return Fraction(sum(order[:k]), n_relevant or 1)


def f1(order, n_relevant, k):
    p, r = precision(order, None, k), recall(order, n_relevant, k)
    return 2 * p * r / (p + r) if p + r else Fraction(0)


def rbp(order, _, p):
    return sum(((1 - p) * p**passed for passed, hit in enumerate(order) if hit), Fraction(0))


def dcg(grades, k, gain):
    return math.fsum(gain(grade) / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))


def ndcg(gain):
    def score(order, ideal, k):
        best = dcg(ideal, k, gain)
        return dcg(order, k, gain) / best if best else 0.0

    return score


def exponential(grade: float) -> float:
    return 2**grade - 1


def err(grades, _, k):
    value, readers = Fraction(0), Fraction(1)
    for rank, grade in enumerate(grades[:k], 1):
        satisfied = Fraction(exponential(grade)) / 16
        value, readers = value + readers * satisfied / rank, readers * (1 - satisfied)
    return value


def distinct(order, _, k):
    return Fraction(len(set(order[:k]) - {None}))


def kind_of(doc: Doc, relevant_from: float) -> str:
    """What bpref sees of a document; a grade below 0 is of the pool, and nobody judged it."""
    if not doc.is_judged:
        return ""
    return "relevant" if doc.grade >= relevant_from else "pooled" if doc.grade < 0 else "other"


def bpref(order, judged, _):
    n_relevant, n_others = judged
    total = others = Fraction(0)
    for kind in order:
        others += kind == "other"
        if kind == "relevant":
            total += 1 - Fraction(min(others, n_relevant), min(n_others, n_relevant) or 1) if others else 1
    return total / (n_relevant or 1)


def count_judged(listing: JudgedList) -> tuple[int, int]:
    others = sum(0 <= grade < listing.relevant_from for grade, _ in listing.judgments)
    return count_relevant(listing), others


BINARY = (lambda doc, relevant_from: doc.grade >= relevant_from), count_relevant
GRADED = (lambda doc, _: max(doc.grade, 0)), ideal_gains
TARGETS = (lambda doc, relevant_from: doc.target if doc.grade >= relevant_from else None), count_targets
JUDGED = kind_of, count_judged
RULES = {
    "RR": Rule(*BINARY, rr),
    "Hits": Rule(*BINARY, lambda order, _, k: Fraction(any(order[:k]))),
    "AP": Rule(*BINARY, ap),
    "gm_map": Rule(*BINARY, ap),
    "AP-cap": Rule(*BINARY, capped_ap),
    "bpref": Rule(*JUDGED, bpref),
    "ERR": Rule(*GRADED, err),
    "nDCG": Rule(*GRADED, ndcg(exponential)),
    "nDCG-linear": Rule(*GRADED, ndcg(float)),
    "DCG": Rule(*GRADED, lambda order, _, k: dcg(order, k, exponential)),
    "P": Rule(*BINARY, precision),
    "R": Rule(*BINARY, recall),
    "R-cap": Rule(*BINARY, lambda order, n, k: Fraction(sum(order[:k]), min(n, k) or 1)),
    "F1": Rule(*BINARY, f1),
    "set_P": Rule(*BINARY, lambda order, n, _: precision(order, n, len(order))),
    "set_R": Rule(*BINARY, lambda order, n, _: recall(order, n, len(order))),
    "set_F": Rule(*BINARY, lambda order, n, _: f1(order, n, len(order))),
    "num_ret": Rule(*BINARY, lambda order, *_: Fraction(len(order))),
    "num_rel": Rule(*BINARY, lambda _, n, __: Fraction(n)),
    "Hole": Rule(lambda doc, _: not doc.is_judged, lambda _: None, precision),
    "Rprec": Rule(*BINARY, lambda order, n, _: recall(order, n, n)),
    "RBP": Rule(*BINARY, rbp),
    "Judged": Rule(lambda doc, _: doc.is_judged, lambda _: None, precision),
    "DR": Rule(*TARGETS, lambda order, n, k: distinct(order, n, k) / (n or 1)),
    "Div": Rule(*TARGETS, distinct),
}
SORTS: dict[str, Callable[[Sequence[Doc]], list[Doc]]] = {
    "input": list,
    "docid_asc": lambda docs: sorted(docs, key=lambda doc: doc.id),
    "docid_desc": lambda docs: sorted(docs, key=lambda doc: doc.id, reverse=True),
}
"""Treatments that leave nothing tied."""
SUMMARIES: dict[str, Callable] = {"expected": mean, "optimistic": max, "pessimistic": min}
"""Treatments that take every ordering."""


@cache
def name_and_parameter(measure: str) -> tuple[str, Fraction | int | None]:
    """Name, and cut-off or parameter."""
    name, parameter, cutoff = re.fullmatch(r"(.+?)(?:\((.+)\))?(?:@(\d+))?", measure).groups()
    return name, Fraction(parameter) if parameter else int(cutoff) if cutoff else None


def tie_groups(docs: Sequence[Doc]) -> list[list[Doc]]:
    """Documents that share a score, best score first, each group as listed."""
    scores = sorted({doc.score for doc in docs}, reverse=True)
    return [[doc for doc in docs if doc.score == score] for score in scores]


def all_orderings(docs: Sequence[Doc]) -> Iterator[tuple[Doc, ...]]:
    for parts in product(*map(permutations, tie_groups(docs))):
        yield tuple(chain.from_iterable(parts))


def in_order(docs: Sequence[Doc], ties: str) -> list[Doc]:
    """The one ordering of a sort that leaves nothing tied."""
    return sorted(SORTS[ties](docs), key=lambda doc: -doc.score)


def first_rank(relevant: Sequence[bool]) -> int | None:
    return next((rank for rank, hit in enumerate(relevant, 1) if hit), None)


def rank_counts(docs: Sequence[Doc], relevant_from: float = 1) -> Counter[int | None]:
    """In how many orderings the first relevant document stands at each rank; None where there is none."""
    return _rank_counts(tuple(tuple(doc.grade >= relevant_from for doc in group) for group in tie_groups(docs)))


@cache
def _rank_counts(groups: tuple[tuple[bool, ...], ...]) -> Counter[int | None]:
    orders = product(*map(permutations, groups))
    return Counter(first_rank(list(chain.from_iterable(parts))) for parts in orders)


@cache
def arrangements(group: tuple) -> tuple[tuple, ...]:
    """Distinct orders of what is seen of a tie; each stands for equally many orders of its documents."""
    return tuple(set(permutations(group)))


@lru_cache(2**16)  # many short lists have orders in common
def _value(measure: str, order: tuple, judged: object) -> Fraction | float:
    name, k = name_and_parameter(measure)
    return rule_of(name).score(order, judged, k)


@cache
def _every_value(measure: str, groups: tuple[tuple, ...], judged: object) -> tuple[Fraction | float, ...]:
    orders = product(*map(arrangements, groups))
    return tuple(_value(measure, tuple(chain.from_iterable(order)), judged) for order in orders)


@cache
def _summary(
    measure: str, groups: tuple[tuple, ...], judged: object, summarise: Callable
) -> Fraction | float | tuple[Fraction | float, ...]:
    return summarise(_every_value(measure, groups, judged))


def rule_of(name: str) -> Rule:
    assert name in RULES, f"{name}: add a rule to RULES in tests/enumeration.py"
    return RULES[name]


@lru_cache(2**12)  # the lists of a test, which takes one measure under every treatment
def _seen(name: str, listing: JudgedList) -> tuple[tuple[tuple, ...], object]:
    """What a measure sees of each tie group, and what it takes from the judgments."""
    rule = rule_of(name)
    groups = tuple(
        tuple(rule.of_document(doc, listing.relevant_from) for doc in group)
        for group in tie_groups(listing.docs)
    )
    return groups, rule.of_judgments(listing)


def over_orderings(summarise: Callable, measure: str, listing: JudgedList) -> Fraction | float:
    """What a function makes of the value of each distinct arrangement, all equally likely."""
    return _summary(measure, *_seen(name_and_parameter(measure)[0], listing), summarise)


def every_value(measure: str, listing: JudgedList) -> tuple[Fraction | float, ...]:
    """The value of each distinct arrangement that the scores allow, all equally likely."""
    return over_orderings(tuple, measure, listing)


def value_in_order(measure: str, listing: JudgedList, docs: Sequence[Doc]) -> Fraction | float:
    """The value of one strict order: falling score, ties as given."""
    name, _ = name_and_parameter(measure)
    of_document, relevant_from = rule_of(name).of_document, listing.relevant_from
    order = tuple(of_document(doc, relevant_from) for doc in in_order(docs, "input"))
    return _value(measure, order, _seen(name, listing)[1])


def treated_value(measure: str, listing: JudgedList, ties: str) -> Fraction | float:
    """The exact value of a measure for one list under one treatment of its ties."""
    if ties in SORTS:
        return value_in_order(measure, listing, SORTS[ties](listing.docs))
    return over_orderings(SUMMARIES[ties], measure, listing)


def reference(docs: Sequence[Doc], measure: str, ties: str, relevant_from: float = 1) -> Fraction | float:
    """`treated_value` of a list whose judgments are the grades of its documents."""
    return treated_value(measure, judged_list(docs, relevant_from), ties)
