"""Many rerankers of a few rows are scored in one pass, as many queries of one reranker are."""

import io

import numpy as np
import pandas as pd
import pytest

from metrics import evaluate, read_runs
from metrics.errors import UsageError
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.ties import Ranking

MANY = 10_000


def one_row_each(n):
    """Return a table of n rerankers with a document each, every second of them relevant."""
    number = np.arange(n)
    return pd.DataFrame(
        {
            "reranker": [f"r{place}" for place in number],
            "query_id": "q",
            "doc_id": [f"d{place}" for place in number],
            "score": number % 7 / 8,
            "relevance": number % 2,
        }
    )


def n_calls(monkeypatch, owner, name, work):
    """Return how often the work calls a function."""
    calls, function = [], getattr(owner, name).__func__
    monkeypatch.setattr(
        owner, name, classmethod(lambda cls, *args, **kwargs: calls.append(1) or function(cls, *args, **kwargs))
    )
    work()
    monkeypatch.undo()
    return len(calls)


@pytest.mark.parametrize(("owner", "name"), [(Ranking, "_cut"), (QueryDocKeys, "of")])
@pytest.mark.parametrize("apart", [False, True])
def test_the_work_does_not_grow_with_the_number_of_rerankers(monkeypatch, owner, name, apart):
    def work(n):
        table = one_row_each(n)
        qrels = pd.DataFrame({"query_id": ["q", "p"], "doc_id": "d1", "relevance": 1}) if apart else None
        return lambda: evaluate(read_runs(table.drop(columns="relevance") if apart else table, qrels)).summary()

    few, many = (n_calls(monkeypatch, owner, name, work(n)) for n in (3, 3_000))
    assert few == many


def test_10000_rerankers_of_one_row_score_what_the_row_is_worth():
    evaluation = evaluate(read_runs(one_row_each(MANY)), ["RR", "P@2"], ["expected", "docid_desc"])
    relevant = np.arange(MANY) % 2
    assert evaluation.scores.index.to_list() == [(f"r{place}", "q") for place in range(MANY)]
    for ties in ("expected", "docid_desc"):
        assert (evaluation.scores["RR", ties].to_numpy() == relevant).all()
        assert (evaluation.scores["P@2", ties].to_numpy() == relevant / 2).all()
    assert evaluation.policies.index.to_list() == [f"r{place}" for place in range(MANY)]
    assert (evaluation.policies["n_empty"].to_numpy() == 1 - relevant).all()
    assert (evaluation.summary()["RR", "expected", "n"] == 1).all()


def test_very_many_rerankers_are_a_finding_and_only_the_first_are_looked_at():
    runs = read_runs(one_row_each(1_001))
    for findings in (runs.findings, runs.left_out):
        (finding,) = findings[findings["code"] == "many-rerankers"].itertuples()
        assert (finding.severity, finding.count) == ("warning", 1_001)
        assert "1,001 rerankers in 1,001 rows. Does the reranker column hold" in finding.message
    assert (runs.findings["code"] == "one-document").sum() == 1_000


def test_rerankers_of_which_nearly_none_has_a_judged_query_are_refused():
    table = one_row_each(3_000).drop(columns="relevance")
    qrels = pd.DataFrame({"query_id": [f"q{place}" for place in range(2_000)], "doc_id": "d1", "relevance": 1})
    with pytest.raises(UsageError, match="3,000 rerankers for 2,000 judged queries make 6,000,000 lists"):
        read_runs(table, qrels)
    assert len(read_runs(table, qrels[:300]).rerankers) == 3_000
    assert len(read_runs(table[:1_000], qrels).rerankers) == 1_000


def test_a_thousand_rerankers_are_all_looked_at():
    findings = read_runs(one_row_each(1_000)).findings
    assert set(findings["code"]) == {"one-document", "nothing-relevant"}
    assert (findings["code"] == "one-document").sum() == 1_000


def boards():
    """Return a table of several rerankers whose rows are mixed, and judgments apart with targets."""
    rng = np.random.default_rng(5)
    rows = [
        (f"r{reranker}", f"q{query}", f"d{document}", float(rng.integers(4)), int(rng.integers(-1, 3)))
        for reranker in range(6)
        for query in rng.permutation(7)[: rng.integers(1, 8)]
        for document in rng.permutation(20)[: rng.integers(1, 9)]
    ]
    table = pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])
    table["target_id"] = [f"t{place}" for place in rng.integers(0, 4, len(table))]
    judged = table.drop_duplicates(["query_id", "doc_id"])[["query_id", "doc_id", "relevance", "target_id"]]
    return table.sample(frac=1, random_state=0).reset_index(drop=True), judged[3:]


@pytest.mark.parametrize("apart", [False, True])
def test_rerankers_scored_together_score_what_each_scores_alone(apart):
    table, judged = boards()
    columns = ["relevance", "target_id"] if apart else []
    measures, ties = (
        ["RR", "AP", "nDCG@3", "DR@2", "Judged@3"],
        ["expected", "input", "random:1", "pessimistic"],
    )
    options = {"missing": "skip", "empty": "skip"}

    def score(rows):
        runs = read_runs(rows.drop(columns=columns).reset_index(drop=True), judged if apart else None)
        return evaluate(runs, measures, ties, **options)

    together = score(table)
    alone = [score(table[table["reranker"] == name]) for name in together.policies.index]
    pd.testing.assert_frame_equal(together.scores, pd.concat([part.scores for part in alone]), check_exact=True)
    pd.testing.assert_frame_equal(together.lists, pd.concat([part.lists for part in alone]), check_exact=True)
    pd.testing.assert_frame_equal(together.policies, pd.concat([part.policies for part in alone]))
    assert together.skipped.to_list() == [place for part in alone for place in part.skipped]


def test_a_repeated_document_is_named_by_its_lines_among_many_rerankers():
    text = one_row_each(50).to_csv(index=False) + "r7,q,d7,1,1\nr9,q,d9,1,1\n"
    runs = read_runs(pd.read_csv(io.StringIO(text)), repeated="first")
    dropped = runs.findings[runs.findings["code"] == "rows-dropped"]
    assert dropped["line"].to_list() == [51, 52]
    assert len(runs.tables["r7"]) == len(runs.tables["r8"]) == 1
    assert list(runs.tables) == runs.rerankers == [f"r{place}" for place in range(50)]


def test_neighbours_that_are_renamed_stay_together():
    runs = read_runs(one_row_each(9)).arranged({"r2": "A", "r3": "B", "r8": "C", "r4": "D"})
    assert [list(stack.names) for stack in runs.stacks.stacks] == [["A", "B"], ["C"], ["D"]]
    assert evaluate(runs, "RR", "expected").scores["RR", "expected"].to_list() == [0, 1, 0, 0]
    assert runs.tables["C"]["doc_id"].to_pylist() == ["d8"]
    assert runs.origins["D"].line_of(0) == read_runs(one_row_each(9)).origins["r4"].line_of(0)
