"""What is said of the convention of a table: true of what comes out, and of what more digits would tell."""

import pytest

import metrics
from metrics.studies.audit.audit import audit, uncertainty_notes
from metrics.studies.audit.conventions import Convention

RUN = "q0 Q0 a 1 9 t\nq0 Q0 b 2 9 t\nq0 Q0 c 3 5 t\nq1 Q0 b 1 9 t\nq1 Q0 a 2 7 t\n"
"""Relevant documents are at rank 1 or 2 of q0, which ties, and at rank 2 of q1; q2 is empty from grade 2 on."""


@pytest.fixture
def runs(write):
    return metrics.read_runs({"r": write("r.trec", RUN)}, write("q.txt", "q0 0 a 2\nq1 0 a 2\nq2 0 z 1\n"))


def said(runs, text, **options):
    return str(audit(runs, {"t.csv": text.encode()}, **options))


def test_where_no_figure_comes_out_no_convention_is_said_to_be_nearest(runs):
    text = said(runs, "run,RR\nr,0.01\n", relevant_from=2)
    assert text.startswith("No tested convention reproduces any figure")
    assert "most common convention, trec_eval: id, descending; relevant from grade 2, no figure" in text
    assert "the largest difference is 0.323." in text
    assert text.endswith("by reranker: r (1); by measure: RR (1).")


def test_precisions_under_which_the_same_documents_tie_are_named(runs):
    assert Convention(precision="decimals:6").aspect("precision") == "scores rounded to 6 decimals"
    notes = uncertainty_notes(audit(runs, {"t.csv": b"run,RR\nr,0.1\n"}).reproduction)
    assert notes[-1].startswith("These files cannot show in which number format scores were compared: ")
    assert notes[-1].endswith("float16, bfloat16, decimals:6, decimals:4, decimals:3, decimals:2.")


def test_conventions_that_more_digits_would_distinguish_are_said_to_be_so(runs):
    sentence = said(runs, "run,RR\nr,0\n", relevant_from=2)
    assert "which more printed digits would distinguish at least in part: trec_eval: id" in sentence


@pytest.mark.parametrize(
    ("figure", "gain"), [("0.38009", "nDCG gain = grade"), ("0.41312", "nDCG gain = 2^grade − 1")]
)
def test_the_convention_of_a_table_names_the_gain_of_ndcg(write, figure, gain):
    runs = metrics.read_runs({"r": write("r.trec", RUN)}, write("q.txt", "q0 0 c 2\nq0 0 z 1\n"))
    assert gain in said(runs, f"run,NDCG@10\nr,{figure}\n")
