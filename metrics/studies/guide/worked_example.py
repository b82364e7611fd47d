"""The worked example of the Guide: one list with one tie, what it scores, and its formulas filled in."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from metrics.evaluation import EQUAL, evaluate
from metrics.measures import parse, side_by_side
from metrics.runs import Runs
from metrics.studies.one_list.query import first_rank_chances, ladder
from metrics.studies.prose import Prose, Strong
from metrics.studies.tools.tie_rules import tie_answers
from metrics.ties import Orderings, Ranking

MOST_TERMS = 5
"""Terms of a sum that are written out."""
MOST_ORDERS = 1000
"""Orders whose number is written into a formula."""


@dataclass(frozen=True)
class WorkedExample:
    """One list with one tie, and what it scores.

    Attributes:
        above: documents above the tie, none relevant, no two alike in score: b.
        tied: documents in the tie: n.
        relevant: of them relevant: r.
        k: cut-off of the hits.
        documents: as `ladder` returns them.
        chances: as `first_rank_chances` returns them.
        orderings: how many orders the scores allow.
        worst: smallest reciprocal rank of any order.
        expected: its mean over all orders: MTRR.
        best: its largest value.
        hits: TMHits@k.
        of_mean_rank: one over the mean rank, as the G-RAG paper has it.
        answers: name of the mean → its value: MRR as the file lists the tie, MTRR, and all that settle the
            ties of RR by rules of their own.
    """

    above: int
    tied: int
    relevant: int
    k: int
    documents: pd.DataFrame
    chances: pd.DataFrame
    orderings: int
    worst: float
    expected: float
    best: float
    hits: float
    of_mean_rank: float
    answers: Mapping[str, float]


def worked_example(tied: int = 5, relevant: int = 1, above: int = 0, k: int = 3) -> WorkedExample:
    """Score a list of one tie with the library, as any other list.

    Args:
        tied: documents in the tie, 1 or more.
        relevant: of them relevant, 1 to `tied`; the file happens to list them last.
        above: documents above the tie.
        k: cut-off, 1 or more.

    Returns:
        Its documents, its values, and the answers of all rules for its tie.
    """
    n = above + tied
    frame = pd.DataFrame(
        {
            "reranker": "example",
            "query_id": "q1",
            "doc_id": [f"d{place}" for place in range(1, n + 1)],
            "score": [0.5 + place / n for place in range(above, 0, -1)] + [0.5] * tied,
            "relevance": [0] * (n - relevant) + [1] * relevant,
        }
    )
    runs = Runs.from_frame(frame)
    ranking = Ranking.of(runs, "example")
    measures = [*map(str, side_by_side(parse("RR"))), f"Hits@{k}"]
    evaluation = evaluate(runs, measures, ["pessimistic", "expected", "optimistic", "input"])
    value = evaluation.scores.iloc[0]
    return WorkedExample(
        above=above,
        tied=tied,
        relevant=relevant,
        k=k,
        documents=ladder(ranking, "q1"),
        chances=first_rank_chances(ranking, "q1"),
        orderings=Orderings.of(ranking, "q1").count,
        worst=float(value["RR", "pessimistic"]),
        expected=float(value["RR", "expected"]),
        best=float(value["RR", "optimistic"]),
        hits=float(value[f"Hits@{k}", "expected"]),
        of_mean_rank=float(value["GRAG-RR", "expected"]),
        answers={
            str(name): float(mean) for name, mean in tie_answers(evaluation, "RR", "input").iloc[0].items()
        },
    )


def worked_finding(example: WorkedExample, orderings: str) -> Prose:
    """Return what the tie of the example leaves open; `orderings` is their number written out."""
    if example.tied == 1:
        return (Strong("Nothing ties: "), f"the list has one order, and RR is {example.expected:.4f} in it.")
    if example.relevant == example.tied:
        return (
            Strong("A tie that does not matter: "),
            f"all of it is relevant, so RR is {example.expected:.4f} in each of the {orderings} orders.",
        )
    return (
        f"{example.tied} documents share a score, {example.relevant} of them relevant: ",
        Strong(f"{orderings} orders"),
        f", each as valid as any other. RR is anything from {example.worst:.4f} to {example.best:.4f}; "
        "the mean over all of them is ",
        Strong(f"{example.expected:.4f}"),
        ", the tied value. The G-RAG paper's one over the mean rank is another number: "
        f"{example.of_mean_rank:.4f}.",
    )


@dataclass(frozen=True)
class FilledFormula:
    """A formula of the example: what it gives, and in LaTeX its symbols, its numbers and its value."""

    name: str
    meaning: str
    latex: str


def filled_formulas(example: WorkedExample) -> tuple[FilledFormula, ...]:
    """Return the formulas of the example, each with its numbers."""
    return *_means_over_orders(example), *_rules_for_ties(example), _ends(example)


def _means_over_orders(example: WorkedExample) -> tuple[FilledFormula, ...]:
    n, r, b, k = example.tied, example.relevant, example.above, example.k
    m = min(max(k - b, 0), n)
    return (
        FilledFormula(
            "MTRR",
            "The mean, over all orders, of one over the rank of the first relevant document.",
            _lines(
                r"\frac{1}{|\Pi|}\sum_{\pi\in\Pi}\frac{1}{r^{\pi}}",
                *_orders_counted(example),
                r"=\sum_{l=1}^{n-r+1} \frac{\binom{n-l}{r-1}}{\binom{n}{r}} \cdot \frac{1}{b+l}",
                "=" + "+".join(_terms(example.chances)),
                _value(example.expected),
            ),
        ),
        FilledFormula(
            f"TMHits@{k}",
            f"The chance that a relevant document is among the first {k}.",
            _lines(
                r"1-\binom{n-r}{m}\Big/\binom{n}{m}",
                rf"=1-\binom{{{n - r}}}{{{m}}}\Big/\binom{{{n}}}{{{m}}}{_value(example.hits)}",
            ),
        ),
    )


def _rules_for_ties(example: WorkedExample) -> tuple[FilledFormula, ...]:
    n, r, b = example.tied, example.relevant, example.above
    return (
        FilledFormula(
            "taRR",
            "One over the expected rank of the first relevant document.",
            rf"\frac{{1}}{{b+\frac{{n+1}}{{r+1}}}}=\frac{{1}}{{{b}+{n + 1}/{r + 1}}}"
            + _value(example.answers["taRR"]),
        ),
        FilledFormula(
            "TsRR",
            "Between taRR and the worst order, by the share of the irrelevant documents that tie.",
            _lines(
                r"\frac{1}{b+(1-\tau)\frac{n+1}{r+1}+\tau(n-r+1)}",
                rf"\tau=\frac{{n-r}}{{b+n-r}}={_exact((n - r) / max(b + n - r, 1))}",
                _value(example.answers["TsRR"]),
            ),
        ),
        FilledFormula(
            "GRAG-RR",
            "One over the mean rank, as the G-RAG paper has it (eq. 11): another measure, never above MTRR.",
            rf"\frac{{1}}{{b+(n+1)/2}}=\frac{{1}}{{{b}+{n + 1}/2}}{_value(example.of_mean_rank)}",
        ),
    )


def _ends(example: WorkedExample) -> FilledFormula:
    n, r, b = example.tied, example.relevant, example.above
    return FilledFormula(
        "Best RR, and the worst: PRR",
        "Relevant documents first in the tie, and last.",
        _lines(
            rf"\frac{{1}}{{b+1}}=\frac{{1}}{{{b + 1}}}{_value(example.best)}",
            rf"\frac{{1}}{{b+n-r+1}}=\frac{{1}}{{{b + n - r + 1}}}{_value(example.worst)}",
        ),
    )


def _lines(*lines: str) -> str:
    """Set formulas one below the other, flush left."""
    return r"\begin{aligned}&" + r"\\[6pt]&".join(lines) + r"\end{aligned}"


def _value(value: float) -> str:
    """Write a value with four decimals; whether these are all it has is said."""
    sign = "=" if abs(round(value, 4) - value) < EQUAL else r"\approx"
    return rf"{sign}\mathbf{{{value:.4f}}}"


def _orders_counted(example: WorkedExample) -> list[str]:
    """Return the definition with its numbers: how many orders put the first relevant document at each rank."""
    if example.orderings > MOST_ORDERS or len(example.chances) > MOST_TERMS:
        return []
    terms = [
        rf"{round(chance * example.orderings)}\cdot{_exact(1 / rank)}"
        for rank, chance in zip(example.chances["rank"], example.chances["chance"], strict=True)
    ]
    return [rf"=\frac{{{'+'.join(terms)}}}{{{example.orderings}}}"]


def _terms(chances: pd.DataFrame) -> list[str]:
    """Return the chance of each rank times one over it, as many as a phone is wide."""
    terms = [
        rf"{_exact(chance)}\cdot{_exact(1 / rank)}"
        for rank, chance in zip(chances["rank"], chances["chance"], strict=True)
    ]
    return terms if len(terms) <= MOST_TERMS else [*terms[: MOST_TERMS - 2], r"\dots"]


def _exact(value: float) -> str:
    """Write a value as a fraction where it is a small one, else with four decimals."""
    near = Fraction(value).limit_denominator(99)
    if abs(near - value) > EQUAL:
        return f"{value:.4f}"
    return str(near) if near.denominator == 1 else rf"\tfrac{{{near.numerator}}}{{{near.denominator}}}"
