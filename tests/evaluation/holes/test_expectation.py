"""Grades drawn for unjudged documents, and the means that they lead to."""

import numpy as np
import pandas as pd
import pytest

from metrics import UsageError, evaluate, joint_bounds, parse, read_runs
from metrics.evaluation import ScoringOptions, grade_model
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.holes import estimated_means, judged_name, unjudged_counts, unjudged_shares

RUN = pd.DataFrame(
    [
        *(("A", "q", name, score) for name, score in zip("abcd", [2.0, 1, 1, 0], strict=True)),
        *(("A", "r", name, score) for name, score in zip("abc", [1.0, 1, 1], strict=True)),
        *(("B", "q", name, score) for name, score in zip("bxa", [3.0, 2, 1], strict=True)),
        ("B", "r", "a", 1.0),
    ],
    columns=["reranker", "query_id", "doc_id", "score"],
)
QRELS = pd.DataFrame(
    [("q", "a", 0.0), ("q", "d", 1.0), ("r", "b", 1.0), ("r", "z", 1.0)],
    columns=["query_id", "doc_id", "relevance"],
)
UNJUDGED = [("q", "b"), ("q", "c"), ("q", "x"), ("r", "a"), ("r", "c")]


def drawn_grades(run):
    documents = RankedDocuments.of(read_runs(run, QRELS))
    pairs = np.stack([documents.query_ids, documents.doc_ids], axis=1)[~documents.is_judged].tolist()
    grades = documents.grade_draws(0.5, 10)(1).tolist()
    return dict(zip(map(tuple, pairs), grades, strict=True))


def test_a_document_is_drawn_alike_whatever_other_rerankers_there_are():
    everyone, alone = drawn_grades(RUN), drawn_grades(RUN[RUN["reranker"] == "A"])
    assert sorted(everyone) == sorted(UNJUDGED)
    assert set(everyone.values()) == {0, 1}
    assert alone == {pair: everyone[pair] for pair in UNJUDGED if pair != ("q", "x")}


def test_drawn_grades_fall_as_those_of_judged_documents_do():
    names = [f"d{number}" for number in range(3000)]
    run = pd.DataFrame({"query_id": "q", "doc_id": names, "score": 1.0})
    judged = pd.DataFrame({"query_id": "q", "doc_id": names[:4], "relevance": [0.0, 1, 2, 3]})
    documents = RankedDocuments.of(read_runs(run, judged), ScoringOptions(relevant_from=2))
    grades = documents.grade_draws(0.4, len(names))(5)
    shares = [float((grades == grade).mean()) for grade in range(4)]
    assert shares == pytest.approx([0.3, 0.3, 0.2, 0.2], abs=0.03)


def test_a_rate_holds_down_to_the_depth():
    names = [f"d{number}" for number in range(8)]
    run = pd.DataFrame({"query_id": "q", "doc_id": names, "score": np.arange(8.0)[::-1]})
    judged = pd.DataFrame({"query_id": "q", "doc_id": ["d1", "d2", "d7"], "relevance": [1.0, 0, 0]})
    documents = RankedDocuments.of(read_runs(run, judged))
    by_id = dict(zip(documents.doc_ids.to_pylist(), documents.places.tolist(), strict=True))
    assert by_id == {name: place + 1 for place, name in enumerate(names)}
    order = [by_id[name] for name in np.array(documents.doc_ids)[~documents.is_judged]]
    rates_to_4 = dict(zip(order, documents.unjudged_rates(0.9, 4), strict=True))
    assert rates_to_4 == {1: 0.9, 4: 0.9, 5: 0, 6: 0, 7: 0}


@pytest.mark.parametrize("rate", [0, 1])
def test_at_a_rate_of_0_or_1_there_is_one_way_to_judge(rate):
    documents = RankedDocuments.of(read_runs(RUN, QRELS))
    assert documents.grade_draws(rate, 10)(3).tolist() == [rate] * 5


@pytest.mark.parametrize("rate", [1.5, -0.1, float("nan")])
def test_what_is_no_rate_is_refused(rate):
    with pytest.raises(UsageError, match="is not between 0 and 1"):
        RankedDocuments.of(read_runs(RUN, QRELS)).unjudged_rates(rate, 10)


