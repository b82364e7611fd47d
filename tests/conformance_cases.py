"""Write metrics/conformance/cases.json: lists that tell the tie orders of tools apart, by full enumeration.

Run: python tests/conformance_cases.py [FILE]

It knows nothing of TieScope. Of the lists drawn for a measure, those are taken that tell most orders apart.
"""

import json
import random
import re
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import mean

import numpy as np
from enumeration import GRADED, RULES, SORTS, Doc, JudgedList, Rule, count_relevant, every_value, tie_groups
from enumeration import value_in_order as value_in

FILE = Path(__file__).parents[1] / "metrics/conformance/cases.json"
N_CASES = {
    "RR": 17, "RR@k": 17, "Hits@k": 15, "P@k": 15, "R@k": 15, "F1@k": 12, "AP": 17, "Rprec": 12, "bpref": 14,
    "RBP(0.8)": 12, "nDCG": 13, "nDCG@k": 14, "nDCG-linear": 13, "nDCG-linear@k": 14,
}  # fmt: skip
CUTOFFS = (1, 2, 3, 5, 10)
N_DRAWN = 150
LEAST_GAP = Decimal("0.001")
"""Values that are told apart differ by more than four printed decimals can hide."""
IDS = (
    "abcdefg",
    "gBaDcFe",
    [f"d{n}" for n in range(7, 14)],
    [str(n) for n in range(8, 15)],
    "zéaZ\uffff\U0001f6002",
)
ALL_SORTS = SORTS | {"input_reversed": lambda docs: docs[::-1]}


def ndcg(gain):
    """nDCG in decimals of 50 digits, where `enumeration` has floats."""

    def dcg(grades, k):
        weights = [(Decimal(2).ln() / Decimal(rank + 1).ln()) for rank in range(1, len(grades[:k]) + 1)]
        return sum((gain(g) * weight for g, weight in zip(grades, weights, strict=False)), Decimal(0))

    return lambda order, ideal, k: round(dcg(order, k) / (dcg(ideal, k) or 1), 45)


getcontext().prec = 50
RULES["nDCG"] = Rule(*GRADED, ndcg(lambda grade: 2**grade - 1))
RULES["nDCG-linear"] = Rule(*GRADED, ndcg(int))


def draw(chance):
    """A list of up to six documents with ties, some of them unjudged, and grades of documents it lacks."""
    n_docs = chance.randint(3, 6)
    grades = chance.choice([(0, 1), (0, 0, 1), (0, 1, 2, 3), (1, 0, 0, 0)])
    scores = chance.choice([(1,), (0.5, -1), (3, 2, 1), (9, 7), (-3, 0), (0.9, 0.7, 0.7000000001)])
    is_judged = chance.choice([(True,), (True, True, False)])
    ids = chance.sample(chance.choice(IDS), n_docs)
    docs = [Doc(name, chance.choice(scores), chance.choice(grades), chance.choice(is_judged)) for name in ids]
    docs = [doc if doc.is_judged else doc._replace(grade=0) for doc in docs]
    return listing(docs, [chance.choice(grades) for _ in range(chance.choice((0, 0, 1, 2)))])


def listing(docs, unlisted=()):
    judgments = [(doc.grade, doc.id) for doc in docs if doc.is_judged]
    return JudgedList(
        tuple(docs), (*judgments, *((grade, f"lacking{n}") for n, grade in enumerate(unlisted, 1)))
    )


