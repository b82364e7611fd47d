"""A reference for every measure: all orders of a list, each scored by the textbook, in exact fractions.

It knows nothing of TieScope. Logarithms are the one thing that is not exact; those sums are `math.fsum`.
"""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import chain, permutations, product
from typing import NamedTuple


class Doc(NamedTuple):
    id: str
    score: float
    grade: float = 0
    judged: bool = True
    target: str | None = None


class Listed(NamedTuple):
    """One list in file order, and grade and target of every judgment of its query, listed or not."""

    docs: tuple[Doc, ...]
    judged: tuple[tuple[float, str], ...]
    relevant_from: float = 1


class Rule(NamedTuple):
    sees: Callable[[Doc, float], object]
    knows: Callable[[Listed], object]
    score: Callable[..., Fraction | float]


def relevant_judgments(listed: Listed) -> int:
    return sum(grade >= listed.relevant_from for grade, _ in listed.judged)


def targets(listed: Listed) -> int:
    return len({target for grade, target in listed.judged if grade >= listed.relevant_from})


def gains(listed: Listed) -> tuple[float, ...]:
    return tuple(sorted((max(grade, 0) for grade, _ in listed.judged), reverse=True))


def rr(order, _, k):
    return next((Fraction(1, rank) for rank, hit in enumerate(order[:k], 1) if hit), Fraction(0))


def ap(order, relevant, _):
    total = sum(Fraction(sum(order[:rank]), rank) for rank, hit in enumerate(order, 1) if hit)
    return Fraction(total, relevant or 1)


def precision(order, _, k):
    return Fraction(sum(order[:k]), k)


def recall(order, relevant, k):
    return Fraction(sum(order[:k]), relevant or 1)


def f1(order, relevant, k):
    p, r = precision(order, None, k), recall(order, relevant, k)
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


def distinct(order, _, k):
    return Fraction(len(set(order[:k]) - {None}))


BINARY = (lambda doc, least: doc.grade >= least), relevant_judgments
GRADED = (lambda doc, _: max(doc.grade, 0)), gains
TARGETS = (lambda doc, least: doc.target if doc.grade >= least else None), targets
RULES = {
    "RR": Rule(*BINARY, rr),
    "Hits": Rule(*BINARY, lambda order, _, k: Fraction(any(order[:k]))),
    "AP": Rule(*BINARY, ap),
    "nDCG": Rule(*GRADED, ndcg(exponential)),
    "nDCG-linear": Rule(*GRADED, ndcg(float)),
    "DCG": Rule(*GRADED, lambda order, _, k: dcg(order, k, exponential)),
    "P": Rule(*BINARY, precision),
    "R": Rule(*BINARY, recall),
    "F1": Rule(*BINARY, f1),
    "Rprec": Rule(*BINARY, lambda order, n, _: recall(order, n, n)),
    "RBP": Rule(*BINARY, rbp),
    "Judged": Rule(lambda doc, _: doc.judged, lambda _: None, precision),
    "DR": Rule(*TARGETS, lambda order, n, k: distinct(order, n, k) / (n or 1)),
    "Div": Rule(*TARGETS, distinct),
}


def parts(measure: str) -> tuple[str, Fraction | int | None]:
    """Name, and cut-off or parameter."""
    name, parameter, cutoff = re.fullmatch(r"(.+?)(?:\((.+)\))?(?:@(\d+))?", measure).groups()
    return name, Fraction(parameter) if parameter else int(cutoff) if cutoff else None


def tied(docs: tuple[Doc, ...]) -> list[list[Doc]]:
    scores = sorted({doc.score for doc in docs}, reverse=True)
    return [[doc for doc in docs if doc.score == score] for score in scores]


@cache
def arrangements(group: tuple) -> tuple[tuple, ...]:
    """Distinct orders of what is seen of a tie; each stands for equally many orders of its documents."""
    return tuple(set(permutations(group)))


@cache
def _every_value(measure: str, groups: tuple[tuple, ...], known: object) -> tuple[Fraction | float, ...]:
    name, k = parts(measure)
    orders = product(*map(arrangements, groups))
    return tuple(RULES[name].score(tuple(chain.from_iterable(order)), known, k) for order in orders)


def every_value(measure: str, listed: Listed) -> tuple[Fraction | float, ...]:
    """The value of each distinct arrangement that the scores allow, all equally likely."""
    rule = RULES[parts(measure)[0]]
    groups = tuple(tuple(rule.sees(doc, listed.relevant_from) for doc in tie) for tie in tied(listed.docs))
    return _every_value(measure, groups, rule.knows(listed))


def value_in_order(measure: str, listed: Listed, docs: list[Doc]) -> Fraction | float:
    """The value of one strict order: falling score, ties as given."""
    name, k = parts(measure)
    order = sorted(docs, key=lambda doc: -doc.score)
    seen = tuple(RULES[name].sees(doc, listed.relevant_from) for doc in order)
    return RULES[name].score(seen, RULES[name].knows(listed), k)
