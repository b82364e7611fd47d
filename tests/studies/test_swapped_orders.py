from itertools import permutations
from math import comb

import numpy as np
import pandas as pd
import pytest
from comparing import VALUES, scored
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Runs, UsageError, evaluate, swapped_orders
from metrics.evaluation import AS_READ
from metrics.studies.leaderboard import leaderboard
from metrics.studies.pairs import compare
from metrics.studies.prose import plain
from metrics.studies.swapped_orders import order_chances, swaps_finding
from metrics.support.wording import small_number


def board(traditional, tied):
    """An evaluation of columns of values."""
    return scored(
        **{
            ties: {f"r{column}": values for column, values in enumerate(np.asarray(table).T)}
            for ties, table in (("input", traditional), ("expected", tied))
        }
    )


BOARDS = st.integers(1, 5).flatmap(
    lambda rerankers: st.integers(1, 6).flatmap(
        lambda queries: st.lists(
            st.lists(VALUES, min_size=2 * rerankers, max_size=2 * rerankers), min_size=queries, max_size=queries
        )
    )
)


@given(BOARDS)
def test_the_rows_are_the_pairs_an_enumeration_finds_in_opposite_orders(table):
    columns = np.array(table)
    traditional, tied = np.split(columns, 2, axis=1)
    before, after = (values.mean(axis=0).round(12) for values in (traditional, tied))
    expected = {
        (f"r{a}", f"r{b}")
        for a, b in permutations(range(len(before)), 2)
        if before[a] > before[b] and after[a] < after[b]
    }
    evaluation = board(traditional, tied)
    rows = swapped_orders(evaluation, "RR", "input")
    assert set(zip(rows["a"], rows["b"], strict=True)) == expected
    assert len(rows) == len(expected)
    assert rows["tied_difference"].is_monotonic_increasing
    pairs = compare(evaluation, "RR", "expected").set_index(["baseline", "reranker"])
    for row in rows.itertuples():
        tested = pairs.loc[min(row.a, row.b), max(row.a, row.b)]
        assert (row.p, row.p_adjusted) == pytest.approx(
            (tested["p"], tested["p_adjusted"]), abs=1e-9, nan_ok=True
        )
        assert row.verdict == ("swaps, significant" if row.p_adjusted < 0.05 else "swaps")
        column = {name: int(name[1:]) for name in (row.a, row.b)}
        assert row.difference == pytest.approx(before[column[row.a]] - before[column[row.b]])
        assert row.tied_difference == pytest.approx(after[column[row.a]] - after[column[row.b]])
        places = [
            1 + int((values > values[column[name]]).sum()) for values in (before, after) for name in column
        ]
        assert [row.place_a, row.place_b, row.tied_place_a, row.tied_place_b] == places


def test_rerankers_level_in_one_of_the_orders_do_not_swap():
    tied = [[0.5, 0.5, 0.4]]
    assert not len(swapped_orders(board([[0.3, 0.6, 0.1]], tied), "RR", "input"))
    assert not len(swapped_orders(board([[0.5, 0.5 + 1e-15, 0.1]], [[0.6, 0.5, 0.4]]), "RR", "input"))


def test_a_swap_whose_common_queries_say_otherwise_is_not_significant():
    common = {f"q{number}": 0.4 + 0.01 * (number % 3) for number in range(9)}
    ahead = {query: value + 0.3 + 0.01 * (int(query[1]) % 2) for query, value in common.items()}
    only_a = {f"z{number}": 0.0 for number in range(12)}
    tied = {"a": ahead | only_a, "b": common}
    before = {"a": dict.fromkeys(tied["a"], 1.0), "b": dict.fromkeys(common, 0.1)}
    evaluation = scored(input=before, expected=tied)
    row = swapped_orders(evaluation, "RR", "input").loc[0]
    assert row["p_adjusted"] < 0.05
    assert (row["a"], row["b"], row["verdict"]) == ("a", "b", "swaps")


def test_a_swap_on_one_query_is_told_without_p_and_significance():
    evaluation = scored(input={"a": {"q": 1.0}, "b": {"q": 0.5}}, expected={"a": {"q": 0.2}, "b": {"q": 0.5}})
    text = plain(swaps_finding(swapped_orders(evaluation, "RR", "input"), 2, "MRR"))
    assert text.startswith("1 of 1 pair changes order when ties are averaged. By file order, a is")
    assert text.endswith("With ties averaged, b is 0.3000 above.")


