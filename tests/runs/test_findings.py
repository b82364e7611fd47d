import pandas as pd
import pytest
from reading import QRELS, RUN

from metrics import Runs, evaluate
from metrics.runs import File, read


def findings(*files):
    return runs(*files).findings


def runs(*files):
    return Runs.from_sources([read(File(f"file{n}.trec", data)) for n, data in enumerate(files)])


def test_findings_have_the_columns_that_are_promised():
    found = findings(RUN, QRELS)
    assert found.columns.to_list() == ["severity", "code", "file", "line", "message", "hint"]
    assert not len(found)


def test_judged_queries_without_rows_are_a_warning_with_their_number():
    found = findings(RUN, QRELS + b"q3 0 d1 1\nq4 0 d1 1\n").iloc[0]
    assert (found["severity"], found["code"], found["file"]) == ("warning", "queries-missing", "file0")
    assert "2 of 4" in found["message"]


def test_queries_of_the_run_that_nobody_judged_are_left_out_and_counted():
    ours = runs(RUN, b"q1 0 d1 1\n")
    found = ours.findings.iloc[0]
    assert (found["severity"], found["code"]) == ("info", "queries-unjudged")
    assert "1 of 2" in found["message"]
    assert evaluate(ours).scores.index.get_level_values("query_id").to_list() == ["q1"]


def test_a_run_that_answers_no_judged_query_is_a_warning_with_both_spellings():
    found = findings(RUN, b"Q1 0 d1 1\n").iloc[0]
    assert (found["severity"], found["code"]) == ("warning", "no-overlap")
    assert "'q1'" in found["message"]
    assert "'Q1'" in found["message"]


def test_columns_that_are_not_read_are_named():
    found = findings(b"query_id,doc_id,score,relevance,note,page\nq,a,1,1,x,vi\n").iloc[0]
    assert found["code"] == "columns-unused"
    assert "note, page" in found["message"]


def test_rerankers_with_fewer_queries_than_others_are_named():
    table = b"reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nA,r,a,1,1\nB,q,a,1,1\n"
    found = findings(table)
    assert found[["code", "file"]].to_numpy().tolist() == [["queries-differ", "B"]]


def test_the_gravest_finding_comes_first():
    found = findings(b"query_id,doc_id,score,note\nq1,a,1,x\n", b"q1 0 a 1\nq2 0 a 1\n")
    assert found["severity"].to_list() == ["warning", "info"]


def test_a_line_is_a_whole_number_or_missing():
    found = findings(b"query_id,doc_id,score,note\nq1,a,1,x\n", b"q1 0 a 1\nq2 0 a 1\n")
    assert found["line"].to_list() == [pd.NA, 1]


HEADERS = [b"query_id,doc_id,score\n", b"query_id,doc_id,relevance\n"]


@pytest.mark.parametrize(
    "files", [(HEADERS[0], QRELS), (RUN, HEADERS[1]), HEADERS], ids=["run", "qrels", "both"]
)
def test_files_with_a_header_alone_are_found_wanting_and_score_nothing_above_zero(files):
    ours = runs(*files)
    assert set(ours.findings["severity"]) <= {"error", "warning", "info"}
    assert not evaluate(ours).scores.gt(0).any(axis=None)
