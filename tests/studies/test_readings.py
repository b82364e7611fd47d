"""MRR and MAP in words, on lists whose ranks are known, and on odd ones."""

import math

import pandas as pd
import pytest

from metrics import Runs, evaluate
from metrics.studies.prose import plain
from metrics.studies.readings import rank_text, ratio_text, readings, readings_finding


def table(rerankers, baseline=None, traditional="input", **policies):
    """Readings of lists of ten documents without ties: reranker → the relevant places of each query."""
    rows = [
        (name, f"q{query}", f"d{place}", -place, int(place in places))
        for name, queries in rerankers.items()
        for query, places in enumerate(queries)
        for place in range(1, 11)
    ]
    frame = pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])
    evaluation = evaluate(Runs.from_frame(frame), ["RR", "AP"], [traditional, "expected"], **policies)
    return readings(evaluation, traditional, baseline or next(iter(rerankers)))


def finding(rerankers, baseline=None, **options):
    rows = table(rerankers, baseline, **options)
    return plain(readings_finding(rows, baseline or next(iter(rerankers))))


def test_a_value_is_read_as_so_many_times_the_baselines_and_as_a_typical_rank():
    row = table({"low": [{4}, {8}], "high": [{1}, {4, 5}]}).loc["high"]
    assert row["rr_tied_times"] == pytest.approx((1 + 1 / 4) / (1 / 4 + 1 / 8))
    assert row["ap_traditional_times"] == pytest.approx((1 + (1 / 4 + 2 / 5) / 2) / (1 / 4 + 1 / 8))
    assert row[["traditional_rank", "tied_rank"]].to_list() == pytest.approx([1.6, 1.6])
    assert (row["mean_rank"], row["relevant"]) == (2.5, 1.5)


def test_one_over_mrr_is_the_harmonic_mean_with_queries_without_a_hit():
    row = table({"A": [{1}, {3}, set()]}).loc["A"]
    assert row["tied_rank"] == pytest.approx(3 / (1 + 1 / 3))
    assert row["mean_rank"] == 2
    skipped = table({"A": [{1}, {3}, set()]}, empty="skip").loc["A"]
    assert skipped["tied_rank"] == pytest.approx(2 / (1 + 1 / 3))


def test_the_scenarios_with_one_mrr_and_two_maps_part_on_their_query():
    scenarios = {"A": [{1, 4, 5}], "B": [{1, 2, 3}]}
    row = table(scenarios).loc["B"]
    assert row[["rr_tied_times", "ap_tied_times"]].to_list() == pytest.approx([1, 1 / 0.7])
    assert row[["one_sided", "opposed"]].to_list() == [1, 0]
    assert "B has the highest tied MAP, which counts all relevant documents: 1.000 against 0.700." in finding(
        scenarios
    )


def test_rerankers_of_equal_map_share_the_highest():
    assert "A and 2 more share the highest tied MAP." in finding({"A": [{2}], "B": [{2}], "C": [{2}]})


def test_a_query_on_which_rr_and_ap_name_another_winner_is_counted_apart():
    assert table({"A": [{1, 9, 10}], "B": [{2, 3, 4}]}).loc["B", ["one_sided", "opposed"]].to_list() == [0, 1]


def test_the_finding_compares_leader_and_baseline_and_names_the_mean():
    text = finding({"low": [{4}, {8}], "middle": [{3}, {8}], "high": [{1}, {4, 5}]})
    assert text.startswith(
        "high scores 3.33 times the MTRR of low and 3.53 times its tied MAP (by traditional "
    )
    assert "scores: 3.33 times the MRR and" in text
    assert "is 1.6 for high and 5.3 for low (harmonic mean)" in text
    assert "is 1.6 and 5.3. The arithmetic mean, over lists with a relevant document, is 2.5 and 6.0." in text
    assert "The queries of high have more relevant documents (1.50 against 1.00 a query)" in text


def test_a_difference_within_its_standard_error_is_not_claimed():
    # RR of B − A: −1/2 and 2/3, a mean of 1/12 with the standard error 7/12
    close = finding({"A": [{1}, {3}], "B": [{2}, {1}]})
    assert (
        "The data cannot tell the two rerankers apart by MTRR (difference 0.083, standard error 0.583)."
        in close
    )
    assert "The data cannot tell the two rerankers apart by tied MAP" in close
    assert "cannot tell" not in finding({"low": [{4}, {8}, {5}], "high": [{1}, {1}, {1}]})
    assert "With only one common query, the differences have no standard error." in finding(
        {"A": [{2}], "B": [{1}]}
    )
    assert "standard error" not in finding({"A": [{2}], "B": [{2}]})


def test_a_baseline_that_leads_is_compared_with_the_next():
    rerankers = {"low": [{4}, {8}], "middle": [{3}, {8}], "high": [{1}, {4}]}
    assert finding(rerankers, "high").startswith("high scores 2.73 times the MTRR of middle")


@pytest.mark.parametrize(
    ("rerankers", "options", "text"),
    [
        ({"A": [{2}]}, {}, "By 1/MTRR, the typical rank of the first relevant document is 2.0 for A"),
        ({"A": [set()], "B": [set()]}, {}, "No list has a relevant document"),
        ({"A": [set()]}, {"empty": "skip"}, "No list is scored"),
        (
            {"none": [set()], "B": [{2}]},
            {},
            "none lists no relevant documents: ratios are undefined.",
        ),
        ({"A": [{2}], "B": [{2}]}, {}, "A and B have the same MRR and MAP."),
        ({"A": [{2}], "B": [{3}]}, {"traditional": "expected"}, "A scores 1.50 times the MTRR of B"),
    ],
)
def test_the_finding_holds_on_odd_boards(rerankers, options, text):
    assert finding(rerankers, **options).startswith(text)


def test_nothing_is_divided_by_zero():
    row = table({"none": [set()], "B": [{2}]}).loc["B"]
    assert math.isnan(row["rr_tied_times"])
    assert math.isnan(table({"none": [set()], "B": [{2}]}).loc["none", "tied_rank"])


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0123 / 0.0021, "5.86"),
        (0.0048 / 0.0020, "2.40"),
        (17.37 / 1.69, "10.3"),
        (1204.2, "1,204"),
        (0.0123, "0.012"),
        (math.nan, "–"),
    ],
)
def test_a_ratio_has_the_figures_that_tell(ratio, text):
    assert ratio_text(ratio) == text


@pytest.mark.parametrize(("mrr", "rank"), [(0.0123, "81"), (0.0021, "476"), (0.5, "2.0"), (1 / 1204, "1,204")])
def test_a_mean_reciprocal_rank_reads_as_a_rank(mrr, rank):
    assert rank_text(1 / mrr) == rank
