"""The possible values of a list, held against every ordering in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from drawing import frame, lists
from enumeration import Doc, all_orderings, every_value, first_rank, in_order, judged_list, value_in_order
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs
from metrics.evaluation import ScoringOptions
from metrics.studies import permutations
from metrics.studies.one_list import ladder
from metrics.studies.permutations import MAX_RANKS, MAX_ROWS, possible_values, sum_of_values
from metrics.studies.prose import plain
from metrics.ties import Ranking

SHORT = lists(ids=st.text("abZ9", min_size=1, max_size=2)).map(
    lambda docs: [doc._replace(is_judged=True) for doc in docs[:5]]
)
BY_VALUE = ["AP", "P@2", "R@2", "nDCG@3", "nDCG-linear@2", "RBP(0.8)", "Rprec", "DR@2", "Judged@2", "Div@2"]
BY_RANK = ["RR", "RR@2", "Hits@2"]
ORDERS = ["input", "docid_asc", "docid_desc", "optimistic", "pessimistic"]


def ranking(docs, relevant_from=1):
    table = {"other": [Doc("x", 1, 1), Doc("y", 1, 0)], "q": docs, "last": [Doc("z", 1, 1)]}
    return Ranking.of(Runs.from_frame(frame({"A": table})), "A", ScoringOptions(relevant_from=relevant_from))


def flat(documents, relevant, above=0):
    """One tie, its relevant documents last, below non-relevant documents without ties."""
    docs = [Doc(f"a{at}", 1 + above - at) for at in range(above)]
    return ranking(docs + [Doc(f"d{at}", 0, at >= documents - relevant) for at in range(documents)])


def share(values, low, high):
    inside = [value for value in values if low - 1e-9 <= value <= high + 1e-9]
    return Fraction(len(inside), len(values)), inside


@given(SHORT, st.sampled_from(BY_VALUE), st.sampled_from(ORDERS), st.sampled_from([1, 2]))
def test_each_row_has_the_chance_and_mean_of_its_values_in_the_enumeration(docs, measure, order, relevant_from):
    possible = possible_values(ranking(docs, relevant_from), "q", measure, order)
    rows = possible.rows
    listing = judged_list(docs, relevant_from)
    values = [float(value) for value in every_value(measure, listing)]
    assert len(rows) <= MAX_ROWS
    assert possible.draws == 0
    for row in rows.itertuples():
        chance, inside = share(values, row.low, row.high)
        assert row.chance == pytest.approx(float(chance))
        assert row.value == pytest.approx(np.mean(inside))
        assert row.standard_error == 0
    assert rows["chance"].sum() == pytest.approx(1)
    assert rows["value"].is_monotonic_decreasing
    assert len(rows) == min(len({round(value, 9) for value in values}), len(rows))
    assert rows["value"] @ rows["chance"] == pytest.approx(possible.scores.loc[measure, "expected"], abs=1e-11)
    assert rows["beside"] @ rows["chance"] == pytest.approx(
        possible.scores.loc["Hits@3", "expected"], abs=1e-11
    )


@given(SHORT, st.sampled_from(BY_RANK), st.sampled_from([1, 2]))
def test_a_measure_of_the_first_rank_has_a_row_for_each_rank_with_its_chance(docs, measure, relevant_from):
    possible = possible_values(ranking(docs, relevant_from), "q", measure, "input")
    orders = [[doc.grade >= relevant_from for doc in order] for order in all_orderings(docs)]
    ranks = [first_rank(order) for order in orders]
    listing = judged_list(docs, relevant_from)
    for row in possible.rows.itertuples():
        rank = None if pd.isna(row.first_rank) else row.first_rank
        assert row.chance == pytest.approx(ranks.count(rank) / len(ranks))
        with_rank = [order for order, first in zip(all_orderings(docs), ranks, strict=True) if first == rank]
        assert row.value == pytest.approx(float(value_in_order(measure, listing, with_rank[0])))
        assert row.beside == pytest.approx(float(value_in_order("Hits@3", listing, with_rank[0])))
    assert len(possible.rows) == len(set(ranks))


@given(SHORT, st.sampled_from([*BY_VALUE, *BY_RANK]), st.sampled_from(["input", "docid_asc", "docid_desc"]))
def test_each_row_shows_an_order_that_the_ties_allow_and_that_has_its_value(docs, measure, order):
    tied = ranking(docs)
    possible = possible_values(tied, "q", measure, order)
    names, listing = ladder(tied, "q")["doc_id"], judged_list(docs)
    orders = {tuple(doc.id for doc in each): each for each in all_orderings(listing.docs)}
    for row in possible.rows.itertuples():
        example = orders[tuple(names.iloc[list(row.order)])]
        value = float(value_in_order(measure, listing, example))
        assert row.low - 1e-9 <= value <= row.high + 1e-9
        if not pd.isna(row.first_rank):
            assert first_rank([doc.grade >= 1 for doc in example]) == row.first_rank
    own = possible.rows[possible.rows["is_traditional"]]
    assert [names.iloc[position] for position in own["order"].item()] == [
        doc.id for doc in in_order(docs, order)
    ]


def test_a_tie_of_a_thousand_has_a_row_for_eleven_ranks_and_merges_the_others():
    possible = possible_values(flat(1000, 1), "q", "RR", "input")
    rows = possible.rows
    assert rows["first_rank"].to_list() == list(range(1, 13))
    assert rows["last_rank"].to_list() == [*range(1, 12), 1000]
    assert rows["chance"].to_list() == pytest.approx([0.001] * 11 + [0.989])
    assert rows["value"].iloc[-1] == pytest.approx(math.fsum(1 / rank for rank in range(12, 1001)) / 989)
    assert rows["is_traditional"].to_list() == [False] * 11 + [True]
    assert rows["low"].iloc[-1] == 1 / 1000
    assert {len(order) for order in rows["order"]} == {MAX_RANKS}


def test_down_to_a_cut_off_few_orders_are_left_of_a_tie_of_a_hundred_thousand():
    possible = possible_values(flat(100_000, 400), "q", "nDCG@10", "input")
    assert possible.draws == 0
    none = math.prod((99_600 - place) / (100_000 - place) for place in range(10))
    assert possible.rows["chance"].iloc[-1] >= none
    assert possible.rows["value"] @ possible.rows["chance"] == pytest.approx(0.004, rel=1e-9)


@pytest.mark.parametrize("measure", ["AP", "nDCG", "DR@5"])
def test_draws_find_the_chances_within_their_standard_error_where_orders_are_too_many(measure, monkeypatch):
    docs = [Doc(f"d{at}", -(at // 6), at % 4 == 1) for at in range(12)]
    exact = possible_values(ranking(docs), "q", measure, "input").rows
    monkeypatch.setattr(permutations, "CELLS", 0)
    monkeypatch.setattr(permutations, "_MOST_ORDERS", 0)
    possible = possible_values(ranking(docs), "q", measure, "input")
    assert possible.draws == 1000
    for row in possible.rows.itertuples():
        inside = exact[exact["value"].between(row.low - 1e-9, row.high + 1e-9)]
        if len(exact) < MAX_ROWS:
            assert abs(row.chance - inside["chance"].sum()) <= 5 * max(row.standard_error, 0.002)
        assert row.standard_error == pytest.approx(math.sqrt(row.chance * (1 - row.chance) / 1000))
    mean = possible.rows["value"] @ possible.rows["chance"]
    assert mean == pytest.approx(possible.scores.loc[measure, "expected"], abs=0.03)


def test_an_order_that_no_draw_met_has_a_row_of_its_own_if_it_is_the_traditional_one():
    docs = [Doc(f"d{at}", 1, at >= 900) for at in range(1000)]
    rows = possible_values(ranking(docs), "q", "AP", "input").rows
    assert rows[rows["is_traditional"]]["chance"].to_list() == [0]
    assert rows["is_traditional"].iloc[-1]


@pytest.mark.parametrize(("above", "start"), [(0, 1), (12, 1), (13, 13), (40, 40)])
def test_example_orders_show_the_tie_that_matters(above, start):
    possible = possible_values(flat(100, 2, above), "q", "RR", "input")
    assert possible.start == start


@pytest.mark.parametrize("documents", [2, 3, 4])
def test_a_short_list_is_shown_whole_however_late_its_tie(documents):
    possible = possible_values(flat(documents, 1, above=12), "q", "RR", "input")
    assert possible.start == 1
    assert {len(order) for order in possible.rows["order"]} == {12 + documents}


def test_a_list_without_relevant_documents_has_one_value():
    possible = possible_values(ranking([Doc("a", 1), Doc("b", 1)]), "q", "RR", "input")
    assert possible.rows[["value", "chance", "beside"]].to_numpy().tolist() == [[0, 1, 0]]
    assert possible.rows["first_rank"].isna().all()


@pytest.mark.parametrize(
    ("single_list", "measure", "text"),
    [
        (flat(5, 3), "RR", "60% × 1 + 30% × ½ + 10% × ⅓ = 0.783"),
        (flat(9, 1), "RR", "1/9 × 1 + 1/9 × ½ + 1/9 × ⅓ + … + 1/9 × ⅑ = 0.314"),
        (flat(13, 1), "RR", "1/13 × 1 + 1/13 × ½ + 1/13 × ⅓ + … + 2/13 × 0.080 = 0.245"),
        (flat(1000, 1), "Hits@3", "0.1% × 1 + 0.1% × 1 + 0.1% × 1 + … + 98.9% × 0 = 0.0030"),
        (flat(5, 3, above=40), "RR", "60% × 1/41 + 30% × 1/42 + 10% × 1/43 = 0.024"),
        (flat(2, 1), "nDCG", "50% × 1 + 50% × 0.631 = 0.815"),
        (flat(1, 0), "RR", "100% × 0 = 0.000"),
    ],
)
def test_the_tied_value_is_written_as_a_sum(single_list, measure, text):
    assert plain(sum_of_values(possible_values(single_list, "q", measure, "input"))) == text


def test_the_sentence_of_draws_says_how_many_and_how_sure():
    text = plain(sum_of_values(possible_values(flat(1000, 100), "q", "AP", "input")))
    assert text.startswith("Chances from 1,000 random orders, each with a standard error of at most 1.")
    assert text.endswith("is exact.")