LISTS = pd.DataFrame(
    [
        (name, query, f"{query}{document}", score, grade)
        for name, tied in (("lucky", True), ("sound", False), ("last", False))
        for query in ("q1", "q2", "q3")
        for document, score, grade in (
            [("a", 1.0, 1), ("b", 1.0, 0), ("c", 1.0, 0)]
            if tied
            else [("b", 3.0, 0), ("a", 2.0, 1), ("c", 1.0, 0)]
            if name == "last"
            else [("a", 3.0, 1), ("b", 2.0, 0)]
            if query != "q1"
            else [("b", 3.0, 0), ("a", 2.0, 1)]
        )
    ],
    columns=["reranker", "query_id", "doc_id", "score", "relevance"],
)


def test_the_chance_of_the_sorts_order_is_that_of_all_orders_of_the_ties():
    runs = Runs.from_frame(LISTS)
    evaluation = evaluate(runs, ["RR", "TsRR"], ["input", "expected"])
    swaps = swapped_orders(evaluation, "RR", "input")
    assert swaps[["a", "b"]].to_numpy().tolist() == [["lucky", "sound"]]
    (above,) = order_chances(swaps, runs, "RR", AS_READ)["above"]
    orders = np.array(list(np.ndindex(3, 3, 3)))
    exact = ((1 / (1 + orders)).mean(axis=1) > 5 / 6 + 1e-9).mean()
    assert abs(above - exact) <= 4 * np.sqrt(exact * (1 - exact) / 1000)
    assert order_chances(swaps.head(0), runs, "RR", AS_READ)["above"].tolist() == []
    assert not len(swapped_orders(evaluation, "TsRR", "input"))
    p = swaps["p_adjusted"].item()
    assert p > 0.05
    text = plain(swaps_finding(swaps, 3, "MRR"))
    assert text.startswith("1 of 3 pairs changes order when ties are averaged, which is not significant.")
    assert "By file order, lucky is 0.1667 MRR above sound." in text
    assert f"With ties averaged, sound is 0.2222 above (p = {p:.3f}, corrected for all pairs)." in text


@pytest.mark.parametrize(
    ("n_rerankers", "sentence"),
    [
        (0, "No pair of rerankers changes order when ties are averaged."),
        (1, "There is only one reranker, so there is nothing to compare."),
        (2, "No pair of rerankers changes order when ties are averaged."),
    ],
)
def test_a_board_without_swaps_says_so(n_rerankers, sentence):
    values = np.ones((2, max(1, n_rerankers)))
    swaps = swapped_orders(board(values, values), "RR", "input")
    assert plain(swaps_finding(swaps, n_rerankers, "MRR")) == sentence


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(2, 6))
def test_the_finding_counts_the_rows(seed, n_rerankers):
    random = np.random.default_rng(seed)
    tied = random.random((20, n_rerankers)) + 0.3 * np.arange(n_rerankers)
    swaps = swapped_orders(board(-tied + random.random(), tied), "RR", "input")
    n, n_significant = len(swaps), int((swaps["p_adjusted"] < 0.05).sum())
    text = plain(swaps_finding(swaps, n_rerankers, "MRR"))
    if n == 1:
        words = "which is significant" if n_significant else "which is not significant"
        assert text.startswith(f"1 of {comb(n_rerankers, 2)} pair")
    else:
        words = f"{'all' if n == n_significant else small_number(n_significant)} of them significant"
        assert text.startswith(f"{n} of {comb(n_rerankers, 2)} pairs change order ")
    assert f" averaged, {words}. " in text


def test_an_order_that_was_not_evaluated_is_named():
    with pytest.raises(UsageError, match=r"docid_desc was not evaluated\. There are: input, expected"):
        swapped_orders(board([[1.0]], [[1.0]]), "RR", "docid_desc")


def test_what_swaps_is_read_off_the_places_of_the_leaderboard():
    runs = Runs.from_frame(LISTS)
    evaluation = evaluate(runs, ["RR"], ["input", "expected", "optimistic", "pessimistic"])
    rows = leaderboard(evaluation, "RR", "input")
    swap = swapped_orders(evaluation, "RR", "input").loc[0]
    assert (
        swap[["place_a", "tied_place_a"]].tolist()
        == rows.loc["lucky", ["traditional_rank", "tied_rank"]].tolist()
    )
