"""Unjudged documents: three scenarios, the documents themselves, and qrels to fill in."""

import pandas as pd
import pytest

from metrics import evaluate, parse, read_runs
from metrics.evaluation import AS_READ, ScoringOptions
from metrics.runs import File, read
from metrics.studies.prose import plain
from metrics.studies.unjudged import (
    qrels_form,
    scenario_finding,
    scenarios,
    share_finding,
    unjudged_counts,
    unjudged_documents,
)

RUN = pd.DataFrame(
    [
        *(("A", "q", name, score) for name, score in zip("abcd", [4.0, 3, 2, 1], strict=True)),
        *(("B", "q", name, score) for name, score in zip("bxad", [2.0, 2, 1, 0], strict=True)),
        *(("A", "r", name, score) for name, score in zip("ab", [1.0, 1], strict=True)),
        ("B", "r", "b", 1.0),
        ("B", "s", "a", 1.0),
        ("A", "t", "u", 1.0),
    ],
    columns=["reranker", "query_id", "doc_id", "score"],
)
QRELS = pd.DataFrame(
    [("q", "a", 0.0), ("q", "d", 3.0), ("r", "b", 1.0), ("r", "z", 1.0), ("s", "a", 2.0)],
    columns=["query_id", "doc_id", "relevance"],
)
MEASURES = ["P@2", "RR", "nDCG@3", "AP", "R@2", "bpref", "DR@2", "taRR"]
UNJUDGED = [("q", "b"), ("q", "c"), ("q", "x"), ("r", "a")]


@pytest.fixture(scope="module")
def runs():
    return read_runs(RUN, QRELS)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("unjudged", ["nonrelevant", "leave_out"])
def test_a_scenario_is_the_tied_mean_under_its_judgments(runs, measure, unjudged):
    table = scenarios(runs, measure, ScoringOptions(unjudged=unjudged))
    added = pd.DataFrame([(*pair, 3.0) for pair in UNJUDGED], columns=QRELS.columns)
    expected = {
        "as_judged": evaluate(RUN, measure, "expected", qrels=QRELS),
        "left_out": evaluate(RUN, measure, "expected", qrels=QRELS, unjudged="leave_out"),
        "all_relevant": evaluate(RUN, measure, "expected", qrels=pd.concat([QRELS, added])),
    }
    for name, evaluation in expected.items():
        assert table[name].to_dict() == evaluation.means(measure)["expected"].to_dict(), name


def test_grades_that_no_judgment_has_reached_are_relevant_from_the_threshold_on(runs):
    table = scenarios(runs, "P@2", ScoringOptions(relevant_from=4))
    assert table["as_judged"].to_list() == [0, 0]
    assert table["all_relevant"].to_dict() == {"A": pytest.approx((0.5 + 0.5) / 3), "B": pytest.approx(1 / 3)}


def test_a_scenario_adds_no_query_that_the_policies_leave_out():
    qrels = pd.DataFrame([("q", "a", 1.0), ("r", "y", 0.0)], columns=QRELS.columns)
    table = scenarios(read_runs(RUN, qrels), "P@1", ScoringOptions(empty="skip"))
    assert table["as_judged"].to_dict() == {"A": 1.0, "B": 0.0}
    assert table["all_relevant"].to_dict() == {"A": 1.0, "B": 1.0}


def test_scenarios_are_of_the_queries_chosen(runs):
    of_q = read_runs(RUN[RUN["query_id"] == "q"], QRELS[QRELS["query_id"] == "q"])
    pd.testing.assert_frame_equal(scenarios(runs, "AP", queries={"q"}), scenarios(of_q, "AP"))


def test_documents_of_most_rerankers_come_first_then_those_of_the_best_rank(runs):
    table = unjudged_documents(runs, AS_READ, 3)
    assert [tuple(row) for row in table.to_numpy()] == [
        ("q", "b", 2, 1, "B"),
        ("r", "a", 1, 1, "A"),
        ("q", "x", 1, 1, "B"),
        ("q", "c", 1, 3, "A"),
    ]
    assert unjudged_documents(runs, ScoringOptions(unjudged="leave_out"), 3).equals(table)
    assert unjudged_documents(runs, AS_READ, 1, {"q"})["doc_id"].to_list() == ["b", "x"]


def test_a_share_is_of_the_documents_that_lists_have_in_the_top():
    counts = unjudged_counts(evaluate(RUN, "Judged@3", "expected", qrels=QRELS), 3)
    assert counts.loc["A"].to_list() == [5, 3]
    assert counts.loc["B"].to_list() == [5, 2]
    assert plain(share_finding(counts, 3)) == "50% of the documents in the top 3 are unjudged, 60% for A."


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"a": (0.5, 0.6, 0.7), "b": (0.4, 0.5, 0.6)}, "a leads in all three scenarios."),
        ({"a": (0.5, 0.6, 0.7), "b": (0.5, 0.6, 0.7)}, "a and 1 more share the lead in all three scenarios."),
        (
            {"a": (0.5, 0.6, 0.7), "b": (0.4, 0.7, 0.8)},
            "The leader depends on unjudged documents: a as judged, b with them left out, b if all of them are "
            "relevant.",
        ),
        (
            {"a": (0.5, 1, 1), "b": (0.4, 1, 1)},
            "a leads as judged; with unjudged documents left out and if all of them are relevant, all "
            "rerankers score the same.",
        ),
        ({"a": (0.5, 0.4, 0.75)}, "a has MTRR between 0.400 and 0.750 in the three scenarios."),
        ({"a": (0.5, 0.5, 0.5)}, "a has MTRR of 0.500 in the three scenarios."),
        ({"a": (None, None, None)}, "No list is scored: every query was left out."),
    ],
)
def test_the_leader_of_each_scenario_is_named(values, sentence):
    columns = ["as_judged", "left_out", "all_relevant"]
    table = pd.DataFrame.from_dict(values, orient="index", columns=columns, dtype=float)
    assert plain(scenario_finding(table, parse("RR"))) == sentence


@pytest.mark.parametrize(
    ("query", "document", "ending"),
    [
        ("q1", "d1", "txt"),
        ("q 1", "d1", "csv"),
        ("q1", 'a,"b c', "csv"),
        ("#q", "d", "csv"),
        ("q", "مستند", "txt"),
    ],
)
def test_a_form_that_is_filled_in_is_read_as_judgments_of_the_same_documents(query, document, ending):
    documents = pd.DataFrame({"query_id": [query], "doc_id": [document]})
    text, chosen = qrels_form(documents)
    assert chosen == ending
    filled = text.replace("?", "2") if ending == "txt" else text[:-1] + "2\n"
    source = read(File(f"form.{ending}", filled.encode()))
    assert source.kind == "qrels"
    assert source.table.to_pandas().astype({"query_id": str}).to_dict("records") == [
        {"query_id": query, "doc_id": document, "relevance": 2.0}
    ]
