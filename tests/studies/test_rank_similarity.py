"""Rank similarity against enumeration of every way to break the ties of both rankings, in exact fractions."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Runs, UsageError, rank_overlap, rank_similarity
from metrics.evaluation import AS_READ
from metrics.studies.prose import plain
from metrics.studies.rank_similarity import (
    SIMILARITIES,
    leaderboard_similarity,
    list_similarity,
    similarity_finding,
    similarity_words,
)

HALF = Fraction(1, 2)
ITEMS = "abcdef"


def linear_orders(scores):
    """Every order that the ties of a ranking allow."""
    groups = [
        [item for item in scores if scores[item] == score] for score in sorted(set(scores.values()))[::-1]
    ]
    for parts in product(*(permutations(group) for group in groups)):
        yield [item for part in parts for item in part]


def tau_of(first, second):
    pairs = [(a, b) for place, a in enumerate(first) for b in first[place + 1 :]]
    agreements = sum(1 if second.index(a) < second.index(b) else -1 for a, b in pairs)
    return Fraction(agreements, len(pairs))


def tau_ap_of(truth, judged):
    shares = []
    for place in range(1, len(judged)):
        right = sum(truth.index(above) < truth.index(judged[place]) for above in judged[:place])
        shares.append(Fraction(right, place))
    return 2 * sum(shares) / (len(judged) - 1) - 1


def overlap_of(first, second):
    """Rank-biased overlap of persistence 1/2."""
    depth = min(len(first), len(second))
    agreements = [Fraction(len({*first[:d]} & {*second[:d]}), d) for d in range(1, depth + 1)]
    return sum(agreement * HALF**d for d, agreement in enumerate(agreements, 1)) + agreements[-1] * HALF**depth


def every_value(measure, first, second):
    strict = {"tau_b": tau_of, "tau_ap": tau_ap_of}.get(measure, overlap_of)
    return [strict(*orders) for orders in product(linear_orders(first), linear_orders(second))]


rankings = st.lists(st.integers(0, 3), min_size=2, max_size=5).map(
    lambda scores: dict(zip(ITEMS, scores, strict=False))
)


@st.composite
def pairs_of_rankings(draw, *, same_items):
    first = draw(rankings)
    items = list(first) if same_items else draw(st.permutations(ITEMS))[: draw(st.integers(1, 5))]
    return first, {item: draw(st.integers(0, 3)) for item in items}


@pytest.mark.parametrize("measure", SIMILARITIES)
@settings(max_examples=40)
@given(data=st.data())
def test_mean_least_and_most_are_those_of_every_way_to_break_the_ties(measure, data):
    first, second = data.draw(pairs_of_rankings(same_items=measure.startswith("tau")))
    values = every_value(measure, first, second)
    similarity = rank_similarity(first, second, measure, persistence=0.5)
    assert similarity.worst == pytest.approx(float(min(values)), abs=1e-12)
    assert similarity.best == pytest.approx(float(max(values)), abs=1e-12)
    assert similarity.expected == pytest.approx(float(sum(values) / len(values)), abs=1e-12)


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
    assert rank_similarity(first, second).value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(ranking=rankings)
def test_a_ranking_and_itself_agree_wholly_where_its_ties_are_shared(ranking):
    assert rank_similarity(ranking, ranking, "rbo_b").value == pytest.approx(1)
    assert rank_similarity(ranking, ranking, "rbo_w").value == pytest.approx(1)
    assert rank_similarity(ranking, ranking, "rbo_a").best == pytest.approx(1)


def test_the_variants_of_overlap_say_different_things_of_one_tie():
    tied, strict = {"a": 1, "b": 1}, {"a": 2, "b": 1}
    values = {name: rank_similarity(tied, strict, f"rbo_{name}", persistence=0.5).value for name in "wab"}
    # depth 1: w finds {a, b} beside {a}, 2/3; a and b find half of a: 1/2, and 1/2 over sqrt(1/2); depth 2: all
    at_first = {"w": 2 / 3, "a": 1 / 2, "b": sqrt(1 / 2)}
    assert values == {name: pytest.approx(agreement / 2 + 1 / 2) for name, agreement in at_first.items()}


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ({"a": 1}, {"b": 1}, {}, "same items"),
        ({}, {"b": 1}, {}, "empty"),
        ({"a": nan}, {"a": 1}, {}, "'a' has no finite score"),
        ({"a": 1}, {"a": 1}, {"measure": "spearman"}, "tau_b, tau_ap"),
        ({"a": 1}, {"a": 1}, {"persistence": 1}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_to_do(first, second, options, message):
    with pytest.raises(UsageError, match=message):
        rank_similarity(first, second, **options)


def test_a_published_leaderboard_is_held_against_the_tied_one_by_every_measure():
    published = pd.Series({"a": 0.6, "b": 0.5, "c": 0.5, "d": 0.4, "x": 0.9})
    tied = pd.Series({"b": 0.5, "a": 0.55, "c": 0.3, "d": 0.1 + 0.2, "y": 0.1})
    table = leaderboard_similarity(tied, published)
    assert list(table.index) == list(SIMILARITIES)
    exact = rank_similarity({"a": 3, "b": 2, "c": 1, "d": 1}, {"a": 3, "b": 2, "c": 2, "d": 1}, "tau_ap")
    assert tuple(table.loc["tau_ap", list(exact._fields)]) == pytest.approx(tuple(exact))
    assert table.loc["tau_b", ["worst", "best"]].tolist() == pytest.approx([1 / 3, 1])
    sentence = "range over tie orders in brackets): Kendall's τ_b 0.800 (0.333 to 1.000); τ_AP"
    assert sentence in similarity_words(table)
    assert not len(leaderboard_similarity(tied[:1], published))
    assert not similarity_words(leaderboard_similarity(tied[:1], published))
    reversed_order = similarity_words(leaderboard_similarity(tied[:2], -tied[:2]))
    assert "τ_b −1.000; τ_AP −1.000; rank-biased overlap" in reversed_order
    assert "overlap" in similarity_words(leaderboard_similarity(0 * tied, published))


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
    return frame, {name: AS_READ.ranking(runs, name) for name in runs.rerankers}


@pytest.mark.parametrize("variant", ["a", "b", "w"])
def test_it_is_the_mean_overlap_of_the_lists_both_have(variant):
    frame, lists = rankings_of_lists()
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
    _, lists = rankings_of_lists(copy="r2")
    pairs = list_similarity(lists)
    first = pairs.iloc[0]
    assert (first["reranker"], first["other"]) == ("r2", "copy")
    assert first["similarity"] == pytest.approx(1)
    assert first["identical"] == first["n"] == 6
    assert (pairs["identical"][1:] < pairs["n"][1:]).all()
    text = "r2 and copy have the same documents and ties in all 6 common queries: one is a copy of the other."
    assert plain(similarity_finding(pairs)) == text
    assert list_similarity(lists, "a").iloc[0]["similarity"] < 1
    assert list_similarity(lists, queries=["q0"]).iloc[0]["n"] == 1


def test_the_finding_is_true_without_copies_and_without_pairs():
    _, lists = rankings_of_lists(rerankers=2)
    text = plain(similarity_finding(list_similarity(lists)))
    assert text == "r0 and r1 have a mean overlap of 0.222, and the same list in no query."
    none = list_similarity(lists, queries=["q2"])
    assert plain(similarity_finding(none)) == "No two rerankers have lists for the same query."
    assert none["similarity"].isna().all()
    assert "one reranker" in plain(similarity_finding(list_similarity({"r0": lists["r0"]})))
    with pytest.raises(UsageError, match="variant"):
        list_similarity(lists, "c")


def groups_of(scores):
    """Tie groups of a ranking, first one first."""
    return [
        tuple(item for item in scores if scores[item] == score) for score in sorted(set(scores.values()))[::-1]
    ]


def contributions(groups, depth, variant):
    """Item → how much of it is within a depth; nothing of what is not there."""
    found, above = {}, 0
    for group in groups:
        within = min(max(depth - above, 0), len(group))
        share = Fraction(within > 0) if variant == "w" else Fraction(within, len(group))
        found |= dict.fromkeys(group, share) if share else {}
        above += len(group)
    return found


def agreement_of(first, second, depth, variant, *, more=Fraction(0)):
    """A(d) of two rankings that are known to this depth, with more in common than they say."""
    c, e = contributions(first, depth, variant), contributions(second, depth, variant)
    common = sum((c[item] * e[item] for item in c.keys() & e.keys()), more)
    match variant:
        case "w":
            return 2 * common / (len(c) + len(e))
        case "a":
            return common / depth
    return float(common) / sqrt(sum(x**2 for x in c.values()) * sum(x**2 for x in e.values()))


def continued(groups, items):
    return [*groups, *((item,) for item in items)]


def sum_of(agreements):
    return sum(HALF**depth * agreement for depth, agreement in enumerate(agreements, 1))


@st.composite
def uneven_rankings(draw):
    """A ranking and a longer one, or one as long, of three items at most."""
    length = draw(st.integers(1, 3))
    items = [draw(st.permutations("abcd"))[:n] for n in (draw(st.integers(1, length)), length)]
    return tuple({item: draw(st.integers(0, 2)) for item in names} for names in items)


@pytest.mark.parametrize("variant", "wab")
@settings(max_examples=60)
@given(pair=uneven_rankings())
def test_least_and_largest_overlap_are_those_of_every_way_to_continue_untied(variant, pair):
    short, long = map(groups_of, pair)
    s, n = map(len, pair)
    sums = []
    for first in permutations([*({*pair[1]} - {*pair[0]}), *"xyz"], n + 1 - s):
        for second in {*pair[0], *first, "v"} - {*pair[1]}:
            lists = continued(short, first), continued(long, [second])
            agreements = [agreement_of(*lists, depth, variant) for depth in range(1, n + 2)]
            sums.append((sum_of(agreements), len({*pair[0], *first[: n - s]} & {*pair[1]})))
    (least, fewest), (largest, most) = min(sums), max(sums)
    deeper = range(n + 2, 90)
    least += sum(HALF**depth * Fraction(fewest, depth) for depth in deeper)
    largest += sum(HALF**depth * min(Fraction(1), Fraction(most + 2 * (depth - n), depth)) for depth in deeper)
    for rankings_ in (pair, pair[::-1]):
        overlap = rank_overlap(*rankings_, variant, persistence=0.5)
        assert overlap.min == pytest.approx(float(least), abs=1e-12)
        assert overlap.max == pytest.approx(float(largest), abs=1e-12)
        assert overlap.residual == pytest.approx(float(largest - least), abs=1e-12)
        assert overlap.min - 1e-12 <= overlap.ext <= overlap.max + 1e-12


@pytest.mark.parametrize("variant", "wab")
@settings(max_examples=60)
@given(pair=pairs_of_rankings(same_items=False))
def test_extrapolated_overlap_takes_unknown_items_to_agree_as_the_known_ones(variant, pair):
    short, long = sorted(pair, key=len)
    s, n = len(short), len(long)
    last = agreement_of(groups_of(short), groups_of(long), s, variant)
    agreements = []
    for depth in range(1, n + 1):
        unknown = range(max(0, depth - s))
        seen = contributions(groups_of(long), depth, variant)
        lacking = [share for item, share in seen.items() if item not in short]
        more = len(unknown) * last * sum(lacking) / max(1, len(lacking))
        lists = continued(groups_of(short), unknown), groups_of(long)
        agreements.append(agreement_of(*lists, depth, variant, more=more))
    exact = sum_of(agreements) + agreements[-1] * HALF**n
    assert rank_overlap(*pair, variant, persistence=0.5).ext == pytest.approx(float(exact), abs=1e-12)


def extrapolated_of(first, second):
    """Equation 32 of Webber, Moffat & Zobel: overlap of two lists without ties, of persistence 1/2."""
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)
    x = [len({*short[:depth]} & {*long[:depth]}) for depth in range(n + 1)]
    total = sum(Fraction(x[depth], depth) * HALF**depth for depth in range(1, n + 1))
    total += sum(Fraction(x[s] * (depth - s), s * depth) * HALF**depth for depth in range(s + 1, n + 1))
    return total + (Fraction(x[n] - x[s], n) + Fraction(x[s], s)) * HALF**n


@given(pair=pairs_of_rankings(same_items=False))
def test_extrapolated_overlap_is_the_mean_over_orders_of_the_shorter_list(pair):
    short, long = sorted(pair, key=len)
    long = {item: -place for place, item in enumerate(long)}
    values = [extrapolated_of(order, [*long]) for order in linear_orders(short)]
    mean = sum(values) / len(values)
    assert rank_overlap(short, long, "a", persistence=0.5).ext == pytest.approx(float(mean), abs=1e-12)
    if len(values) == 1:
        for variant in "wb":
            assert rank_overlap(long, short, variant, persistence=0.5).ext == pytest.approx(float(mean))


@pytest.mark.parametrize("variant", "wab")
@given(pair=pairs_of_rankings(same_items=True))
def test_extrapolated_overlap_of_equal_lengths_is_that_of_rank_similarity(variant, pair):
    assert rank_overlap(*pair, variant).ext == pytest.approx(rank_similarity(*pair, f"rbo_{variant}").value)


def test_nothing_or_everything_in_common_bounds_what_unknown_items_leave_open():
    prefix, longer = {"a": 2, "b": 1}, {"a": 4, "b": 3, "c": 2, "d": 1}
    for variant in "wab":
        assert rank_overlap(prefix, longer, variant).max == pytest.approx(1)
        assert rank_overlap(prefix, longer, variant).ext == pytest.approx(1)
        assert rank_overlap({"x": 1}, longer, variant).min == 0
    assert rank_overlap(prefix, longer, persistence=0.99).residual > rank_overlap(prefix, longer).residual
    for options in ({"variant": "c"}, {"persistence": 1}):
        with pytest.raises(UsageError, match="variant among"):
            rank_overlap(prefix, longer, **options)
