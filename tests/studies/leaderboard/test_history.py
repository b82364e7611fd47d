"""Versions of rerankers: told by their names, scored against the same judgments, put in order."""

import pandas as pd
import pyarrow as pa
import pytest

from metrics import Runs, evaluate
from metrics.evaluation import ScoringOptions
from metrics.runs import File, read
from metrics.studies.leaderboard.history import (
    history,
    history_finding,
    pooled_judgments,
    version_means,
    version_of,
)
from metrics.studies.prose import plain

MONDAY, TUESDAY, FRIDAY = pd.to_datetime(["2026-11-02", "2026-11-03", "2026-11-06"])


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("bge-reranker-v2", "bge-reranker"),
        ("bge V1.5", "bge"),
        ("bge_2026-11-01", "bge"),
        ("bge.20261101", "bge"),
        ("bge_2026-11-01_1530", "bge"),
        ("run.3", "run"),
        ("run (1)", "run"),
        ("bge-v2_2026-11-01", "bge"),
        ("bge-reranker-v2-m3", "bge-reranker-v2-m3"),
        ("qwen2.5", "qwen2.5"),
        ("MiniLM grade 0-10", "MiniLM grade 0-10"),
        ("gpt-4", "gpt-4"),
        ("dl-2019", "dl-2019"),
        ("bge_2026-13-01", "bge_2026-13-01"),
        ("v2", "v2"),
        ("-v2", "-v2"),
        ("2026-11-01", "2026-11-01"),
        ("", ""),
    ],
)
def test_a_version_is_what_ends_a_name(name, stem):
    assert version_of(name) == (stem, name[len(stem) :])


def run(text, name="a.trec"):
    rows = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in text)
    return Runs.from_sources([read(File(name, rows.encode()))], judged=False)


def qrels(*pairs):
    return pa.table(
        {
            "query_id": [query for query, _ in pairs],
            "doc_id": [doc for _, doc in pairs],
            "relevance": [1.0] * len(pairs),
        }
    )


TIED = run([("q1", "x", 1), ("q1", "y", 1), ("q2", "x", 2), ("q2", "y", 1)])


def test_a_version_is_scored_against_the_judgments_given():
    row = version_means(TIED, qrels(("q1", "y"), ("q2", "x")), ["RR"], "input").iloc[0]
    assert (row["reranker"], row["measure"]) == ("a", "RR")
    assert row[["tied", "worst", "best", "traditional"]].tolist() == [0.875, 0.75, 1, 0.75]
    assert (row["n_shared"], row["n_judged"]) == (2, 2)


def test_a_run_with_half_of_the_judged_queries_counts_and_one_with_less_does_not():
    half = qrels(("q1", "y"), ("other", "x"))
    less = qrels(("q1", "y"), ("other", "x"), ("third", "x"))
    assert version_means(TIED, half, ["RR"], "input")["n_shared"].tolist() == [1]
    assert len(version_means(TIED, less, ["RR"], "input")) == 0


def test_judged_queries_a_version_lacks_count_as_the_policy_says():
    half = qrels(("q1", "y"), ("other", "x"))
    zero, skip = (
        version_means(TIED, half, ["RR"], "input", scoring=ScoringOptions(missing=how))["best"][0]
        for how in ("zero", "skip")
    )
    assert (zero, skip) == (0.5, 1)


def test_only_the_queries_asked_for_are_counted():
    judged = qrels(("q1", "y"), ("q2", "y"))
    assert version_means(TIED, judged, ["RR"], "input", {"q2"})["tied"].tolist() == [0.5]
    assert len(version_means(TIED, judged, ["RR"], "input", {"nowhere"})) == 0


def test_each_reranker_of_a_table_is_scored():
    frame = pd.DataFrame(
        {
            "reranker": ["a-v1", "a-v1", "b-v1", "b-v1"],
            "query_id": "q1",
            "doc_id": ["x", "y"] * 2,
            "score": [2, 1, 1, 2],
            "relevance": 0,
        }
    )
    means = version_means(Runs.from_frame(frame), qrels(("q1", "x")), ["RR", "Hits@1"], "input")
    values = means.set_index(["reranker", "measure"])["tied"].to_dict()
    assert values == {("a-v1", "RR"): 1, ("b-v1", "RR"): 0.5, ("a-v1", "Hits@1"): 1, ("b-v1", "Hits@1"): 0}


