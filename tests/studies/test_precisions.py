from functools import partial

import numpy as np
import pandas as pd
import pytest
from drawing import frame, tables
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.evaluation import ScoringOptions
from metrics.simulation import LlmReranker, simulate
from metrics.studies.precisions import (
    GRADES,
    PRECISIONS,
    coarser_runs,
    grade_scores,
    growth_curve,
    growth_finding,
    precision_curve,
    precision_finding,
)
from metrics.studies.prose import plain

FINE = {"fine": LlmReranker(0, 0), "coarse": LlmReranker(0.3, 5)}


@pytest.fixture(scope="module")
def runs():
    return simulate(FINE, 60)


@pytest.fixture(scope="module")
def curve(runs):
    return precision_curve(runs, "RR")


@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "AP"])
def test_every_row_is_what_evaluate_says_under_that_precision(runs, measure):
    curve = precision_curve(runs, measure, "docid_desc", [one for one in PRECISIONS if one != GRADES])
    ties = {"tied": "expected", "worst": "pessimistic", "best": "optimistic", "traditional": "docid_desc"}
    for row in curve.itertuples():
        evaluation = evaluate(runs, measure, list(ties.values()), precision=row.precision)
        means = evaluation.scores.loc[row.reranker][measure].mean()
        assert [getattr(row, name) for name in ties] == pytest.approx([means[how] for how in ties.values()])
        assert row.tie_ratio == pytest.approx(evaluation.lists.loc[row.reranker]["tie_ratio"].mean())


def test_grades_are_scored_like_runs_that_hold_them(runs):
    table = pd.concat([one.to_pandas().assign(reranker=name) for name, one in runs.tables.items()])
    table["score"] = table.groupby("reranker")["score"].transform(
        lambda scores: grade_scores(scores.to_numpy())
    )
    values = evaluate(Runs.from_frame(table), "RR", "expected").scores["RR", "expected"]
    curve = precision_curve(runs, "RR", precisions=[GRADES]).set_index("reranker")["tied"]
    assert curve.to_dict() == pytest.approx(values.groupby("reranker").mean().to_dict())


@pytest.mark.parametrize("measure", ["RR", "AP"])
def test_the_spread_is_that_of_random_orders(runs, measure):
    row = precision_curve(runs, measure, precisions=["decimals:1"]).iloc[0]
    seeds = [f"random:{seed}" for seed in range(300)]
    shuffled_means = evaluate(runs, measure, seeds, precision="decimals:1").scores.loc["fine"][measure].mean()
    assert shuffled_means.std() == pytest.approx(row["std"], rel=0.15)
    assert shuffled_means.mean() == pytest.approx(row["tied"], abs=4 * row["std"] / np.sqrt(300))


def test_queries_and_policies_count_as_in_evaluate(runs):
    query_ids = runs.queries["fine"].to_pylist()[:7]
    row = precision_curve(runs, "RR", precisions=["decimals:1"], queries=query_ids).iloc[0]
    values = evaluate(runs, "RR", "expected", precision="decimals:1").scores.loc["fine"]
    assert row["tied"] == pytest.approx(values.loc[query_ids].mean().item())


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30))
def test_grades_are_whole_from_0_to_10_and_never_turn_an_order(scores):
    values = np.array(scores)
    grades = grade_scores(values)
    assert set(grades) <= set(range(11))
    assert (np.diff(grades[np.argsort(values, kind="stable")]) >= 0).all()


@given(tables())
def test_no_precision_turns_an_order_round(table):
    runs = Runs.from_frame(frame(table))
    for precision in PRECISIONS:
        fewer = coarser_runs(runs, precision)
        for name in runs.rerankers:
            before, after = (one.tables[name]["score"].to_numpy() for one in (runs, fewer))
            rising = after[np.argsort(before, kind="stable")]
            assert (rising[1:] >= rising[:-1]).all()


def test_the_finding_tells_a_file_whose_order_keeps_what_the_digits_lose():
    table = simulate({"fine": LlmReranker(0, 0)}, 60, performance=0).tables["fine"].to_pandas()
    by_score = table.sort_values(["query_id", "score"], ascending=[True, False], kind="stable")
    hidden, visible = (
        plain(precision_finding(precision_curve(Runs.from_frame(rows), "RR"), "MRR"))
        for rows in (by_score, table)
    )
    assert "hides this" in hidden
    assert "hides this" not in visible


