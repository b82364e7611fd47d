"""Exact expectations at a rate, against every order of the ties and every way to judge, in exact fractions."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from enumeration import Doc, JudgedList, over_orderings
from relevance_measures import MEASURES

from metrics import read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.holes import expectations_at_rate, hole_table

DOCS = (  # the last of each: grade, None where nobody judged it
    ("q", "a", 3, None),
    ("q", "b", 2, 1),
    ("q", "c", 2, None),
    ("q", "d", 2, 0),
    ("q", "e", 1, None),
    ("r", "f", 1, 3),
    ("r", "g", 1, None),
    ("r", "h", 1, 1),
)
RATES = (Fraction(3, 10), Fraction(1, 5), Fraction(1, 2))
SHARES = {1: {0: 1}, 2: {0: Fraction(1, 3), 1: Fraction(2, 3)}}
"""Relevant from → the grades of judged documents that are not relevant; those that are: 1, 1, 3 or 3 alone."""


def grade_chances(score_place, relevant_from):
    """Grade → its chance, of an unjudged document at the place that its score allows it."""
    rate = RATES[min(score_place, 3) - 1]
    relevant = {1: Fraction(2, 3), 3: Fraction(1, 3)} if relevant_from == 1 else {3: Fraction(1)}
    others = {grade: (1 - rate) * share for grade, share in SHARES[relevant_from].items()}
    return others | {grade: others.get(grade, 0) + rate * share for grade, share in relevant.items()}


def highest_place(query, score):
    return 1 + sum(other > score for name, _, other, _ in DOCS if name == query)


def moments(measure, relevant_from):
    """Mean, variance over judgments and mean variance over ties of the mean of both queries."""
    mean = of_holes = of_ties = 0
    for query in "qr":
        rows = [row for row in DOCS if row[0] == query]
        chances = [
            {grade: 1} if grade is not None else grade_chances(highest_place(query, score), relevant_from)
            for _, _, score, grade in rows
        ]
        first = second = spread = 0
        for grades in product(*chances):
            weight = math.prod(chance[grade] for chance, grade in zip(chances, grades, strict=True))
            docs = tuple(Doc(row[1], row[2], grade) for row, grade in zip(rows, grades, strict=True))
            listing = JudgedList(docs, tuple((grade, None) for grade in grades), relevant_from)
            tied = over_orderings(lambda values: sum(values) / len(values), measure, listing)
            square = over_orderings(lambda values: sum(v * v for v in values) / len(values), measure, listing)
            first, second = first + weight * tied, second + weight * tied * tied
            spread += weight * (square - tied * tied)
        mean, of_holes, of_ties = mean + first / 2, of_holes + (second - first**2) / 4, of_ties + spread / 4
    return [float(mean), math.sqrt(of_holes), math.sqrt(of_ties)]


def board():
    run = pd.DataFrame([row[:3] for row in DOCS], columns=["query_id", "doc_id", "score"])
    judged = pd.DataFrame([row for row in DOCS if row[3] is not None]).drop(columns=2)
    return read_runs(
        run, judged.set_axis(["query_id", "doc_id", "relevance"], axis=1).astype({"relevance": float})
    )


@pytest.mark.parametrize("relevant_from", [1, 2])
@pytest.mark.parametrize("measure", ["P@1", "P@2", "P@4", "RBP(0.8)", "RBP(0.5)", "DCG@2", "DCG@3", "DCG"])
def test_what_is_expected_of_sums_is_that_of_all_orders_and_judgments(measure, relevant_from):
    options = ScoringOptions(relevant_from=relevant_from)
    row = expectations_at_rate(board(), measure, options, rate=[*map(float, RATES)], depth=None).iloc[0]
    assert [row["error"], row["is_drawn"], row["is_estimable"]] == [0, False, True]
    exact = moments(measure, relevant_from)
    assert row[["expectation", "sd_holes", "sd_ties"]].to_list() == pytest.approx(exact, rel=1e-12, abs=1e-12)


def test_only_measures_whose_judgments_move_nothing_but_gains_are_exact_and_draws_agree():
    assert {measure.name for measure in MEASURES if measure.family.linear} == {"DCG", "P", "RBP"}
    runs = board()
    exact = expectations_at_rate(runs, ["P@2", "RR", "DCG@3"], rate=0.4, draws=40)
    assert exact["is_drawn"].to_list() == [False, True, False]
    drawn = expectations_at_rate(runs, ["P@2", "DCG@3"], ScoringOptions(empty="skip"), rate=0.4, draws=40)
    assert drawn["is_drawn"].all()
    sums = exact[~exact["is_drawn"]]
    assert (abs(sums["expectation"].to_numpy() - drawn["expectation"]) < 4 * drawn["error"]).all()
    assert sums["sd_holes"].to_numpy() == pytest.approx(drawn["sd_holes"].to_numpy(), rel=0.4)


def test_missing_lists_count_zero_or_are_left_out_where_the_expectation_is_exact():
    judged = pd.DataFrame([("q", "a", 1.0), ("r", "z", 1.0)], columns=["query_id", "doc_id", "relevance"])
    run = pd.DataFrame([("q", "a", 2.0), ("q", "b", 1.0)], columns=["query_id", "doc_id", "score"])
    runs = read_runs(run, judged)
    counted, left_out = (
        hole_table(runs, ["P@2"], ScoringOptions(missing=missing), rate=0.5)["expectation"].item()
        for missing in ("zero", "skip")
    )
    assert np.array([counted, left_out]) == pytest.approx([0.375, 0.75])
