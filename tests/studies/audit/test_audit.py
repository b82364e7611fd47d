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


def test_more_digits_are_promised_of_what_they_would_tell_alone(write):
    """To two decimals the last two of q1 tie, for 1/100 instead of 1/101; from grade 1 on no query is empty."""
    tie = "".join(f"q0 Q0 {doc} 1 5 t\n" for doc in "cdabef")
    tail = "".join(f"q1 Q0 n{place} 1 {200 - place} t\n" for place in range(99))
    run = f"{tie}{tail}q1 Q0 last 1 0.001 t\nq1 Q0 before 1 0.002 t\n"
    runs = metrics.read_runs({"r": write("r.trec", run)}, write("q.txt", "q0 0 d 1\nq1 0 last 2\n"))
    sentences = said(runs, "run,query,RR\nr,q0,0.50\nr,all,0.25\n", every_rule=True).split(". ")[-3:]
    assert "do not show whether scores were compared as read or rounded to 2 decimals" in sentences[0]
    assert sentences[1] == "More printed digits would answer this question"
    assert sentences[2].startswith("More digits would not show whether queries without relevant documents")


def test_decimals_are_named_in_words(runs):
    assert Convention(precision="decimals:6").aspect("precision") == "scores rounded to 6 decimals"
    notes = uncertainty_notes(audit(runs, {"t.csv": b"run,RR\nr,0.1\n"}).reproduction)
    assert "as read, as float32, as float16, as bfloat16 or rounded to 6, 4, 3 or 2 decimals." in notes[-1]


def test_conventions_of_which_some_give_the_same_figures_are_not_said_to_differ_all(runs):
    sentence = said(runs, "run,RR\nr,0\n", relevant_from=2)
    assert "which give the same figures on these files or differ only beyond the printed digits" in sentence
    assert sentence.endswith("More digits would distinguish some of the conventions.")


@pytest.mark.parametrize(
    ("figure", "gain"), [("0.38009", "nDCG gain = grade"), ("0.41312", "nDCG gain = 2^grade − 1")]
)
def test_the_convention_of_a_table_names_the_gain_of_ndcg(write, figure, gain):
    runs = metrics.read_runs({"r": write("r.trec", RUN)}, write("q.txt", "q0 0 c 2\nq0 0 z 1\n"))
    assert gain in said(runs, f"run,NDCG@10\nr,{figure}\n")