def test_one_decimal_does_and_two_do():
    rows = pd.DataFrame(
        {"query_id": "q", "doc_id": list("abcd"), "score": [0.9, 0.7, 0.54, 0.51], "relevance": [1, 0, 0, 0]}
    )
    curve = precision_curve(Runs.from_frame(rows), "RR", precisions=["float64", "decimals:1", "decimals:0"])
    assert plain(precision_finding(curve, "MRR")).startswith("1 decimal is enough: 50%")


def test_the_finding_of_scores_that_no_format_ties_says_so():
    runs = Runs.from_frame(
        pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [10, 0], "relevance": [1, 0]})
    )
    text = plain(precision_finding(precision_curve(runs, "RR"), "MRR"))
    assert "The number of digits does not matter here." in text
    assert "case change by less than 1% of MTRR. " in text


def test_no_share_of_a_score_of_0_is_said():
    rows = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [0.51, 0.5], "relevance": [0, 0]})
    text = plain(precision_finding(precision_curve(Runs.from_frame(rows), "RR"), "MRR"))
    assert "In every format, MTRR and its range from worst to best case are 0. " in text


def test_the_finding_of_scores_that_differ_late_says_that_every_digit_counts():
    scores = 1 + np.arange(8) * 1e-12
    table = pd.DataFrame({"query_id": "q", "doc_id": list("abcdefgh"), "score": scores, "relevance": 0})
    table.loc[3, "relevance"] = 1
    curve = precision_curve(Runs.from_frame(table), "RR", precisions=["float64", "float32", "decimals:3"])
    assert plain(precision_finding(curve, "MRR")).startswith(
        "Every digit counts. With float32, 100% of the documents tie"
    )


def test_the_finding_of_nothing_scored_says_so():
    table = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [1, 2], "relevance": 0})
    curve = precision_curve(Runs.from_frame(table), "RR", scoring=ScoringOptions(empty="skip"))
    assert plain(precision_finding(curve, "MRR")).startswith("No list is scored")


def test_fewer_digits_are_not_dismissed_for_a_measure_with_its_own_rule_for_ties():
    rows = pd.DataFrame(
        {"query_id": "q", "doc_id": list("abcd"), "score": [0.9, 0.7, 0.54, 0.51], "relevance": [1, 0, 0, 0]}
    )
    curve = precision_curve(Runs.from_frame(rows), "TsRR", precisions=["float64", "decimals:0"])
    text = plain(precision_finding(curve, "TsRR"))
    assert text.startswith("TsRR settles ties by its own rule.")
    assert "1.000 as read and 0.250 with 0 decimals" in text
    assert text.endswith("where 100% of the documents tie.")


SIMULATE = partial(simulate, n_queries=60, common=True)


@pytest.fixture(scope="module")
def growth():
    return growth_curve(SIMULATE, 10, "RR")


def test_a_point_of_the_curve_is_that_reranker_alone(growth):
    evaluation = evaluate(simulate({"one": LlmReranker(0.3, 10)}, 60), "RR", ["expected", "optimistic"])
    means = evaluation.scores["RR"].mean()
    row = growth[growth["tie_probability"] == 0.3].iloc[0]
    assert row[["tied", "best"]].to_list() == pytest.approx(means.to_list())
    assert row["tie_ratio"] == pytest.approx(evaluation.lists["tie_ratio"].mean())


def test_the_finding_says_what_the_chosen_settings_leave_to_luck(growth):
    row = growth[growth["tie_probability"] == 0.3].iloc[0]
    sentence = plain(growth_finding(growth, 0.3, 10, "MRR"))
    assert sentence.startswith("With 10 score levels and a tie probability of 0.3,")
    assert f". MTRR is {row['tied']:.3f}." in sentence
    assert f"95% of random file orders give {row['low']:.3f} to {row['high']:.3f}." in sentence
    assert "1 score level and" in plain(growth_finding(growth, 0.3, 1, "MRR"))


def test_the_finding_of_lists_without_ties_says_so():
    curve = growth_curve(partial(SIMULATE, performance=0), 0, "RR", [0])
    assert plain(growth_finding(curve, 0, 0, "MRR")).startswith("No documents tie: MRR is ")


def test_the_sentence_names_a_measures_own_tie_rule_and_no_luck():
    curve = growth_curve(SIMULATE, 10, "TsRR", [0.3])
    sentence = plain(growth_finding(curve, 0.3, 10, "TsRR"))
    assert sentence.endswith("TsRR settles ties by its own rule. ")
    assert "shuffles" not in sentence
