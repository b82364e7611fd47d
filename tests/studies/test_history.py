"""Versions of rerankers: told by their names, scored against the same judgments, put in order."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import Running, Runs, evaluate, read_runs
from metrics.evaluation import ScoringOptions
from metrics.runs import File, read
from metrics.studies.history import (
    arrivals,
    arrivals_finding,
    arriving,
    change_finding,
    change_of,
    history,
    history_finding,
    pooled_judgments,
    running_means,
    value_changes,
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


def test_a_mean_rose_or_fell_only_beyond_the_standard_error_of_the_change():
    versions = history(rows(("a-v1", MONDAY, 0.3, 0.3), ("a-v2", FRIDAY, 0.5, 0.3)))
    clear, unclear = (
        plain(history_finding(versions.assign(standard_error=errors), "MRR"))
        for errors in ([0.03, 0.04], [0.3, 0.4])
    )
    assert clear.startswith("a rose from 0.300 to 0.500 tied MRR (standard error of the change 0.050);")
    assert unclear.startswith("a changed from 0.300 to 0.500 tied MRR (standard error of the change 0.500);")
    fallen = versions.assign(tied=[0.5, 0.3], standard_error=0.01)
    assert plain(history_finding(fallen, "MRR")).startswith("a fell from 0.500 to 0.300")


def test_the_finding_is_of_the_reranker_whose_sort_order_says_the_opposite():
    assert finding_text(
        ("far-v1", MONDAY, 0.1, 0.1),
        ("far-v2", TUESDAY, 0.9, 0.9),
        ("bge-v1", MONDAY, 0.412, 0.43),
        ("bge-v2", TUESDAY, 0.437, 0.42),
    ) == ("bge changed from 0.412 to 0.437 tied MRR; traditional MRR changed from 0.430 to 0.420.")


def test_the_finding_is_of_the_farthest_where_orders_agree():
    assert finding_text(
        ("a-v1", MONDAY, 0.5, 0.5),
        ("a-v2", TUESDAY, 0.51, 0.52),
        ("b-v1", MONDAY, 0.6, 0.6),
        ("b-v2", TUESDAY, 0.4, 0.5),
    ) == ("b changed from 0.600 to 0.400 tied MRR; traditional MRR changed from 0.600 to 0.500.")


def test_a_mean_that_stays_is_said_to_stay():
    assert finding_text(("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.5, 0.6)) == (
        "a stayed at 0.500 tied MRR; traditional MRR changed from 0.500 to 0.600."
    )
    assert "traditional MRR stayed at 0.500." in finding_text(
        ("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.6, 0.5)
    )
    assert "no traditional or tied MRR changed" in finding_text(
        ("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.5, 0.5)
    )


def test_a_change_of_small_means_shows_beside_a_constant_mean():
    small = finding_text(("a-v1", MONDAY, 0.0014, 0.0014), ("a-v2", TUESDAY, 0.0019, 0.0014))
    assert small == "a changed from 0.0014 to 0.0019 tied MRR; traditional MRR stayed at 0.0014."
    both = finding_text(
        *(("a-v1", MONDAY, 0.5, 0.5), ("a-v2", TUESDAY, 0.5004, 0.5)),
        *(("b-v1", MONDAY, 0.5, 0.5), ("b-v2", TUESDAY, 0.5, 0.6)),
    )
    assert both == "b stayed at 0.500 tied MRR; traditional MRR changed from 0.500 to 0.600."


TIES = ("expected", "input", "pessimistic", "optimistic")


def log(n_lists, relevant_first, times=None, reranker="llm"):
    """Lists of one tie of two and a third document, each with a time if any."""
    rows = [
        (reranker, f"q{query}", document, score, int((document == "c") != relevant_first(query)))
        for query in range(n_lists)
        for document, score in (("a", 2), ("b", 2), ("c", 1))
    ]
    frame = pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])
    return frame if times is None else frame.assign(timestamp=np.repeat(times, 3))


def arrived(frame, names):
    runs = read_runs(frame)
    return arrivals(evaluate(runs, "RR", TIES), runs, names, "RR", "input")


def test_running_means_are_those_of_running_to_the_last_list_and_of_each_window():
    frame = log(9, lambda query: query % 3 == 0)
    means = running_means(arrived(frame, ["llm"]), 4)
    running = Running("RR")
    for query in range(9):
        running.add(frame[frame["query_id"] == f"q{query}"], at=query)
        values = ["traditional", "tied", "worst", "best"]
        for suffix, window in (("", {}), ("_of_late", {"last": 4})):
            row = means.loc[query, [f"{name}{suffix}" for name in values]].astype(float)
            expected = running.means(**window).loc[0, values].astype(float)
            if query >= 3 or not suffix:
                assert row.to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-12)
            else:
                assert row.isna().all()


def test_lists_stand_by_their_times_where_these_are_known_else_version_by_version():
    timed = log(3, bool, [5.0, 3.0, 4.0])
    assert arrived(timed, ["llm"])["query_id"].to_list() == ["q1", "q2", "q0"]
    versions = pd.concat([log(2, bool, reranker=name) for name in ("llm-v10", "llm-v2")])
    assert arriving(read_runs(versions), ["llm-v10", "llm-v2"]) == {"llm": ["llm-v2", "llm-v10"]}
    assert arrived(versions, ["llm-v2", "llm-v10"])["name"].to_list() == ["llm-v2"] * 2 + ["llm-v10"] * 2


def test_one_version_without_times_has_no_order_and_is_not_drawn():
    assert arriving(read_runs(log(3, bool)), ["llm"]) == {}
    assert arriving(read_runs(log(3, bool, [1, 2, 3])), ["llm"]) == {"llm": ["llm"]}


def test_judged_queries_that_a_version_lacks_are_no_lists_that_came():
    frame = log(4, bool, [1, 2, 3, 4])
    qrels, run = frame[["query_id", "doc_id", "relevance"]], frame.drop(columns="relevance")
    runs = read_runs(run[run["query_id"] != "q1"], qrels)
    lists = arrivals(evaluate(runs, "RR", TIES), runs, ["llm"], "RR", "input")
    assert lists["query_id"].to_list() == ["q0", "q2", "q3"]


@pytest.mark.parametrize(
    ("n_lists", "relevant_first", "words"),
    [
        (
            40,
            lambda query: query < 25,
            "changed after 25 lists of 40: tied MRR was 1.000 before and 0.333 after that",
        ),
        (40, lambda query: query < 25, "(p < 0.001). No tie order makes the two means equal."),
        (
            40,
            lambda _: True,
            "has no significant change in tied MRR over its 40 lists (mean 1.000).",
        ),
        (1, lambda _: True, "no significant change in tied MRR over its 1 list (mean 1.000)."),
    ],
)
def test_the_sentence_says_where_the_tied_mean_changed_and_if_ties_explain_it(n_lists, relevant_first, words):
    lists = arrived(log(n_lists, relevant_first), ["llm"])
    assert words in plain(arrivals_finding("llm", lists, change_of(lists, "RR"), "MRR"))


def test_a_change_that_an_order_of_ties_undoes_is_said_to_be_one():
    lists = pd.DataFrame({"query_id": [f"q{n}" for n in range(60)], "tied": [0.8] * 30 + [0.4] * 30})
    lists = lists.assign(worst=0.2, best=1.0)
    finding = plain(arrivals_finding("llm", lists, change_of(lists, "RR"), "MRR"))
    assert "Some tie order makes the two means equal" in finding
    own_rule = plain(arrivals_finding("llm", lists, change_of(lists, "TsRR"), "TsRR"))
    assert "TsRR settles ties by its own rule, so ties alone may explain the change." in own_rule


TREATMENTS = ["expected", "optimistic", "pessimistic", "input"]


def state(**scores):
    """Rerankers with the scores of three documents, of which the first is relevant."""
    rows = [
        {"reranker": name, "query_id": "q", "doc_id": document, "score": score, "relevance": document == "a"}
        for name, values in scores.items()
        for document, score in zip("abc", values, strict=True)
    ]
    return evaluate(pd.DataFrame(rows), ["RR"], TREATMENTS)


BEFORE = state(same=(3, 2, 1), tied=(1, 1, 1), up=(1, 2, 3), down=(3, 2, 1), gone=(1, 2, 3))
AFTER = state(same=(9, 2, 1), tied=(1, 1, 0), up=(3, 1, 1), down=(1, 2, 2), new=(1, 2, 3))
CHANGES = value_changes(BEFORE, AFTER, "input").set_index("reranker")


def test_a_change_is_one_in_every_order_where_the_ranges_of_the_orders_are_apart():
    assert CHANGES["verdict"].to_dict() == {
        "same": "equal",
        "tied": "within the ties",
        "up": "higher in every order",
        "down": "lower in every order",
        "new": "new",
        "gone": "gone",
    }


def test_changes_are_those_of_the_tied_values():
    assert CHANGES.loc["tied", "change"] == pytest.approx(3 / 4 - 11 / 18)
    assert CHANGES.loc["tied", ["traditional_before", "traditional"]].to_list() == [1, 1]
    assert CHANGES.loc[["new", "gone"], "change"].isna().all()


def test_the_finding_counts_changes_and_names_the_largest_that_no_order_makes():
    words = plain(change_finding(CHANGES.reset_index()))
    assert words == "3 of 4 values changed, 2 of them in every tie order: up is 0.6667 higher in RR."


def test_states_without_a_common_reranker_are_not_compared():
    changes = value_changes(state(a=(1, 2, 3)), state(b=(1, 2, 3)), "input")
    assert "no reranker in common" in plain(change_finding(changes))
    assert plain(change_finding(value_changes(BEFORE, BEFORE, "input"))) == "No value changed."
