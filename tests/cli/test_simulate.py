import pandas as pd
import pytest
from repository import SAMPLE

import metrics
from metrics.simulation import LlmReranker, notebook_grag, simulate


def test_a_simulated_reranker_is_written_as_a_table_that_reads_back(call, tmp_path):
    path = tmp_path / "made.csv"
    options = ["--queries", 30, "--tie-probability", 0.7, "--levels", 3]
    code, out, err = call("simulate", "-o", path, *options)
    runs = metrics.read_table(path)
    assert (code, out) == (0, "")
    assert "1 reranker" in err
    assert runs.rerankers == ["LLM (0.7 ties, 3 levels)"]
    assert all(len(queries) == 30 for queries in runs.queries.values())


def test_the_notebooks_rerankers_are_the_sample_data(call, tmp_path):
    path = tmp_path / "made.csv"
    assert call("simulate", "notebook-llm", "-o", path)[0] == 0
    assert path.read_bytes() == (SAMPLE / "llm_rerankers.csv").read_bytes()


def test_parquet_holds_the_same_rows_as_csv(call, tmp_path):
    for name in ("made.csv", "made.parquet"):
        assert call("simulate", "notebook-grag", "-o", tmp_path / name)[0] == 0
    table = pd.read_parquet(tmp_path / "made.parquet")
    assert table["score"].to_list() == pd.read_csv(tmp_path / "made.csv")["score"].to_list()
    assert table["segment"].nunique() == 4
    assert len(table) == len(notebook_grag().tables["G-RAG"])


def test_documents_and_relevant_are_a_number_or_a_range(call, tmp_path):
    path = tmp_path / "made.csv"
    call("simulate", "-o", path, "--documents", "4-6", "--relevant", 2, "--segments")
    lists = pd.read_csv(path).groupby("query_id")
    assert set(lists.size()) == {4, 5, 6}
    assert set(lists["relevance"].sum()) == {2}
    assert lists["segment"].first().nunique() == 4


def test_several_rerankers_are_named_with_their_ties_levels_and_performance(call, tmp_path):
    path = tmp_path / "made.csv"
    options = ["--reranker", "0,0,1,Exact", "--reranker", "0.5,5,,Coarse", "--reranker", "0.5,5"]
    assert call("simulate", "-o", path, "--queries", 20, *options)[0] == 0
    runs = metrics.read_table(path)
    assert runs.rerankers == ["Exact", "Coarse", "LLM (0.5 ties, 5 levels)"]
    expected = simulate({"Exact": LlmReranker(0, 0, 1), "Coarse": LlmReranker(0.5, 5)}, 20)
    for name in expected.rerankers:
        assert runs.tables[name]["score"].equals(expected.tables[name]["score"])


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("notebook-synthetic", ["--queries", 50]),
        ("synthetic", ["--performance", 0.5]),
        ("llm", ["--segments", "--performance", 0.5]),
        ("llm", ["--reranker", "0.5,5", "--tie-probability", 0.2]),
        ("llm", ["--reranker", "0.5,5", "--levels", 3]),
        ("llm", ["--reranker", "0.5,5,0.5", "--segments"]),
    ],
)
def test_an_option_that_a_kind_would_ignore_is_refused_by_name(call, tmp_path, kind, options):
    code, _, err = call("simulate", kind, "-o", tmp_path / "made.csv", *options)
    assert code == 2
    assert options[0] in err or "Each segment has its own performance" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "made.txt"], "name it .csv or .parquet"),
        (["-o", "nowhere/made.csv"], "cannot be written"),
        (["-o", "nowhere/made.parquet"], "cannot be written"),
        (["-o", "made.csv", "--queries", 0], "0 queries"),
        (["-o", "made.csv", "--documents", "many"], "'many': write a number"),
        (["-o", "made.csv", "--tie-probability", 2], "tie probability=2"),
        (["-o", "made.csv", "--reranker", "Mine"], "'Mine' does not describe a reranker"),
        (["-o", "made.csv", "--reranker", "2,3"], "tie probability=2"),
        (["-o", "made.csv", "dice"], "dice"),
        ([], "--output"),
    ],
)
def test_what_cannot_be_simulated_exits_with_2(call, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = call("simulate", *arguments)
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_the_same_seed_writes_the_same_file(call, tmp_path):
    for name, seed in (("first.csv", 1), ("again.csv", 1), ("other.csv", 2)):
        call("simulate", "synthetic", "-o", tmp_path / name, "--queries", 20, "--seed", seed)
    first, again, other = ((tmp_path / f"{name}.csv").read_bytes() for name in ("first", "again", "other"))
    assert first == again
    assert first != other
