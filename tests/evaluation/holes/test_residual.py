"""The highest RBP of lists that are cut, against every order and judgment in exact fractions."""

from fractions import Fraction
from itertools import product

import pandas as pd
import pytest
from enumeration import Doc, JudgedList, every_value

from metrics import read_runs
from metrics.evaluation.holes import joint_bounds

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


def test_the_highest_of_a_cut_list_includes_ranks_past_its_end():
    p = Fraction(4, 5)
    bounds = joint_bounds(board(), "RBP(0.8)", is_cut=True).loc["run"]["RBP(0.8)"]
    for query, docs in LISTS.items():
        values = []
        for grades in product(*((0, 1) if grade is None else (grade,) for _, _, grade in docs)):
            listing = tuple(Doc(*row[:2], grade=grade) for row, grade in zip(docs, grades, strict=True))
            values += every_value("RBP(4/5)", JudgedList(listing, ()))
        ends = [float(min(values)), float(max(values) + p ** len(docs))]
        assert bounds.loc[query].to_list() == pytest.approx(ends, abs=1e-15)
    assert bounds.loc["missing"].to_list() == [0, 1]


def test_only_rbp_looks_past_the_end_of_a_list():
    names = ["P@10", "nDCG", "RR", "DCG", "AP"]
    pd.testing.assert_frame_equal(joint_bounds(board(), names, is_cut=True), joint_bounds(board(), names))
