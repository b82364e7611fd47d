"""Figures measured by other tools on two public runs, four decimals."""

import pytest
from repository import REAL_RUNS

from metrics import evaluate, read_runs

pytestmark = pytest.mark.skipif(not REAL_RUNS.is_dir(), reason="the real runs are not beside the repository")

FIGURES = {
    ("trec-dl-2019", "repllama.trec", "qrels.txt"): {
        "expected": 0.9851,
        "docid_desc": 0.9884,
        "pessimistic": 0.9826,
        "input": 0.9845,
        "optimistic": 0.9884,
    },
    ("robust-2003", "rutcor03100.trec.gz", "qrels.txt.gz"): {
        "expected": 0.3117,
        "docid_desc": 0.3379,
        "input": 0.2796,
        "optimistic": 0.5232,
        "pessimistic": 0.1876,
    },
}


@pytest.mark.parametrize("files", FIGURES, ids=lambda files: files[1])
def test_mrr_of_a_real_run_is_what_other_tools_measure(files):
    folder, run, qrels = files
    figures = FIGURES[files]
    evaluation = evaluate(
        read_runs([REAL_RUNS / folder / run], REAL_RUNS / folder / qrels), ["RR"], list(figures)
    )
    means = evaluation.scores["RR"].mean()
    assert means.to_dict() == pytest.approx(figures, abs=5e-5)


@pytest.mark.parametrize(
    ("folder", "run", "qrels", "untied"),
    [
        ("robust-2003", "rutcor03100.trec.gz", "qrels.txt.gz", 33 / 100_000),
        ("trec-dl-2019", "repllama.trec", "qrels.txt", 640 / 43_000),
    ],
)
def test_nearly_every_row_of_a_real_run_is_tied(folder, run, qrels, untied):
    lists = evaluate(
        read_runs([REAL_RUNS / folder / run], REAL_RUNS / folder / qrels), ["RR"], ["expected"]
    ).lists
    assert 1 - lists["tied_docs"].sum() / lists["n_docs"].sum() == pytest.approx(untied)