@pytest.mark.parametrize("measure", ["RR", "P@2"])
def test_an_estimate_lies_within_the_bounds_over_judgments(measure, monkeypatch):
    monkeypatch.setattr(grade_model, "_LEAST_COVERAGE", 0)
    monkeypatch.setattr(grade_model, "_LEAST_SHARE", 0)
    runs = read_runs(RUN, QRELS)
    means, bounds = estimated_means(runs, measure), joint_bounds(runs, measure)[measure].groupby(level=0).mean()
    assert means.index.to_list() == ["A", "B"]
    assert (bounds["lowest"] < means).all()
    assert (means < bounds["highest"]).all()


def test_the_share_of_unjudged_documents_is_that_within_the_cutoff():
    shares = {}
    for name in ("AP", "P@2"):
        evaluation = evaluate(read_runs(RUN, QRELS), [name, judged_name(parse(name))], "expected")
        shares[name] = unjudged_shares(unjudged_counts(evaluation, parse(name)))
    assert shares["AP"]["A"] == pytest.approx(4 / 7)
    assert shares["P@2"]["B"] == pytest.approx(1)


def small_board(run, qrels):
    """A run of one reranker, A, and judgments, as rows."""
    frame = pd.DataFrame(run, columns=["query_id", "doc_id", "score"]).assign(reranker="A")
    return read_runs(frame, pd.DataFrame(qrels, columns=QRELS.columns).astype({"relevance": float}))


def test_what_was_in_the_pool_and_unjudged_says_nothing_of_how_many_are_relevant():
    runs = small_board([("q", "c", 3), ("q", "a", 2), ("q", "b", 1)], [("q", "a", 1), ("q", "b", -1)])
    documents = RankedDocuments.of(runs)
    assert {float(grade) for seed in range(20) for grade in documents.grade_draws(0.5, 10)(seed)} == {0, 1}
    assert documents.grade_model(10).levels.min() == 0


@pytest.mark.parametrize(
    "runs",
    [
        lambda: read_runs(RUN, QRELS[QRELS["doc_id"] == "z"]),
        lambda: small_board([("q", "a", 2), ("q", "b", 1)], [("q", "a", -1)]),
    ],
    ids=["unlisted alone", "pooled alone"],
)
def test_where_nobody_judged_what_is_ranked_a_rate_is_asked_for(runs):
    with pytest.raises(UsageError, match="give the command judge-next the share of unjudged documents"):
        estimated_means(runs(), "RR")


def test_a_query_that_a_judgment_may_add_leaves_no_mean_to_be_expected():
    runs = small_board([("q1", "a", 2), ("q2", "c", 3)], [("q1", "a", 1), ("q2", "d", 0)])
    with pytest.raises(UsageError, match="empty='zero'"):
        estimated_means(runs, "RR", ScoringOptions(empty="skip"))
    rows = [("q1", "a", 3), ("q1", "b", 2), ("q1", "c", 1)]
    only = small_board(rows, [("q1", "a", 1), ("q1", "c", 0)])
    skipped, counted = (estimated_means(only, "RR", ScoringOptions(empty=way)) for way in ("skip", "zero"))
    pd.testing.assert_series_equal(skipped, counted)
    assert counted.to_list() == [1]


def test_missing_lists_count_zero_or_are_left_out_and_a_run_that_lacks_all_has_no_estimate():
    rows = [("A", "q", "a", 2.0), ("A", "q", "z", 1.0), ("A", "r", "b", 1.0), ("B", "q", "a", 1.0)]
    run = pd.DataFrame([*rows, ("C", "other", "a", 1.0)], columns=RUN.columns)
    judged = pd.DataFrame([("q", "a", 1.0), ("q", "z", 0.0), ("r", "b", 1.0)], columns=QRELS.columns)
    for missing, expected in (("zero", 0.25), ("skip", 0.5)):
        means = estimated_means(read_runs(run, judged), "P@2", ScoringOptions(missing=missing))
        assert means["B"] == pytest.approx(expected)
        assert np.isnan(means["C"])
