"""Rerankers by measures: letters of significance, best means and what papers print."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dashboard import cache
from metrics import compare, evaluate
from metrics.studies.leaderboard import leaderboard
from metrics.studies.measure_table import (
    LETTERED,
    Cell,
    as_latex,
    as_markdown,
    caption,
    cells,
    measure_column,
    significance_letters,
)

MATRICES = (
    st.integers(0, 9).flatmap(lambda n: arrays(bool, (n, n))).map(lambda m: np.triu(m, 1) | np.triu(m, 1).T)
)


@given(MATRICES)
def test_two_share_a_letter_exactly_if_they_do_not_differ(is_different):
    letters = significance_letters(is_different)
    for first in range(len(letters)):
        for second in range(len(letters)):
            assert bool(set(letters[first]) & set(letters[second])) == (not is_different[first, second])


@given(MATRICES)
def test_no_letter_is_superfluous(is_different):
    letters = significance_letters(is_different)
    for letter in set("".join(letters)):
        without = [set(text) - {letter} for text in letters]
        lost = [
            (first, second)
            for first in range(len(letters))
            for second in range(len(letters))
            if not is_different[first, second] and not without[first] & without[second]
        ]
        assert lost


def test_letters_follow_the_order_of_the_items():
    far_apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 1
    assert significance_letters(far_apart) == ["a", "ab", "bc", "cd", "d"]
    assert significance_letters(np.zeros((3, 3), dtype=bool)) == ["a"] * 3
    assert significance_letters(~np.eye(3, dtype=bool)) == ["a", "b", "c"]
    assert significance_letters(~np.eye(53, dtype=bool)) == [""] * 53


@pytest.fixture(scope="module")
def sample():
    ties = ["expected", "optimistic", "pessimistic", "input"]
    return evaluate(cache.sample_board().runs, ["RR", "Hits@10"], ties)


@pytest.fixture(scope="module")
def columns(sample):
    return {name: measure_column(sample, name, compare(sample, name)) for name in ("RR", "Hits@10")}


def test_a_column_has_means_intervals_and_letters_of_the_table_of_pairs(sample, columns):
    column, pairs = columns["RR"], compare(sample, "RR")
    assert column["tied"].to_dict() == sample.means("RR")["expected"].to_dict()
    assert column.index[column["is_best"]].to_list() == ["MiniLM int8"]
    for pair in pairs.itertuples():
        letters = [set(column.loc[name, "letters"]) for name in (pair.baseline, pair.reranker)]
        assert bool(letters[0] & letters[1]) == (pair.p_adjusted >= 0.05)
    low, high = column.loc["BM25", ["low", "high"]]
    assert low < column.loc["BM25", "tied"] < high


def test_more_rerankers_than_letters_tell_apart_have_none(sample, monkeypatch):
    monkeypatch.setattr("metrics.studies.measure_table.LETTERED", 7)
    letters = measure_column(sample, "RR", compare(sample, "RR"))["letters"]
    assert set(letters) == {""}


def test_one_reranker_has_no_letter(sample):
    alone = sample.only(["BM25"])
    assert measure_column(alone, "RR", compare(alone, "RR"))["letters"].to_list() == [""]


@pytest.fixture(scope="module")
def written(sample, columns):
    ties = leaderboard(sample, "RR", "input").iloc[[0, 6]]
    return cells(columns, ties, {name: name for name in ties.index}, "RR")


def test_a_row_has_each_measure_then_tie_ratio_and_gap(written):
    heads, rows = written
    assert heads == ["Reranker", "MTRR", "TMHits@10", "Tie ratio", "RR gap"]
    assert [cell.text for cell in rows[1]] == ["MiniLM grade 0-10", "0.688", rows[1][2].text, "98%", "+0.085"]
    assert rows[0][1] == Cell("0.741", "a", is_best=True, interval=rows[0][1].interval, height=1)
    assert rows[1][1].letters == "b"
    assert rows[0][1].interval.startswith("0.69")


def test_markdown_and_latex_raise_letters_print_the_best_in_bold_and_name_the_test(written):
    note = caption(8, "sign flips, corrected for 28 pairs by the largest statistic")
    text = as_markdown(*written, note)
    assert "| MiniLM int8 | **0.741**<sup>a</sup> |" in text
    assert "sign flips, corrected for 28 pairs by the largest statistic" in text
    paper = as_latex(*written, note)
    assert "\\caption{Tied means, the best in bold. Rerankers that share a letter do not differ" in paper
    assert "MiniLM int8 & \\textbf{0.741}\\textsuperscript{a} &" in paper
    assert "98\\%" in paper
    assert [paper.count(rule) for rule in ("\\toprule", "\\midrule", "\\bottomrule")] == [1, 1, 1]


def test_the_caption_says_what_letters_mean_for_any_number_of_rerankers():
    assert "share a letter" in caption(LETTERED, "test")
    assert caption(LETTERED + 1, "test") == "Tied means, the best in bold."
    assert caption(1, "test") == "Tied means."


def test_a_reranker_without_a_list_has_a_dash_and_no_letter():
    column = pd.DataFrame(
        {"tied": [0.5, np.nan], "low": np.nan, "high": np.nan, "is_best": [True, False], "letters": ""},
        ["a", "b"],
    )
    ties = pd.DataFrame({"tie_ratio": 0.0, "gap": 0.0}, ["b"])
    _, rows = cells({"RR": column}, ties, {"b": "b"}, "RR")
    assert rows[0][1] == Cell("–")
