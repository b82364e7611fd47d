"""What commands say of many rerankers stays short, and is written in time of its length."""

import numpy as np
import pandas as pd

from metrics import read_runs
from metrics.cli import options as shared
from metrics.evaluation import ScoringOptions, score_runs
from metrics.studies import pair_tests
from metrics.studies.pairs import compare, find_pairs


def test_messages_name_twenty_rerankers_and_count_the_others(call, write):
    rows = "".join(f"r{number},q,d{number},1,0\n" for number in range(25))
    path = write("many.csv", "reranker,query_id,doc_id,score,relevance\n" + rows)
    code, _, err = call("evaluate", path)
    lines = err.splitlines()
    assert code == 0
    assert lines[-2:] == [
        "r19: 1 of 1 query has no relevant documents, counted as 0.",
        "… and 5 more rerankers with queries that have no rows or no relevant documents.",
    ]
    assert sum("has no relevant documents" in line for line in lines) == 20


def one_query_each(n):
    rows = "".join(f"r{number},q,d{number},1,1\n" for number in range(n))
    return "reranker,query_id,doc_id,score,relevance\n" + rows


def test_a_table_of_too_many_rerankers_asks_for_the_right_column(call, write, monkeypatch):
    monkeypatch.setattr("metrics.runs.source.MAX_RERANKERS", 20)
    assert call("evaluate", write("many.csv", one_query_each(20)))[0] == 0
    code, _, err = call("evaluate", write("many.csv", one_query_each(21)))
    assert code == 2
    assert "the column 'reranker' names more than 20 rerankers, such as 'r20'." in err
    assert "Does the column name the rerankers?" in err


def test_a_long_table_for_a_terminal_ends_and_csv_is_complete(call, write, monkeypatch):
    monkeypatch.setattr(shared, "PRINTED_ROWS", 3)
    path = write("runs.csv", one_query_each(4))
    options = ("-m", "RR", "--ties", "expected")
    _, out, err = call("compare", path, *options)
    assert len(out.splitlines()) == 4
    assert "The first 3 of 6 rows. To write all rows: --format csv -o FILE." in err
    _, out, err = call("compare", path, *options, "--format", "csv")
    assert len(out.splitlines()) == 7
    assert "first 3" not in err


def test_all_pairs_are_tested_in_blocks_as_one_by_one(write, monkeypatch):
    random = np.random.default_rng(1)
    lines = [
        f"r{run},q{query},d{doc},{random.integers(5)},{int(doc == query % 3)}\n"
        for run in range(6)
        for query in range(9)
        for doc in range(4)
        if (run, query) != (5, 8)
    ]
    runs = read_runs(write("runs.csv", "reranker,query_id,doc_id,score,relevance\n" + "".join(lines)))
    evaluation = score_runs(runs, ["RR"], ["expected"], ScoringOptions())
    whole = compare(evaluation, "RR")
    monkeypatch.setattr(pair_tests, "_CELLS", 20)
    pd.testing.assert_frame_equal(compare(evaluation, "RR"), whole)
    for name in evaluation.policies.index:
        rows = compare(evaluation, "RR", baseline=name)
        expected = find_pairs(whole, rows["reranker"], rows["baseline"])
        pd.testing.assert_frame_equal(rows, expected[rows.columns])