def test_grades_inside_the_tables_are_taken_together():
    frame = pd.DataFrame(
        {
            "reranker": ["a", "a", "b", "b"],
            "query_id": "q1",
            "doc_id": ["x", "y", "y", "z"],
            "score": [2, 1, 1, 2],
            "relevance": [1, 0, 0, 2],
        }
    )
    judgments = pooled_judgments(Runs.from_frame(frame)).to_pandas()
    assert dict(zip(judgments["doc_id"], judgments["relevance"], strict=True)) == {"x": 1, "y": 0, "z": 2}


def test_judgments_given_apart_are_what_they_are():
    judged = qrels(("q1", "x"))
    assert pooled_judgments(TIED.judged_by(judged)) is judged


def test_a_version_scores_as_it_does_on_its_own_board():
    judged = qrels(("q1", "y"), ("q2", "y"))
    pooled_means = evaluate(TIED.judged_by(judged), "nDCG@10", ["expected"]).means("nDCG@10")
    assert (
        version_means(TIED, judged, ["nDCG@10"], "input")["tied"].tolist() == pooled_means["expected"].tolist()
    )


def rows(*versions):
    table = pd.DataFrame(versions, columns=["name", "added", "tied", "traditional"])
    return table.assign(worst=table["tied"], best=table["tied"])


def test_versions_stand_in_the_order_of_their_numbers():
    versions = history(rows(("a-v10", MONDAY, 0.3, 0.3), ("a-v2", TUESDAY, 0.2, 0.2), ("a", FRIDAY, 0.1, 0.1)))
    assert versions["name"].tolist() == ["a", "a-v2", "a-v10"]
    assert versions["version"].tolist() == [1, 2, 3]
    assert set(versions["reranker"]) == {"a"}


def test_versions_of_one_name_stand_in_the_order_they_were_added():
    versions = history(rows(("bge-v2", FRIDAY, 0.3, 0.3), ("bge-v2", MONDAY, 0.2, 0.2)))
    assert versions["tied"].tolist() == [0.2, 0.3]
    assert set(versions["reranker"]) == {"bge-v2"}


def test_a_reranker_of_one_version_has_no_history():
    versions = history(rows(("a-v1", MONDAY, 0.3, 0.3), ("b-v1", MONDAY, 0.2, 0.2), ("b-v2", FRIDAY, 0.2, 0.2)))
    assert versions["reranker"].tolist() == ["b", "b"]
    alone = history(rows(("a-v1", MONDAY, 0.3, 0.3)))
    assert len(alone) == 0
    assert {"reranker", "version", "name"} <= set(alone.columns)


def test_a_version_without_a_value_is_no_version():
    assert len(history(rows(("a-v1", MONDAY, None, None), ("a-v2", FRIDAY, 0.2, 0.2)))) == 0


def finding_text(*versions):
    return plain(history_finding(history(rows(*versions)), "MRR"))


def test_the_finding_is_of_the_reranker_whose_sort_order_says_the_opposite():
    assert finding_text(
        ("far-v1", MONDAY, 0.1, 0.1),
        ("far-v2", TUESDAY, 0.9, 0.9),
        ("bge-v1", MONDAY, 0.412, 0.43),
        ("bge-v2", TUESDAY, 0.437, 0.42),
    ) == ("bge rose from 0.412 to 0.437 tied MRR; by sort order it fell, from 0.430 to 0.420.")


def test_the_finding_is_of_the_farthest_where_orders_agree():
    assert finding_text(
        ("a-v1", MONDAY, 0.5, 0.5),
        ("a-v2", TUESDAY, 0.51, 0.52),
        ("b-v1", MONDAY, 0.6, 0.6),
        ("b-v2", TUESDAY, 0.4, 0.5),
    ) == ("b fell from 0.600 to 0.400 tied MRR; by sort order it also fell, from 0.600 to 0.500.")


def test_a_mean_that_stays_is_said_to_stay():
    assert finding_text(("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.5, 0.6)) == (
        "a stayed at 0.500 tied MRR; by sort order it rose, from 0.500 to 0.600."
    )
    assert "by sort order it stayed at 0.500." in finding_text(
        ("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.6, 0.5)
    )
    assert "no MRR moved" in finding_text(("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.5, 0.5))


def test_a_change_of_small_means_shows_and_one_that_stays_does_not_hide_one_that_moves():
    small = finding_text(("a-v1", MONDAY, 0.0014, 0.0014), ("a-v2", TUESDAY, 0.0019, 0.0014))
    assert small == "a rose from 0.0014 to 0.0019 tied MRR; by sort order it stayed at 0.0014."
    both = finding_text(
        *(("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.5004, 0.5)),
        *(("b-v1", MONDAY, 0.5, 0.5), ("b-v2", TUESDAY, 0.5, 0.6)),
    )
    assert both == "b stayed at 0.500 tied MRR; by sort order it rose, from 0.500 to 0.600."