def fixed_lists(chance):
    """One list without ties, one without anything relevant, and one of 21 documents in ties of three."""
    names = chance.sample([f"d{n}" for n in range(90, 130)], 21)
    long = [Doc(name, 7 - at // 3, int(chance.random() < 0.25)) for at, name in enumerate(names)]
    untied = [
        Doc(name, score, grade) for name, score, grade in zip("cadb", (2, 4, 1, 3), (1, 0, 2, 0), strict=True)
    ]
    return [listing(untied), listing([Doc("a", 1), Doc("b", 1), Doc("c", 0)], [1]), listing(long)]


def tie_as_step(seen):
    """AP where all of a tie is retrieved at once, as scikit-learn's average precision has it."""
    total, depth, hits = Fraction(0), 0, 0
    for group in tie_groups(seen.docs):
        relevant = sum(doc.grade >= 1 for doc in group)
        depth, hits = depth + len(group), hits + relevant
        total += relevant * Fraction(hits, depth)
    return total / (count_relevant(seen) or 1)


def values_of(measure, seen):
    every = every_value(measure, seen)
    found = {name: value_in(measure, seen, sort(seen.docs)) for name, sort in ALL_SORTS.items()}
    centre = mean(every)
    variance = mean([(value - centre) ** 2 for value in every])
    found |= {"tied": centre, "worst": min(every), "best": max(every), "variance": variance}
    found["std"] = decimal(variance).sqrt()
    if measure == "RR":
        found["mean_rank"] = 1 / mean([1 / value for value in every]) if min(every) else Fraction(0)
    if measure == "AP":
        found["tie_as_step"] = tie_as_step(seen)
    return found


def decimal(value):
    return value if isinstance(value, Decimal) else Decimal(value.numerator) / Decimal(value.denominator)


def written(value):
    exact = {} if isinstance(value, Decimal) else {"exact": str(value)}
    return exact | {"decimal": f"~{decimal(value):.17g}~"}


def in_float32(seen):
    return seen._replace(docs=tuple(doc._replace(score=float(np.float32(doc.score))) for doc in seen.docs))


def case(measure, seen):
    """A case without its number, and which orders it tells apart, and which from the same by 32-bit scores."""
    docs = {doc.id: doc.grade for doc in seen.docs if doc.is_judged}
    lacking = {name: grade for grade, name in seen.judgments if name not in docs}
    cutoff = re.search(r"@(\d+)", measure)
    values, values_32 = values_of(measure, seen), values_of(measure, in_float32(seen))
    entry = {
        "measure": measure,
        "cutoff": int(cutoff[1]) if cutoff else None,
        "run": [[doc.id, doc.score] for doc in seen.docs],
        "qrels": docs | lacking,
        "values": {name: written(value) for name, value in values.items()},
    }
    if tie_groups(seen.docs) != tie_groups(in_float32(seen).docs) and values != values_32:
        entry["values_float32"] = {name: written(value) for name, value in values_32.items()}
    orders = [name for name in values if name not in ("variance", "std")]
    pairs = [*combinations(orders, 2)]
    apart = [abs(decimal(values[a]) - decimal(values[b])) > LEAST_GAP for a, b in pairs]
    return entry, apart + [abs(decimal(values[name]) - decimal(values_32[name])) > LEAST_GAP for name in orders]


def chosen(kind, n_cases, chance):
    """The cases of a measure: each next one tells most pairs of orders apart that few before it do."""
    name = (lambda: kind.replace("@k", f"@{chance.choice(CUTOFFS)}")) if "@k" in kind else (lambda: kind)
    cases = [case(name(), seen)[0] for seen in fixed_lists(chance)]
    drawn = [case(name(), draw(chance)) for _ in range(N_DRAWN)]
    apart = np.array([tells for _, tells in drawn])
    n_apart = np.zeros(apart.shape[1])
    while len(cases) < n_cases:
        best = int(np.argmax((apart / 2.0**n_apart).sum(1)))
        cases.append(drawn[best][0])
        n_apart += apart[best]
        apart[best] = False
    return [{"id": f"{kind}-{number:02}"} | entry for number, entry in enumerate(cases, 1)]


def main(file):
    chance = random.Random("conformance")  # noqa: S311
    cases = [entry for kind, n_cases in N_CASES.items() for entry in chosen(kind, n_cases, chance)]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=True) for entry in cases)
    file.write_text(
        re.sub(r'"~(.*?)~"', r"\1", f'{{"version": 1, "cases": [\n{lines}\n]}}\n'), encoding="utf-8"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FILE)
