"""The docstring search: one model in six precisions, and no text of anybody's."""

import re

import numpy as np
import pytest
from pyarrow import parquet
from repository import ROOT, SAMPLE

from metrics import evaluate, read_table
from metrics.studies.audit.published_table import MEASURES as PRINTED
from metrics.studies.audit.published_table import example_table
from metrics.studies.emulation import tool_values

FOLDER = SAMPLE / "docsearch"
FULL = "MiniLM float32"
MEASURES, TIES = ("RR", "Hits@1", "nDCG@10"), ("expected", "optimistic", "pessimistic")
ID = re.compile(r"q\d{3}|(numpy|scipy|pandas|sklearn)(\.\w+)+")
AS_PRECISION = {"MiniLM float16": "float16", "MiniLM bfloat16": "bfloat16", "MiniLM two decimals": "decimals:2"}
STORED = {
    "MiniLM int8": lambda score: round(score * 127),
    "MiniLM grade 0-10": lambda score: round(10 * max(score, 0)),
}
"""Similarity → what is stored."""


@pytest.fixture(scope="module")
def rows():
    return parquet.read_table(FOLDER / "docsearch.parquet").to_pandas()


@pytest.fixture(scope="module")
def runs():
    return read_table(FOLDER / "docsearch.parquet")


@pytest.fixture(scope="module")
def scores(rows):
    """(query, document) × reranker → score."""
    return rows.pivot(index=["query_id", "doc_id"], columns="reranker", values="score")


def scored(runs, **options):
    return evaluate(runs, MEASURES, TIES, **options).scores


def figures(runs):
    """Of each reranker: tie ratio, MRR by file order, tied, worst and best."""
    evaluation = evaluate(runs, ["RR"], ["input", "expected", "pessimistic", "optimistic"])
    means = (
        evaluation.scores["RR"]
        .assign(ties=evaluation.lists["tie_ratio"])
        .groupby(level="reranker", sort=False)
        .mean()
    )
    return means[["ties", "input", "expected", "pessimistic", "optimistic"]]


def test_eight_rerankers_rank_the_same_fifty_candidates_of_each_of_200_queries(runs, rows, scores):
    assert "error" not in set(runs.findings["severity"])
    assert {name: len(queries) for name, queries in runs.queries.items()} == dict.fromkeys(scores, 200)
    assert len(runs.rerankers) == 8
    assert scores.notna().all(axis=None)
    assert (scores.groupby("query_id").size() == 50).all()
    distinct_values = rows.groupby(["query_id", "doc_id"])[["relevance", "target_id", "segment"]].nunique()
    assert (distinct_values == 1).all(axis=None)


@pytest.mark.parametrize(("name", "precision"), AS_PRECISION.items())
def test_a_run_of_lower_precision_is_the_full_one_rounded(runs, name, precision):
    full = scored(runs, precision=precision).loc[FULL]
    for measure in MEASURES:
        np.testing.assert_allclose(scored(runs).loc[name][measure], full[measure])


@pytest.mark.parametrize("name", STORED)
def test_a_run_of_whole_numbers_is_the_full_one_rounded(scores, name):
    assert scores[name].tolist() == [STORED[name](score) for score in scores[FULL]]


def test_the_full_scores_are_of_32_bits_and_similarities(scores):
    full = scores[FULL].to_numpy()
    assert (full.astype(np.float32) == full).all()
    assert (np.abs(full) <= 1).all()


def test_a_list_is_written_best_first_with_ties_as_the_first_stage_had_them(rows):
    rows = rows.assign(place=rows.groupby(["reranker", "query_id"]).cumcount())
    first = rows[rows["reranker"] == "BM25"].set_index(["query_id", "doc_id"])["place"]
    before = rows.join(first.rename("before"), on=["query_id", "doc_id"])
    sorted_ = before.sort_values("before", kind="stable").sort_values("score", ascending=False, kind="stable")
    again = sorted_.sort_values(["reranker", "query_id"], kind="stable")
    ordered = rows.sort_values(["reranker", "query_id"], kind="stable")
    assert again["doc_id"].tolist() == ordered["doc_id"].tolist()


