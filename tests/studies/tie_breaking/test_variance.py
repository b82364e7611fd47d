"""The split of a difference's variance into queries and ties, held against drawing both."""

import numpy as np
import pytest
from drawing import frame
from enumeration import Doc

from metrics import Runs, UsageError, evaluate
from metrics.runs import File, read
from metrics.studies.tie_breaking.mean_distributions import variance_split

TIES = ["expected", "optimistic", "pessimistic", "std"]


def random_list(docs, levels, draw):
    return [Doc(f"d{n}", int(draw.integers(levels)), int(draw.random() < 0.3)) for n in range(docs)]


def split(table, measure="RR", baseline="A"):
    return variance_split(evaluate(Runs.from_frame(frame(table)), [measure], TIES), measure, baseline)


def rr(scores, hits, order):
    ranked = hits[np.argsort(-scores + order, axis=1)]
    return np.where(ranked.any(axis=1), 1 / (ranked.argmax(axis=1) + 1), 0.0)


def test_the_split_is_that_of_drawing_queries_and_breaking_their_ties():
    draw, n, times = np.random.default_rng(4), 12, 40_000
    table = {name: {f"q{q}": random_list(6, 2, draw) for q in range(n)} for name in "AB"}
    row = split(table).loc["B"]
    values = {
        name: np.stack(
            [
                rr(*(np.array([doc[at] for doc in docs]) for at in (1, 2)), draw.random((times, len(docs))))
                for docs in queries.values()
            ]
        )
        for name, queries in table.items()
    }
    apart = values["B"] - values["A"]
    fixed = apart.mean(axis=0)
    assert row["difference"] == pytest.approx(fixed.mean(), abs=4 * fixed.std() / times**0.5)
    assert row["ties"] == pytest.approx(fixed.var(), rel=0.03)
    queries = draw.integers(n, size=(n, times))
    of_those_drawn = row["queries"] * (n - 1) / n
    assert of_those_drawn == pytest.approx(apart.mean(axis=1)[queries].mean(axis=0).var(), rel=0.03)
    broken = apart[queries, draw.integers(times, size=queries.shape)].mean(axis=0)
    assert of_those_drawn + row["ties"] == pytest.approx(broken.var(), rel=0.03)
    assert row["share_ties"] == pytest.approx(row["ties"] / (row["queries"] + row["ties"]))


def test_without_ties_all_of_it_is_queries():
    docs = {"q": [Doc("a", 2, 1), Doc("b", 1, 0)], "r": [Doc("a", 2, 0), Doc("b", 1, 1)]}
    row = split({"A": docs, "B": dict.fromkeys(docs, docs["q"])}).loc["B"]
    assert row.to_list() == [0.25, 0.0625, 0, 0]


def test_rerankers_that_never_differ_have_no_variance_to_share():
    docs = {"q": [Doc("a", 2, 1)], "r": [Doc("a", 2, 1)]}
    row = split({"A": docs, "B": docs}).loc["B"]
    assert row.to_list() == [0, 0, 0, 0]


def test_one_query_says_nothing_of_the_variance_between_queries():
    tied = {"q": [Doc("a", 1, 1), Doc("b", 1, 0)]}
    row = split({"A": tied, "B": tied}).loc["B"]
    assert row["ties"] == pytest.approx(2 / 16)
    assert np.isnan(row["queries"])
    assert np.isnan(row["share_ties"])


def test_only_queries_both_have_count():
    run = b"q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n", b"q1 Q0 a 1 2 t\n"
    sources = [read(File(f"{name}.trec", text)) for name, text in zip("AB", run, strict=True)]
    runs = Runs.from_sources([*sources, read(File("qrels.txt", b"q1 0 a 1\nq2 0 a 1\n"))])
    parts = {
        policy: variance_split(evaluate(runs, ["RR"], TIES, missing=policy), "RR", "A").loc["B", "difference"]
        for policy in ("zero", "skip")
    }
    assert parts == {"zero": -0.5, "skip": 0}


def test_a_reranker_without_lists_has_no_difference():
    run = b"q1 Q0 a 1 2 t\n", b"q9 Q0 a 1 2 t\n"
    sources = [read(File(f"{name}.trec", text)) for name, text in zip("AB", run, strict=True)]
    runs = Runs.from_sources([*sources, read(File("qrels.txt", b"q1 0 a 1\n"))])
    evaluation = evaluate(runs, ["RR"], TIES, missing="skip")
    row = variance_split(evaluation, "RR", "A").loc["B"]
    assert row.index.to_list() == ["difference", "queries", "ties", "share_ties"]
    assert row.isna().all()


def test_a_baseline_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="no reranker 'Z'"):
        split({"A": {"q": [Doc("a", 1, 1)]}}, baseline="Z")
