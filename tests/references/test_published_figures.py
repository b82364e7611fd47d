"""Figures printed in the sources: the seeds, the papers they cite, and other tools on public runs."""

import pandas as pd
import pytest
from repository import REAL_RUNS

from metrics import Runs, evaluate, read_runs


def value(measure, grades, scores=None, ties="expected"):
    """One list, top first unless scores say otherwise."""
    scores = scores or range(len(grades), 0, -1)
    ids = [str(place) for place in range(len(grades))]
    table = pd.DataFrame({"query_id": "q", "doc_id": ids, "score": scores, "relevance": grades})
    return evaluate(Runs.from_frame(table), [measure], [ties]).scores.iloc[0, 0]


def tied(measure, grades, ties="expected"):
    return value(measure, grades, [1.0] * len(grades), ties)


FIGURES = {
    ("robust-2003", "rutcor03100.trec.gz", "qrels.txt.gz"): {
        "AP": {"docid_desc": 0.0737, "input": 0.0582, "optimistic": 0.1372, "pessimistic": 0.0416},
        "nDCG-linear@10": {"docid_desc": 0.1531, "input": 0.1213, "optimistic": 0.2693, "pessimistic": 0.0742},
    },
    ("trec-dl-2019", "repllama.trec", "qrels.txt"): {
        "AP": {"docid_desc": 0.5347, "input": 0.5345, "optimistic": 0.5404, "pessimistic": 0.5285},
        "nDCG-linear@10": {"docid_desc": 0.7384, "input": 0.7439, "optimistic": 0.7505, "pessimistic": 0.7340},
    },
}


@pytest.mark.skipif(not REAL_RUNS.is_dir(), reason="the real runs are not beside the repository")
@pytest.mark.parametrize("files", FIGURES, ids=lambda files: files[1])
def test_map_and_linear_ndcg_of_a_real_run_are_what_other_tools_measure(files):
    folder, run, qrels = files
    runs = read_runs([REAL_RUNS / folder / run], REAL_RUNS / folder / qrels)
    figures = FIGURES[files]
    ties = ["docid_desc", "input", "optimistic", "pessimistic"]
    means = evaluate(runs, list(figures), ties).scores.mean()
    for measure, each in figures.items():
        assert means[measure].to_dict() == pytest.approx(each, abs=5e-5)


def test_five_tied_documents_with_one_relevant_tell_mtrr_and_the_g_rag_paper_apart():
    grades = [0, 0, 1, 0, 0]
    assert tied("RR", grades) == pytest.approx(0.4567, abs=5e-5)
    assert tied("GRAG-RR", grades) == pytest.approx(0.3333, abs=5e-5)


@pytest.mark.parametrize(
    ("n_tied", "k", "figure"),
    [(5, 5, 1), (5, 9, 1), (5, 3, 3 / 5), (5, 0, 0), (1, 1, 1)],
)
def test_g_rag_hits_hold_at_the_edges_where_the_printed_equation_slips(n_tied, k, figure):
    above = 2
    scores = [2.0] * above + [1.0] * n_tied
    grades = [0] * (above + n_tied - 1) + [1]
    assert value(f"GRAG-Hits@{above + k}", grades, scores) == pytest.approx(figure)


def test_ndcg_of_three_tied_documents_with_one_relevant():
    assert tied("nDCG", [1, 0, 0]) == pytest.approx(0.7103, abs=5e-5)


@pytest.mark.parametrize(("grades", "figure"), [([1, 0, 0, 0, 0], 1.0), ([0, 0, 0, 0, 1], 0.387)])
def test_a_constant_scorer_gets_what_the_input_order_gives(grades, figure):
    assert tied("nDCG@10", grades, "input") == pytest.approx(figure, abs=5e-4)


@pytest.mark.parametrize("rank", [1, 2, 7])
def test_tsrr_without_ties_is_the_reciprocal_rank(rank):
    grades = [int(place == rank) for place in range(1, 9)]
    assert value("TsRR", grades) == pytest.approx(1 / rank)


def test_prr_is_the_reciprocal_rank_of_the_worst_order():
    scores, grades = [3, 2, 2, 2, 2, 1], [0, 1, 0, 1, 0, 0]
    assert value("PRR", grades, scores) == pytest.approx(1 / 4)
    assert value("PRR", grades, scores) == pytest.approx(value("RR", grades, scores, "pessimistic"))


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_tsrr_of_a_full_tie_with_one_relevant_is_the_pessimistic_reciprocal_rank(size):
    grades = [1] + [0] * (size - 1)
    assert tied("TsRR", grades) == pytest.approx(1 / size)
    assert tied("TsRR", grades) == pytest.approx(tied("RR", grades, "pessimistic"))
