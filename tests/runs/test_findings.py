import pandas as pd
import pytest
from reading import QRELS, RUN

from metrics import Runs, evaluate
from metrics.runs import File, read

UNTIED = b"q1 Q0 d1 1 0.912345 bm25\nq1 Q0 d2 2 0.812345 bm25\n"
JUDGED = b"q1 0 d1 1\nq1 0 d2 0\n"


def findings(*files):
    return runs(*files).findings


def single(table, code):
    """The one finding of a code."""
    [finding] = table[table["code"] == code].itertuples()
    return finding


def runs(*files):
    return Runs.from_sources([read(File(f"file{n}.trec", data)) for n, data in enumerate(files)])


def test_findings_have_the_columns_that_are_promised():
    table = findings(UNTIED, JUDGED)
    assert table.columns.to_list() == ["severity", "code", "file", "line", "message", "hint", "count"]
    assert not len(table)


def test_queries_of_the_run_that_nobody_judged_are_left_out_and_counted():
    ours = runs(RUN, b"q1 0 d1 1\n")
    finding = single(ours.findings, "queries-unjudged")
    assert (finding.severity, finding.line, finding.count) == ("info", 3, 1)
    assert "1 of 2" in finding.message
    assert evaluate(ours).scores.index.get_level_values("query_id").to_list() == ["q1"]


def test_columns_that_are_not_read_are_named():
    finding = findings(b"query_id,doc_id,score,relevance,note,page\nq,a,1,1,x,vi\n").iloc[0]
    assert finding["code"] == "columns-unused"
    assert "note, page" in finding["message"]


def test_the_gravest_finding_comes_first():
    table = findings(b"query_id,doc_id,score,note\nq1,a,2,x\nq1,b,1,x\n", b"q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n")
    assert table["code"].to_list() == ["queries-missing", "columns-unused"]
    assert table["severity"].to_list() == ["warning", "info"]
    assert table["line"].to_list() == [pd.NA, 1]
    assert (str(table.dtypes["line"]), str(table.dtypes["count"])) == ("Int64", "int64")


def test_ranks_that_a_trec_file_states_against_its_scores_are_found():
    finding = single(findings(RUN, QRELS), "rank-disagrees")
    assert (finding.severity, finding.count) == ("warning", 1)
    assert "'q1' first" in finding.message


HEADERS = [b"query_id,doc_id,score\n", b"query_id,doc_id,relevance\n"]


@pytest.mark.parametrize(
    "files", [(HEADERS[0], QRELS), (RUN, HEADERS[1]), HEADERS], ids=["run", "qrels", "both"]
)
def test_files_with_a_header_alone_are_found_wanting_and_score_nothing_above_zero(files):
    ours = runs(*files)
    assert set(ours.findings["severity"]) <= {"error", "warning", "info"}
    assert not evaluate(ours).scores.gt(0).any(axis=None)
