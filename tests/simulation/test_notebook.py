import importlib.util

import numpy as np
import pytest
from repository import SAMPLE

from metrics import evaluate, read_table
from metrics.simulation import (
    NOTEBOOK_RERANKERS,
    NOTEBOOK_SCENARIOS,
    notebook_grag,
    notebook_llm_rerankers,
    notebook_scenarios,
)
from metrics.simulation.notebook import NOTEBOOK_CASES, notebook_cases
from metrics.studies.gaps import gaps


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
    """tie ratio, MRR, MTRR, mean and largest absolute gap of each reranker, and the same by Hits@5."""
    table = gaps(evaluate(runs, ["RR", "Hits@5"]), {"rr": "RR", "hits": "Hits@5"}, "input")
    table = table.assign(rr_size=table["rr_gap"].abs(), hits_size=table["hits_gap"].abs())
    means = ["tie_ratio", "rr_traditional", "rr_tied", "rr_size", "hits_traditional", "hits_tied", "hits_size"]
    groups = table.groupby("reranker", sort=False)
    return groups[means].mean().join(groups[["rr_size", "hits_size"]].max().add_suffix("_max"))


@pytest.mark.parametrize(
    ("reranker", "expected"),
    [
        ("GPT-4 (Low Ties)", [0.5690, 0.6748, 0.6845, 0.0376, 0.9000, 0.8827, 0.0454, 0.3889, 0.8000]),
        ("PaLM-2 (Medium Ties)", [0.8245, 0.5571, 0.5756, 0.0686, 0.7700, 0.7697, 0.0410, 0.4792, 0.8000]),
        ("Claude (High Ties)", [0.9532, 0.5127, 0.5324, 0.1294, 0.7900, 0.7957, 0.1001, 0.5433, 0.8333]),
        (
            "Local LLM (Very High Ties)",
            [0.9685, 0.4802, 0.4840, 0.1667, 0.7500, 0.7679, 0.1461, 0.5092, 0.8333],
        ),
    ],
)
def test_the_notebooks_table_of_llm_rerankers_comes_out_again(reranker, expected):
    assert figures(notebook_llm_rerankers(100)).loc[reranker].to_list() == pytest.approx(expected, abs=5e-5)


@pytest.fixture(scope="module")
def grag():
    return evaluate(notebook_grag(), ["RR", *(f"Hits@{k}" for k in (1, 3, 5, 10))], ["input", "expected"])


@pytest.mark.parametrize(
    ("measure", "traditional", "tied"),
    [
        ("RR", 0.5558, 0.5589),
        ("Hits@1", 0.4000, 0.3990),
        ("Hits@3", 0.6500, 0.6587),
        ("Hits@5", 0.7500, 0.7525),
        ("Hits@10", 0.9000, 0.9020),
    ],
)
def test_the_grag_report_comes_out_again(grag, measure, traditional, tied):
    means = grag.scores[measure].mean()
    assert means.to_list() == pytest.approx([traditional, tied], abs=5e-5)


def test_45_percent_of_the_grag_queries_have_ties_and_its_largest_tie_is_five(grag):
    lists = grag.lists
    assert len(lists) == 100
    assert (lists["n_tie_groups"] > 0).mean() == 0.45
    assert lists["n_tie_groups"].mean() == pytest.approx(0.46)
    assert lists["max_tie_size"].max() == 5


def test_the_four_scenarios_hold_the_notebooks_scores_and_relevance():
    rows = notebook_scenarios().tables["Scenarios"].to_pandas()
    for name, (scores, hit) in NOTEBOOK_SCENARIOS.items():
        rows_of_query = rows[rows["query_id"] == name]
        assert rows_of_query["score"].to_list() == list(scores)
        assert rows_of_query.loc[rows_of_query["relevance"] == 1, "doc_id"].to_list() == [f"doc{hit}"]


def test_every_list_is_drawn_as_the_notebook_draws_it():
    runs = notebook_llm_rerankers(10)
    runs_by_name = {
        (name, query): list(zip(rows["score"], rows["relevance"] == 1, strict=True))
        for name, table in runs.tables.items()
        for query, rows in table.to_pandas().groupby("query_id", sort=False)
    }
    assert runs_by_name == notebook_lists(10)


def test_the_sample_data_is_what_its_script_makes(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("make_llm_rerankers", SAMPLE / "make_llm_rerankers.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "TARGET", tmp_path / "made.csv")
    script.main()
    assert (tmp_path / "made.csv").read_bytes() == (SAMPLE / "llm_rerankers.csv").read_bytes()


def test_the_figures_in_the_readme_of_the_sample_data_are_its_own():
    table = figures(read_table(SAMPLE / "llm_rerankers.csv"))
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    for name, row in table.iterrows():
        cells = next(line for line in readme.splitlines() if line.startswith(f"| {name}")).split("|")
        assert [float(cell) for cell in cells[4:8]] == pytest.approx(row.to_list()[:4], abs=5e-5)


def test_the_notebooks_five_cases_have_its_figures():
    cases = notebook_cases().set_index("case")
    assert cases["orderings"].to_dict() == {
        "Small ties": 4,
        "Medium ties": 72,
        "Large tie": 120,
        "Very large tie": 40_320,
        "Multiple large ties": 3_456,
    }
    assert cases["n_tie_groups"].to_list() == [2, 3, 1, 1, 3]
    assert cases["max_tie_size"].to_list() == [2, 3, 5, 8, 4]
    assert cases.index[~cases["tractable"]].to_list() == ["Very large tie"]
    assert cases["draws"].dropna().to_dict() == {"Very large tie": 4_032}
    assert cases["tie_sizes"].to_dict() == {case: list(sizes) for case, sizes in NOTEBOOK_CASES.items()}
