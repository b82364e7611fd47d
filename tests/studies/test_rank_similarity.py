"""Agreement of rankings against their definitions, written out depth by depth and pair by pair."""

from fractions import Fraction
from itertools import combinations, product
from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Runs, UsageError, rank_overlap, tau_b
from metrics.studies.prose import plain
from metrics.studies.rank_similarity import agreement_sentence, list_similarity, similarity_finding
from metrics.ties import Ranking

ITEMS = "abcdef"


rankings = st.lists(st.integers(0, 3), min_size=2, max_size=5).map(
    lambda scores: dict(zip(ITEMS, scores, strict=False))
)


@st.composite
def pairs_of_rankings(draw, *, same_items):
    first = draw(rankings)
    items = list(first) if same_items else draw(st.permutations(ITEMS))[: draw(st.integers(1, 5))]
    return first, {item: draw(st.integers(0, 3)) for item in items}


def shares_within(scores, depth):
    """Item → how much of its tie is within a depth."""
    shares, above = {}, 0
    for score in sorted(set(scores.values()))[::-1]:
        group = [item for item in scores if scores[item] == score]
        shares |= dict.fromkeys(group, Fraction(min(max(depth - above, 0), len(group)), len(group)))
        above += len(group)
    return shares


def agreement_at(first, second, depth):
    c, e = shares_within(first, depth), shares_within(second, depth)
    common = sum(c[item] * e[item] for item in c.keys() & e.keys())
    return float(common) / sqrt(sum(x**2 for x in c.values()) * sum(x**2 for x in e.values()))


@settings(max_examples=60)
@given(pair=pairs_of_rankings(same_items=False), persistence=st.sampled_from([0.5, 0.9]))
def test_the_overlap_sums_the_agreement_of_each_depth_and_extends_the_last(pair, persistence):
    agreements = [agreement_at(*pair, depth) for depth in range(1, min(map(len, pair)) + 1)]
    expected = sum((1 - persistence) * persistence**place * a for place, a in enumerate(agreements))
    expected += agreements[-1] * persistence ** len(agreements)
    assert rank_overlap(*pair, persistence=persistence) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(pair=pairs_of_rankings(same_items=True))
def test_tau_b_divides_by_the_pairs_that_each_ranking_orders(pair):
    first, second = pair
    signs = [
        ((first[a] > first[b]) - (first[a] < first[b]), (second[a] > second[b]) - (second[a] < second[b]))
        for a, b in product(first, first)
    ]
    ordered = sum(s != 0 for s, _ in signs) * sum(t != 0 for _, t in signs)
    expected = sum(s * t for s, t in signs) / sqrt(ordered) if ordered else nan
    assert tau_b(first, second) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(ranking=rankings)
def test_a_ranking_and_itself_agree_wholly_whatever_its_ties(ranking):
    assert rank_overlap(ranking, ranking) == pytest.approx(1)


@pytest.mark.parametrize(
    ("compare", "first", "second", "message"),
    [
        (tau_b, {"a": 1}, {"b": 1}, "same items"),
        (tau_b, {}, {"b": 1}, "empty"),
        (rank_overlap, {"a": nan}, {"a": 1}, "'a' has no finite score"),
        (lambda *pair: rank_overlap(*pair, persistence=1), {"a": 1}, {"a": 1}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_to_do(compare, first, second, message):
    with pytest.raises(UsageError, match=message):
        compare(first, second)


def test_a_published_leaderboard_is_held_against_the_tied_one():
    published = pd.Series({"a": 0.6, "b": 0.5, "c": 0.5, "d": 0.4, "x": 0.9})
    tied = pd.Series({"b": 0.5, "a": 0.55, "c": 0.3, "d": 0.1 + 0.2, "y": 0.1})
    sentence = "Agreement of the two orders (1 if equal): Kendall's τ_b 0.800; rank-biased overlap"
    assert agreement_sentence(tied, published).startswith(sentence)
    assert "τ_b 1.000; rank-biased overlap 1.000." in agreement_sentence(tied, tied)
    assert not agreement_sentence(tied[:1], published)
    assert "τ_b −1.000; rank-biased overlap" in agreement_sentence(tied[:2], -tied[:2])
    assert "(1 if equal): rank-biased overlap" in agreement_sentence(0 * tied, published)


def rankings_of_lists(seed=0, rerankers=4, queries=6, **copies):
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
    return frame, {name: Ranking.of(runs, name) for name in runs.rerankers}


def test_it_is_the_mean_overlap_of_the_lists_both_have():
    frame, lists = rankings_of_lists()
    pairs = list_similarity(lists).set_index(["reranker", "other"])
    by_list = {key: part.set_index("doc_id")["score"] for key, part in frame.groupby(["reranker", "query_id"])}
    for first, second in combinations(lists, 2):
        queries = [f"q{q}" for q in range(6) if {(first, f"q{q}"), (second, f"q{q}")} <= set(by_list)]
        values = [rank_overlap(by_list[first, q], by_list[second, q]) for q in queries]
        assert pairs.loc[(first, second), "n"] == len(values)
        assert pairs.loc[(first, second), "similarity"] == pytest.approx(np.mean(values))


def test_a_copy_is_told_from_a_list_that_is_only_much_alike():
    _, lists = rankings_of_lists(copy="r2")
    pairs = list_similarity(lists)
    first = pairs.iloc[0]
    assert (first["reranker"], first["other"]) == ("r2", "copy")
    assert first["similarity"] == pytest.approx(1)
    assert first["identical"] == first["n"] == 6
    assert (pairs["identical"][1:] < pairs["n"][1:]).all()
    text = "r2 and copy have the same documents and ties in all 6 common queries: one is a copy of the other."
    assert plain(similarity_finding(pairs)) == text
    assert list_similarity(lists, queries=["q0"]).iloc[0]["n"] == 1


def test_the_finding_is_true_without_copies_and_without_pairs():
    _, lists = rankings_of_lists(rerankers=2)
    text = plain(similarity_finding(list_similarity(lists)))
    assert text == "r0 and r1 have a mean overlap of 0.222, and the same list in no query."
    none = list_similarity(lists, queries=["q2"])
    assert plain(similarity_finding(none)) == "No two rerankers have lists for the same query."
    assert none["similarity"].isna().all()
    assert "one reranker" in plain(similarity_finding(list_similarity({"r0": lists["r0"]})))
