"""Grades of unjudged documents as judged ones of the same query and of like places tell."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from metrics import read_runs
from metrics.evaluation.grade_model import QueryLogit, RankedDocuments
from metrics.evaluation.holes import estimated_means

N_DOCS = 40


def board(n_queries, coverage, chance, seed=1, n_unlisted=0):
    """One list a query, grades 0 to 2, relevant with a chance by query and place, some judged at random."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{query}", f"d{place}", -place, query, place)
        for query in range(n_queries)
        for place in range(N_DOCS)
    ]
    run = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "query", "place"])
    run["relevance"] = (rng.random(len(run)) < chance(run["query"], run["place"])) * rng.integers(
        1, 3, len(run)
    )
    judged = run[rng.random(len(run)) < coverage][["query_id", "doc_id", "relevance"]]
    unlisted = [(f"q{query}", f"u{number}", 1) for query in range(n_queries) for number in range(n_unlisted)]
    qrels = pd.concat([judged, pd.DataFrame(unlisted, columns=judged.columns)])
    return run, read_runs(run[["query_id", "doc_id", "score"]], qrels)


def test_chances_differ_by_query_and_by_place_as_those_of_judged_documents_do():
    def chance(query, place):
        return expit(2 * (query % 2) - 0.12 * place)

    _, runs = board(60, 0.6, chance)
    documents = RankedDocuments.of(runs)
    queries = np.array([int(name[1:]) for name in documents.query_ids.to_pylist()])[~documents.is_judged]
    places = documents.places[~documents.is_judged]
    rates = documents.unjudged_rates(None, N_DOCS)
    chances = pd.DataFrame({"rate": rates, "truth": chance(queries, places - 1)})
    assert chances.corr().loc["rate", "truth"] > 0.85
    for kinds in (queries % 2, np.log2(places).astype(int) // 2):
        means = chances.groupby(kinds).mean()
        assert means["rate"].to_numpy() == pytest.approx(means["truth"].to_numpy(), abs=0.08)


def test_a_query_without_judged_documents_has_the_overall_probabilities():
    evidence, queries = np.tile([-1.0, 0, 1], 200), np.repeat(np.arange(20), 30)
    is_success = np.random.default_rng(0).random(600) < expit(0.5 + evidence)
    fit = QueryLogit.fit(is_success, evidence, queries, 21)
    chances = fit.chances(np.array([-1.0, 0, 1]), np.array([20, 20, 20]))
    assert logit(chances) == pytest.approx([-0.5, 0.5, 1.5], abs=0.4)
    of_all = fit.chances(np.zeros(20), np.arange(20))
    assert np.std(of_all) < np.std([is_success[queries == query].mean() for query in range(20)])


def test_unretrieved_documents_lack_judgments_at_the_retrieved_rate():
    _, runs = board(50, 0.5, lambda query, place: 0.3 + 0 * query * place, n_unlisted=4)
    model = RankedDocuments.of(runs).grade_model(10)
    assert model.coverage == pytest.approx(0.5, abs=0.05)
    queries, grades = model.draw_unlisted(2)
    assert len(queries) / 200 == pytest.approx((1 - model.coverage) / model.coverage, rel=0.25)
    assert set(grades) == {1}


def test_documents_below_the_depth_use_judged_documents_of_their_kind():
    run, _ = board(40, 1, lambda query, place: 0.5 + 0 * query * place)
    judged = run[(run["place"] < 10) | (run["doc_id"].isin(["d11", "d15", "d19"]))]
    runs = read_runs(run[["query_id", "doc_id", "score"]], judged[["query_id", "doc_id", "relevance"]])
    documents = RankedDocuments.of(runs)
    assert documents.grade_model(10).coverage == pytest.approx(1)
    assert documents.unjudged_rates(None, 10).max() < 1e-6
    assert documents.unjudged_rates(None, N_DOCS).mean() == pytest.approx(0.5, abs=0.1)


def test_ap_and_uninformative_judgments_have_no_estimate():
    _, runs = board(20, 0.7, lambda query, place: 0.4 + 0 * query * place)
    names = ["nDCG@10", "P@10", "RR", "AP"]
    assert [estimated_means(runs, name).notna().all() for name in names] == [True, True, True, False]
    _, relevant_alone = board(20, 0.7, lambda query, place: 1.0 + 0 * query * place)
    _, hardly_judged = board(20, 0.2, lambda query, place: 0.4 + 0 * query * place)
    for name, untold in product(names, (relevant_alone, hardly_judged)):
        assert estimated_means(untold, name).isna().all()


def test_cases_of_one_query_and_one_evidence_count_as_if_a_hair_told_them_apart():
    rng = np.random.default_rng(3)
    queries, bands = rng.integers(0, 5, 300), rng.integers(0, 4, 300).astype(float)
    is_success = rng.random(300) < expit(bands - queries)
    together = QueryLogit.fit(is_success, bands, queries, 6)
    apart = QueryLogit.fit(is_success, bands + np.arange(300) * 1e-13, queries, 6)
    assert together.means == pytest.approx(apart.means, abs=1e-9)
    assert together.roots == pytest.approx(apart.roots, abs=1e-9)
    order = rng.permutation(300)
    assert QueryLogit.fit(is_success[order], bands[order], queries[order], 6).means == pytest.approx(
        together.means, abs=1e-9
    )
