import importlib.util

import numpy as np
import pandas as pd
import pytest
from repository import SAMPLE

from metrics import evaluate, read_table
from metrics.simulation import NOTEBOOK_RERANKERS, LlmReranker, notebook_llm_rerankers


def notebook_lists(n_queries):
    """The notebook's loop in its own order of draws: (reranker, query) → [(score, relevant)]."""
    draw, lists = np.random.RandomState(42), {}
    for query in range(n_queries):
        n = draw.randint(8, 20)
        hits = set(draw.choice(n, size=draw.randint(1, min(5, n)), replace=False))
        for name, reranker in NOTEBOOK_RERANKERS.items():
            scores = list(draw.uniform(0.1, 0.9, n))
            for document in sorted(hits):
                if draw.random_sample() > 0.1:
                    scores[document] += draw.uniform(0.1, 0.3)
            levels = np.linspace(0, 1, reranker.levels)
            scores = [min(levels, key=lambda level: abs(level - min(score, 1))) for score in scores]
            for document in range(n):
                if draw.random_sample() < reranker.tie_probability:
                    other = draw.choice([one for one in range(n) if one != document])
                    scores[other] = scores[document]
            lists[name, f"q{query:03d}"] = [(score, document in hits) for document, score in enumerate(scores)]
    return lists


def figures(runs):
    """tie ratio, MRR, MTRR and mean absolute gap of each reranker."""
    evaluation = evaluate(runs, ["RR"], ["input", "expected"])
    rr = evaluation.scores["RR"]
    columns = {
        "ties": evaluation.lists["tie_ratio"],
        "mrr": rr["input"],
        "mtrr": rr["expected"],
        "gap": (rr["input"] - rr["expected"]).abs(),
    }
    return pd.DataFrame(columns).groupby(level="reranker", sort=False).mean()


@pytest.mark.parametrize(
    ("reranker", "known"),
    [
        ("GPT-4 (Low Ties)", [0.5690, 0.6748, 0.6845, 0.0376]),
        ("PaLM-2 (Medium Ties)", [0.8245, 0.5571, 0.5756, 0.0686]),
    ],
)
def test_the_notebooks_figures_come_out_again(reranker, known):
    assert figures(notebook_llm_rerankers(100)).loc[reranker].to_list() == pytest.approx(known, abs=5e-5)


def test_every_list_is_drawn_as_the_notebook_draws_it():
    runs = notebook_llm_rerankers(10)
    drawn = {
        (name, query): list(zip(rows["score"], rows["relevance"] == 1, strict=True))
        for name, table in runs.tables.items()
        for query, rows in table.to_pandas().groupby("query_id", sort=False)
    }
    assert drawn == notebook_lists(10)


def test_the_sample_data_is_what_its_script_makes(tmp_path, monkeypatch):
    found = importlib.util.spec_from_file_location("make_llm_rerankers", SAMPLE / "make_llm_rerankers.py")
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    monkeypatch.setattr(script, "TARGET", tmp_path / "made.csv")
    script.main()
    assert (tmp_path / "made.csv").read_bytes() == (SAMPLE / "llm_rerankers.csv").read_bytes()


def test_the_sample_data_reads_back_as_the_simulated_runs():
    runs, made = read_table(SAMPLE / "llm_rerankers.csv"), notebook_llm_rerankers()
    assert runs.rerankers == made.rerankers
    for name in runs.rerankers:
        assert runs.tables[name].to_pydict() == made.tables[name].to_pydict()


def test_the_figures_in_the_readme_of_the_sample_data_are_its_own():
    table = figures(read_table(SAMPLE / "llm_rerankers.csv"))
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    for name, row in table.iterrows():
        cells = next(line for line in readme.splitlines() if line.startswith(f"| {name}")).split("|")
        assert [float(cell) for cell in cells[4:8]] == pytest.approx(row.to_list(), abs=5e-5)


@pytest.mark.parametrize("levels", [1, 2, 5, 20])
def test_a_simulated_score_is_one_of_the_levels(levels):
    relevant = np.arange(50) % 7 == 0
    scores = LlmReranker(0.3, levels).scores(relevant, np.random.RandomState(1))
    assert set(scores) <= set(np.linspace(0, 1, levels))


def test_a_simulated_list_of_one_document_has_no_other_to_tie_with():
    scores = LlmReranker(1, 3).scores(np.array([True]), np.random.RandomState(1))
    assert len(scores) == 1


def test_a_simulation_is_the_same_each_time():
    first, second = notebook_llm_rerankers(5), notebook_llm_rerankers(5)
    assert all(first.tables[name].equals(second.tables[name]) for name in first.rerankers)
