from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from metrics import Runs, UsageError, rank_similarity
from metrics.evaluation import AS_READ
from metrics.studies.leaderboard.ranks.list_similarity import list_similarity, similarity_finding
from metrics.studies.prose import plain


def rankings(seed=0, rerankers=4, queries=6, **copies):
    """Lists of 3 to 12 documents with ties; some rerankers lack a query; copy=original adds copies."""
    random = np.random.default_rng(seed)
    rows = []
    for reranker in range(rerankers):
        for query in range(queries):
            if (reranker, query) == (1, 2):
                continue
            n = random.integers(3, 13)
            scores = random.integers(0, 5, n).astype(float)
            documents = random.permutation(15)[:n]
            rows += [
                (f"r{reranker}", f"q{query}", f"d{d}", s, 1) for d, s in zip(documents, scores, strict=True)
            ]
    frame = pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])
    for copy, original in copies.items():
        lists = frame[frame["reranker"] == original].sample(frac=1, random_state=1)
        frame = pd.concat([frame, lists.assign(reranker=copy, score=2 * lists["score"] - 7)])
    runs = Runs.from_frame(frame)
    return frame, {name: AS_READ.ranking(runs, name) for name in runs.rerankers}


@pytest.mark.parametrize("variant", ["a", "b", "w"])
def test_it_is_the_mean_overlap_of_the_lists_both_have(variant):
    frame, lists = rankings()
    pairs = list_similarity(lists, variant, persistence=0.7).set_index(["reranker", "other"])
    by_list = {key: part.set_index("doc_id")["score"] for key, part in frame.groupby(["reranker", "query_id"])}
    for first, second in combinations(lists, 2):
        queries = [f"q{q}" for q in range(6) if {(first, f"q{q}"), (second, f"q{q}")} <= set(by_list)]
        values = [
            rank_similarity(by_list[first, q], by_list[second, q], f"rbo_{variant}", persistence=0.7).value
            for q in queries
        ]
        assert pairs.loc[(first, second), "n"] == len(values)
        assert pairs.loc[(first, second), "similarity"] == pytest.approx(np.mean(values))


def test_a_copy_is_told_from_a_list_that_is_only_much_alike():
    _, lists = rankings(copy="r2")
    pairs = list_similarity(lists)
    first = pairs.iloc[0]
    assert (first["reranker"], first["other"]) == ("r2", "copy")
    assert first["similarity"] == pytest.approx(1)
    assert first["identical"] == first["n"] == 6
    assert (pairs["identical"][1:] < pairs["n"][1:]).all()
    text = "r2 and copy have the same lists, ties and all, in all 6 queries both rank: one copies the other."
    assert plain(similarity_finding(pairs)) == text
    assert list_similarity(lists, "a").iloc[0]["similarity"] < 1
    assert list_similarity(lists, queries=["q0"]).iloc[0]["n"] == 1


def test_the_finding_is_true_where_nobody_copies_and_where_there_is_nothing_to_compare():
    _, lists = rankings(rerankers=2)
    text = plain(similarity_finding(list_similarity(lists)))
    assert text == "r0 and r1 have an overlap of 0.222, and the same list in no query."
    none = list_similarity(lists, queries=["q2"])
    assert plain(similarity_finding(none)) == "No two rerankers have lists for the same query."
    assert none["similarity"].isna().all()
    assert "one reranker" in plain(similarity_finding(list_similarity({"r0": lists["r0"]})))
    with pytest.raises(UsageError, match="variant"):
        list_similarity(lists, "c")
