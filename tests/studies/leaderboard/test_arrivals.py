"""Lists in the order in which they came."""

import numpy as np
import pandas as pd
import pytest

from metrics import Running, evaluate, read_runs
from metrics.studies.leaderboard.arrivals import (
    arrivals,
    arrivals_finding,
    arriving,
    change_of,
    running_means,
)
from metrics.studies.prose import plain

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
            "changed after 25 lists of 40: tied MRR was 1.000 before and is 0.333 since",
        ),
        (40, lambda query: query < 25, "(p < 0.001); no order of the ties could make the two means equal."),
        (
            40,
            lambda _: True,
            "shows no change of tied MRR beyond chance over its 40 lists; their mean is 1.000.",
        ),
        (1, lambda _: True, "beyond chance over its 1 list; their mean is 1.000."),
    ],
)
def test_the_sentence_says_where_the_tied_mean_changed_and_whether_ties_may_have_done_it(
    n_lists, relevant_first, words
):
    lists = arrived(log(n_lists, relevant_first), ["llm"])
    assert words in plain(arrivals_finding("llm", lists, change_of(lists, "RR"), "MRR"))


def test_a_change_that_an_order_of_ties_undoes_is_said_to_be_one():
    lists = pd.DataFrame({"query_id": [f"q{n}" for n in range(60)], "tied": [0.8] * 30 + [0.4] * 30})
    lists = lists.assign(worst=0.2, best=1.0)
    finding = plain(arrivals_finding("llm", lists, change_of(lists, "RR"), "MRR"))
    assert "an order of the ties could make the two means equal" in finding
    own_rule = plain(arrivals_finding("llm", lists, change_of(lists, "TsRR"), "TsRR"))
    assert "TsRR settles ties by its own rule, so ties alone may have done it." in own_rule
