"""Figures printed in the sources: the seeds, the papers they cite, and other tools on public runs."""

import pytest
from document_checks import value
from repository import REAL_RUNS

from metrics import evaluate, read_runs


def tied(measure, grades, ties="expected"):
    return value(measure, grades, [1.0] * len(grades), ties)


ROBUST = ("robust-2003", "rutcor03100.trec.gz", "qrels.txt.gz")
REPLLAMA = ("trec-dl-2019", "repllama.trec", "qrels.txt")
FIGURES = {
    (ROBUST, "RR"): (0.3379, 0.2796, 0.5232, 0.1876, 0.3117),
    (ROBUST, "AP"): (0.0737, 0.0582, 0.1372, 0.0416),
    (ROBUST, "nDCG-linear@10"): (0.1531, 0.1213, 0.2693, 0.0742),
    (REPLLAMA, "RR"): (0.9884, 0.9845, 0.9884, 0.9826, 0.9851),
    (REPLLAMA, "AP"): (0.5347, 0.5345, 0.5404, 0.5285),
    (REPLLAMA, "nDCG-linear@10"): (0.7384, 0.7439, 0.7505, 0.7340),
}
"""Run and measure → means by document ID descending, file order, best case, worst case and, of RR, tied."""
TIES = ("docid_desc", "input", "optimistic", "pessimistic", "expected")


def of_real_run(files, measure, ties):
    if not REAL_RUNS.is_dir():
        pytest.skip("the real runs are not beside the repository")
    folder, run, qrels = files
    return evaluate(read_runs([REAL_RUNS / folder / run], REAL_RUNS / folder / qrels), [measure], ties)


@pytest.mark.parametrize(("files", "measure"), FIGURES)
def test_the_mean_of_a_real_run_is_what_other_tools_measure(files, measure):
    figures = FIGURES[files, measure]
    means = of_real_run(files, measure, TIES[: len(figures)]).scores.mean()
    assert means.to_list() == pytest.approx(figures, abs=5e-5)


@pytest.mark.parametrize(("files", "untied"), [(ROBUST, 33 / 100_000), (REPLLAMA, 640 / 43_000)])
def test_nearly_every_row_of_a_real_run_is_tied(files, untied):
    lists = of_real_run(files, "RR", ["expected"]).lists
    assert 1 - lists["tied_docs"].sum() / lists["n_docs"].sum() == pytest.approx(untied)


@pytest.mark.parametrize(
    ("measure", "grades", "ties", "figure"),
    [
        ("RR", [0, 0, 1, 0, 0], "expected", 0.4567),
        ("GRAG-RR", [0, 0, 1, 0, 0], "expected", 0.3333),
        ("nDCG", [1, 0, 0], "expected", 0.7103),
        ("nDCG@10", [1, 0, 0, 0, 0], "input", 1.0),
        ("nDCG@10", [0, 0, 0, 0, 1], "input", 0.3869),
    ],
)
def test_a_constant_scorer_gets_the_printed_value(measure, grades, ties, figure):
    assert tied(measure, grades, ties) == pytest.approx(figure, abs=5e-5)


@pytest.mark.parametrize(
    ("n_tied", "k", "figure"),
    [(5, 5, 1), (5, 9, 1), (5, 3, 3 / 5), (5, 0, 0), (1, 1, 1)],
)
def test_g_rag_hits_hold_at_the_edges_where_the_printed_equation_slips(n_tied, k, figure):
    above = 2
    scores = [2.0] * above + [1.0] * n_tied
    grades = [0] * (above + n_tied - 1) + [1]
    assert value(f"GRAG-Hits@{above + k}", grades, scores) == pytest.approx(figure)