def test_nothing_but_ids_is_in_it(rows):
    for column in ("query_id", "doc_id", "target_id"):
        assert all(ID.fullmatch(one) for one in rows[column].unique())
    assert set(rows["segment"]) == {"numpy", "scipy", "pandas", "scikit-learn"}
    assert set(rows) == {
        *("reranker", "query_id", "doc_id", "score", "bm25"),
        *("relevance", "target_id", "segment", "latency"),
    }


def test_every_list_was_timed_and_every_document_has_its_bm25_score(rows, scores):
    beside = rows.join(scores["BM25"], on=["query_id", "doc_id"])
    assert (beside["bm25"] == beside["BM25"]).all()
    assert (rows["latency"] > 0).all()
    assert (rows.groupby(["reranker", "query_id"])["latency"].nunique() == 1).all()


def test_the_figures_in_its_readme_are_its_own(runs):
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    table = figures(runs)
    for name, row in table.iterrows():
        cells = next(line for line in readme.splitlines() if line.startswith(f"| {name} ")).split("|")
        assert [float(cell) for cell in cells[2:7]] == pytest.approx(row.to_list(), abs=5e-5), name


def test_the_tools_in_its_readme_give_the_file_two_values_and_two_leaders(runs):
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    values = tool_values(runs, "RR", runs.rerankers).pivot_table("value", "reranker", "tool")
    rows = re.findall(r"^\| (MiniLM [\w -]+) \| (\.\d{4}) \| (\.\d{4}) \|$", readme, re.MULTILINE)
    assert len(rows) == 3
    for name, as_listed, by_id in rows:
        printed = [float(as_listed), float(by_id), float(by_id)]
        assert values.loc[name, ["BEIR", "trec_eval", "MTEB"]].to_list() == pytest.approx(printed, abs=5e-5)
    ranks = values.round(12).rank(ascending=False, method="min")
    assert ranks.index[ranks["BEIR"] == 1].to_list() == ["MiniLM grade 0-10"]
    assert set(ranks.index[ranks["trec_eval"] == 1]) == {FULL, "MiniLM float16"}
    assert ranks.loc["MiniLM grade 0-10", "trec_eval"] == 7


@pytest.mark.parametrize("name", ["requirements.txt", "requirements/server.txt", "requirements/dev.txt"])
def test_nobody_else_needs_what_made_it(name):
    pinned = (ROOT / name).read_text(encoding="utf-8")
    assert "minilm" not in pinned
    assert "torch" not in pinned


def test_the_figures_of_the_prompts_are_those_of_the_file():
    runs = read_table(FOLDER / "prompts.parquet")
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    prompts = [name for name in runs.rerankers if "prompt" in name]
    values = evaluate(runs, ["RR"], ["expected"]).means("RR")["expected"]
    assert re.findall(r"\| MiniLM prompt.*\| (\.\d{4}) \|", text) == [
        f"{value:.4f}".removeprefix("0") for value in values[prompts]
    ]


def test_only_the_words_around_the_query_differ_between_prompts(runs):
    prompts = read_table(FOLDER / "prompts.parquet")
    for name, same in (("BM25", "BM25"), ("TF-IDF", "TF-IDF"), ("MiniLM prompt 1", FULL)):
        frames = [
            board.tables[reranker].to_pandas().astype({"query_id": str}).set_index(["query_id", "doc_id"])
            for board, reranker in ((prompts, name), (runs, same))
        ]
        both = frames[0].join(frames[1].add_suffix("_of_all"))
        assert len(both) == 5000
        assert both["score"].to_numpy() == pytest.approx(both["score_of_all"].to_numpy(), rel=1e-5, abs=1e-6)
        assert (both["relevance"] == both["relevance_of_all"]).all()


def test_the_published_table_is_what_a_careless_script_prints(runs):
    printed = (FOLDER / "leaderboard.csv").read_text(encoding="utf-8")
    assert printed == example_table(evaluate(runs, PRINTED, "input"))
    header, first, *_ = printed.splitlines()
    assert header == "reranker,MRR,MAP,nDCG@10,P@10,R@10,Hits@1"
    assert first == "MiniLM grade 0-10,0.7734,0.6370,0.7050,0.2485,0.7919,0.6900"
