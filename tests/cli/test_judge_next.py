"""judge-next: which documents to judge next, a form of them, and what it settled once it is filled in."""

import csv
import io

import pytest

TOP = "q Q0 {} 1 9 t\nq Q0 {} 2 8 t\nq Q0 c 3 7 t\n"


@pytest.fixture
def files(write):
    runs = [write("one.trec", TOP.format("a", "b")), write("two.trec", TOP.format("x", "y"))]
    return [*runs, "--qrels", write("qrels.txt", "q 0 c 1\n"), "-m", "P@2", "--rate", "0.5"]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_documents_and_a_form_of_them_are_written(call, files, tmp_path):
    for ending, lines in (
        ("txt", ["q 0 a ?", "q 0 x ?"]),
        ("csv", ["query_id,doc_id,relevance", "q,a,", "q,x,"]),
    ):
        form = tmp_path / f"form.{ending}"
        code, out, err = call("judge-next", *files, "--top", "2", "--format", "csv", "--qrels-output", form)
        assert code == 0
        assert [(row["doc_id"], row["best_reranker"], row["closed"]) for row in rows(out)] == [
            ("a", "one", "0.25"),
            ("x", "two", "0.5"),
        ]
        assert (
            "Judging the first 2 documents removes 50% of the uncertainty that unjudged documents cause." in err
        )
        assert form.read_text().splitlines() == lines
        code, _, err = call("judge-next", *files, "--judged", form)
        assert code == 2
        assert "The grade is missing in 2 of 2 rows" in err


def test_a_form_that_came_back_joins_the_judgments_and_what_it_settled_is_said(call, files, tmp_path):
    form = tmp_path / "form.txt"
    call("judge-next", *files, "--qrels-output", form)
    text = form.read_text()
    form.write_text("".join(f"q 0 {document} {int(document in 'ab')}\n" for document in "abxy"))
    assert text.splitlines() == [f"q 0 {document} ?" for document in "axby"]
    code, out, err = call("judge-next", *files, "--judged", form, "--format", "csv")
    assert (code, rows(out)) == (0, [])
    assert "4 new judgments, 2 relevant: the bounds of P@2 narrowed from 1.000 to 0.000 on average" in err
    assert "The bounds of 1 of 1 pair do not overlap (0 before). No longer overlapping: one above two." in err


def test_a_form_is_not_written_over_what_is_read_nor_read_without_judgments(call, files):
    runs, qrels = files[:2], files[3]
    code, _, err = call("judge-next", *files, "--qrels-output", qrels)
    assert code == 2
    assert "which this command reads" in err
    code, _, err = call("judge-next", *runs, "--judged", qrels)
    assert code == 2
    assert "--qrels" in err


def test_what_is_judged_twice_is_said_and_a_contradiction_refused_or_settled(call, files, write):
    alike, unlike = write("alike.txt", "q 0 a 0\nq 0 c 1\n"), write("unlike.txt", "q 0 a 1\nq 0 c 0\n")
    code, _, err = call("judge-next", *files, "--judged", alike)
    assert code == 0
    assert (
        "info · alike.txt · Judgments with the same grade in two files: 1, such as document 'c' "
        "(qrels.txt, line 1)." in err
    )
    assert "1 new judgment, 0 relevant" in err
    code, _, err = call("judge-next", *files, "--judged", unlike)
    assert code == 2
    assert "unlike.txt, line 2: document 'c' has grade 0 for query 'q'" in err
    assert "but grade 1 in qrels.txt, line 1" in err
    code, _, err = call("judge-next", *files, "--judged", unlike, "--repeated", "max")
    assert code == 0
    assert "the highest grade is kept" in err


def test_a_run_without_judged_queries_has_nothing_to_judge(call, files, write):
    code, out, err = call(
        "judge-next", *files[:2], "--qrels", write("other.txt", "r 0 c 1\n"), "--format", "csv"
    )
    assert (code, rows(out)) == (0, [])
    assert "No judged query has an unjudged document in the top 10." in err
