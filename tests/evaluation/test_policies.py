"""What is done about queries without rows, without relevant documents, and documents nobody judged."""

import pandas as pd
import pytest

from metrics import Runs, UsageError, evaluate
from metrics.runs import File, read

RUN = b"both Q0 a 1 3 t\nboth Q0 b 2 2 t\nnothing Q0 a 1 1 t\nextra Q0 a 1 1 t\n"
QRELS = b"both 0 b 1\nboth 0 unlisted 2\nnothing 0 a 0\nabsent 0 a 1\nneither 0 a 0\n"


def scored(run=RUN, qrels=QRELS, measures=("RR",), **policies):
    runs = Runs.from_sources([read(File("run.trec", run)), read(File("qrels.txt", qrels))])
    return evaluate(runs, measures, ["expected"], **policies)


def rr(evaluation):
    return evaluation.scores["RR", "expected"].loc["run"].to_dict()


@pytest.mark.parametrize(
    ("policies", "values"),
    [
        ({}, {"both": 0.5, "nothing": 0, "absent": 0, "neither": 0}),
        ({"missing": "skip"}, {"both": 0.5, "nothing": 0}),
        ({"empty": "skip"}, {"both": 0.5, "absent": 0}),
        ({"missing": "skip", "empty": "skip"}, {"both": 0.5}),
    ],
)
def test_missing_and_empty_queries_count_zero_or_are_left_out_and_are_counted(policies, values):
    evaluation = scored(**policies)
    assert rr(evaluation) == values
    counts = {"n_queries": 4, "n_missing": 2, "n_empty": 2, "n_scored": len(values)}
    assert evaluation.policies.loc["run"].to_dict() == counts
    assert evaluation.lists.index.equals(evaluation.scores.index)
    assert evaluation.summary()["RR", "expected", "mean"].to_list() == pytest.approx(
        [sum(values.values()) / len(values)]
    )


def test_every_list_left_out_leaves_empty_tables_no_mean_and_a_count_of_zero():
    evaluation = scored(qrels=b"nothing 0 a 0\n", empty="skip")
    assert not len(evaluation.scores)
    summary = evaluation.summary()["RR", "expected"]
    assert summary["mean"].isna().to_list() == [True]
    assert summary["n"].to_list() == [0]


@pytest.mark.parametrize("policy", ["missing", "empty"])
def test_a_policy_is_zero_or_skip(policy):
    with pytest.raises(UsageError, match=f"{policy}='drop'"):
        scored(**{policy: "drop"})


def test_relevant_documents_are_counted_from_the_judgments_listed_or_not():
    assert scored().lists.loc["run", "n_relevant"].to_dict() == {
        "both": 2,
        "nothing": 0,
        "absent": 1,
        "neither": 0,
    }


def test_a_query_the_run_lacks_is_a_list_without_documents():
    row = scored().lists.loc[("run", "absent")]
    assert row[["n_docs", "n_tie_groups", "max_tie_size", "tied_docs"]].to_list() == [0, 0, 0, 0]
    assert row[["tie_ratio", "log10_orderings"]].to_list() == [0, 0]


@pytest.mark.parametrize(("relevant_from", "value"), [(0.5, 1), (1, 1 / 2), (2, 1 / 3), (2.5, 0), (100, 0)])
def test_a_document_is_relevant_from_a_grade_on(relevant_from, value):
    run = b"q Q0 half 1 9 t\nq Q0 one 2 8 t\nq Q0 two 3 7 t\n"
    qrels = b"q 0 half 0.5\nq 0 one 1\nq 0 two 2\n"
    assert rr(scored(run, qrels, relevant_from=relevant_from)) == {"q": pytest.approx(value)}


@pytest.mark.parametrize("relevant_from", [0, -1, float("nan")])
def test_relevance_cannot_start_at_zero_where_unjudged_documents_are(relevant_from):
    with pytest.raises(UsageError, match="relevant_from"):
        scored(relevant_from=relevant_from)


UNJUDGED = b"q Q0 unjudged 1 9 t\nq Q0 negative 2 8 t\nq Q0 zero 3 7 t\nq Q0 good 4 6 t\n"


@pytest.mark.parametrize(
    ("run", "qrels", "values"),
    [
        (UNJUDGED, b"q 0 negative -2\nq 0 zero 0\nq 0 good 1\n", {"q": 1 / 4}),
        (b"q Q0 a 1 1 t\n", b"r 0 a 1\nq 0 b 1\n", {"r": 0, "q": 0}),
        (b"007 Q0 a 1 1 t\n", b"7 0 a 1\n007 0 A 1\n", {"7": 0, "007": 0}),
    ],
    ids=["unjudged or below 0", "judged for another query", "IDs spelt otherwise"],
)
def test_a_document_is_not_relevant_unless_judged_so_for_its_query(run, qrels, values):
    assert rr(scored(run, qrels)) == pytest.approx(values)


def test_queries_come_in_the_order_of_the_judgments():
    assert list(rr(scored())) == ["both", "nothing", "absent", "neither"]


def test_without_judgments_apart_each_reranker_has_its_own_queries():
    table = b"reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nA,r,a,1,0\nB,r,a,1,1\n"
    evaluation = evaluate(Runs.from_sources([read(File("t.csv", table))]), ["RR"], ["expected"])
    assert evaluation.scores.index.to_list() == [("A", "q"), ("A", "r"), ("B", "r")]
    assert evaluation.policies["n_missing"].to_list() == [0, 0]


def test_empty_one_counts_queries_without_relevant_documents_as_1_where_1_is_the_best_value():
    table = pd.DataFrame(
        {"query_id": [*"qqrr"], "doc_id": [*"abab"], "score": [1, 1, 2, 1], "relevance": [0, 1, 0, 0]}
    )
    names = ["RR", "nDCG@10", "bpref", "Judged@1", "num_rel"]
    scores = evaluate(table, names, ["expected", "std"], empty="one").scores.xs("r", level="query_id").iloc[0]
    assert scores.xs("expected", level="ties").to_list() == [1, 1, 1, 1, 0]
    assert scores.xs("std", level="ties").to_list() == [0] * len(names)
    assert evaluate(table, "RR", "expected", empty="one").means("RR")["expected"].to_list() == [(0.75 + 1) / 2]
    with pytest.raises(UsageError, match="empty='two': use 'zero' or 'one' or 'skip'"):
        evaluate(table, "RR", empty="two")
    with pytest.raises(UsageError, match="missing='one': use 'zero' or 'skip'"):
        evaluate(table, "RR", missing="one")
