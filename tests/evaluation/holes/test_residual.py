"""The residual of RBP, against every order and its definition in exact fractions."""

from fractions import Fraction
from itertools import product
from statistics import mean

import pandas as pd
import pytest
from enumeration import Doc, JudgedList, all_orderings, every_value

from metrics import UsageError, evaluate, read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.holes import hole_table, joint_bounds, residuals

LISTS = {
    "untied": (("a", 4, 1), ("b", 3, None), ("c", 2, 0), ("d", 1, None)),
    "tied": (("a", 2, None), ("b", 2, 1), ("c", 1, 0), ("d", 1, None), ("e", 1, 1)),
    "judged": (("a", 1, 0), ("b", 1, 2)),
    "unknown": (("a", 1, None),),
}


def board():
    rows = [(query, *row) for query, docs in LISTS.items() for row in docs]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"]).astype(
        {"relevance": float}
    )
    judged = table.dropna()[["query_id", "doc_id", "relevance"]]
    lacking = pd.DataFrame([("unknown", "z", 1.0), ("missing", "z", 1.0)], columns=judged.columns)
    run = table[["query_id", "doc_id", "score"]].assign(reranker="run")
    return read_runs(run, pd.concat([judged, lacking]))


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)])
def test_the_residual_is_what_unjudged_documents_and_places_past_the_end_weigh(p):
    measure = f"RBP({float(p)})"
    table = residuals(board(), measure).loc["run"]
    for query, docs in LISTS.items():
        orders = list(
            all_orderings([Doc(*row[:2], grade=row[2] or 0, is_judged=row[2] is not None) for row in docs])
        )
        weights = [(1 - p) * p**place for place in range(len(docs))]
        base, unjudged = (
            mean(sum(w for w, doc in zip(weights, order, strict=True) if counts(doc)) for order in orders)
            for counts in (lambda doc: doc.grade >= 1, lambda doc: not doc.is_judged)
        )
        beyond = p ** len(docs)
        expected = [*map(float, (base, unjudged, beyond, unjudged + beyond))]
        assert table.loc[query, ["base", "unjudged", "beyond", "residual"]].to_list() == pytest.approx(
            expected, abs=1e-15
        )
    assert table.loc["missing"].to_list() == [0, 0, 1, 1]


def test_the_highest_of_a_list_that_is_cut_is_that_of_all_orders_and_judgments_and_all_places_past_its_end():
    p = Fraction(4, 5)
    bounds = joint_bounds(board(), "RBP(0.8)", is_cut=True).loc["run"]["RBP(0.8)"]
    for query, docs in LISTS.items():
        values = []
        for grades in product(*((0, 1) if grade is None else (grade,) for _, _, grade in docs)):
            listing = tuple(Doc(*row[:2], grade=grade) for row, grade in zip(docs, grades, strict=True))
            values += every_value("RBP(4/5)", JudgedList(listing, ()))
        ends = [float(min(values)), float(max(values) + p ** len(docs))]
        assert bounds.loc[query].to_list() == pytest.approx(ends, abs=1e-15)
    base = residuals(board()).loc["run", "untied"]
    assert bounds.loc["untied", "highest"] == pytest.approx(base["base"] + base["residual"], abs=1e-15)
    assert bounds.loc["missing"].to_list() == [0, 1]


def test_only_rbp_looks_past_the_end_of_a_list():
    names = ["P@10", "nDCG", "RR", "DCG", "AP"]
    pd.testing.assert_frame_equal(joint_bounds(board(), names, is_cut=True), joint_bounds(board(), names))
    with pytest.raises(UsageError, match="only RBP has a residual"):
        residuals(board(), "P@10")


def test_the_table_holds_the_mean_residual_of_the_lists_that_count():
    options = ScoringOptions(missing="skip")
    table = hole_table(board(), ["RR", "RBP(0.8)"], options, rate=0.5, draws=2).set_index("measure")
    of_lists = residuals(board(), "RBP(0.8)", options)
    scored = evaluate(board(), "RBP(0.8)", "expected", missing="skip").scores.index
    assert len(of_lists) == len(scored) + 1
    assert table.loc["RBP(0.8)", "residual"] == pytest.approx(of_lists.loc[scored, "residual"].mean())
    assert pd.isna(table.loc["RR", "residual"])
    assert table.loc["RBP(0.8)", "tied"] == pytest.approx(of_lists.loc[scored, "base"].mean())
