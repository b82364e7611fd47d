"""What `tiescope check` says, and the choices of columns that all commands share."""

import csv
import io

import pytest
from reading import QRELS, RUN

REPEATED = "query_id,doc_id,score,relevance\nq,a,1,0\nq,b,2,1\nq,a,3,1\n"


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_findings_are_printed_with_file_line_hint_and_count(call, write):
    files = write("llm.trec", RUN), write("qrels.txt", QRELS + b"q3 0 d1 1\n")
    code, out, _ = call("check", *files, "--format", "csv")
    assert code == 0
    assert out.splitlines()[0] == "severity,code,file,line,message,hint,count"
    findings = {row["code"]: row for row in rows(out)}
    assert findings["queries-missing"]["file"] == "llm.trec"
    assert findings["queries-missing"]["count"] == "1"


def test_files_may_come_in_any_order(call, write):
    files = [write("llm.trec", RUN), write("qrels.txt", QRELS)]
    reported = call("check", *files, "--format", "csv")[1]
    assert call("check", *files[::-1], "--format", "csv")[1] == reported
    assert call("check", files[0], "--qrels", files[1], "--format", "csv")[1] == reported


def test_files_that_do_not_go_together_end_with_1(call, write):
    code, out, _ = call("check", write("llm.trec", RUN), write("q.txt", "x9 0 d1 1\n"), "--format", "csv")
    assert code == 1
    assert rows(out)[0]["code"] == "no-overlap"


def test_every_unreadable_file_is_named_with_its_line_and_the_others_are_checked(call, write):
    wrong = write("a.trec", "q Q0 d 1 high t\n"), write("b.csv", b"\x89PNG\r\n")
    code, out, _ = call("check", *wrong, write("llm.trec", RUN), write("q.txt", QRELS), "--format", "csv")
    assert code == 2
    assert [(r["code"], r["file"], r["line"]) for r in rows(out)][:2] == [
        ("unreadable", "a.trec", "1"),
        ("unreadable", "b.csv", "1"),
    ]
    assert {"llm.trec"} <= {row["file"] for row in rows(out)}


def test_a_threshold_that_unjudged_documents_reach_is_refused(call, write):
    code, _, err = call("check", write("llm.trec", RUN), "--relevant-from", "0")
    assert (code, "must be above 0" in err) == (2, True)


@pytest.mark.parametrize(("rule", "value"), [("first", "0.5"), ("max", "1.0")])
def test_repeated_documents_are_kept_as_asked(call, write, rule, value):
    table = write("t.csv", "query_id,doc_id,score,relevance\nq,a,1,1\nq,b,2,0\nq,a,3,1\n")
    arguments = ["--repeated", rule, "-m", "RR", "--ties", "expected", "--format", "csv"]
    code, out, err = call("evaluate", table, *arguments)
    assert (code, rows(out)[0]["value"]) == (0, value)
    assert "Repeated rows left out: 1" in err


def test_a_repeated_document_is_refused_with_both_lines_unless_asked(call, write):
    code, _, err = call("evaluate", write("t.csv", REPEATED))
    assert code == 2
    assert "line 4" in err
    assert "line 2" in err


def test_columns_are_chosen_by_name(call, write):
    table = write("t.csv", "frage,treffer,punkte,gut\nq,a,1,0\nq,b,2,1\n")
    columns = ["query_id=frage", "doc_id=treffer", "score=punkte", "relevance=gut"]
    column_arguments = [part for column in columns for part in ("--column", column)]
    arguments = ["-m", "RR", "--ties", "expected", "--format", "csv"]
    code, out, _ = call("evaluate", table, *column_arguments, *arguments)
    assert (code, rows(out)[0]["value"]) == (0, "1.0")


def test_a_column_of_no_name_is_not_read(call, write):
    table = write("t.csv", "query_id,doc_id,score,relevance\nq,a,1,0\n")
    code, _, err = call("evaluate", table, "--column", "relevance=")
    assert code == 2
    assert "relevant" in err


@pytest.mark.parametrize("column", ["query_id", "=x", "query_id=", "nothing=score", "score=nowhere"])
def test_a_column_that_cannot_be_chosen_is_refused_by_name(call, write, column):
    code, _, err = call("evaluate", write("t.csv", REPEATED), "--repeated", "max", "--column", column)
    assert code == 2
    assert (column.split("=")[-1] or "query_id") in err


def test_text_says_what_is_true_of_several_runs_once_and_programs_get_every_finding(call, write):
    runs = [write(f"{name}.trec", RUN) for name in ("a", "b", "c")]
    files = [*runs, write("qrels.txt", QRELS + b"q3 0 d1 1\n")]
    out = call("check", *files)[1]
    assert out.count("queries-missing · 3 runs: ") == 1
    assert "\n    a.trec, b.trec, c.trec\n" in out
    findings = rows(call("check", *files, "--format", "csv")[1])
    assert [row["file"] for row in findings if row["code"] == "queries-missing"] == [
        "a.trec",
        "b.trec",
        "c.trec",
    ]
