import csv
import io
import json
import re

import pandas as pd
import pytest

from metrics import evaluate, read_runs
from metrics.cli.output import write_table

TABLE = """reranker,query_id,doc_id,score,relevance
[b]LLM,q1,a,1,0
[b]LLM,q1,b,1,0
[b]LLM,q1,c,1,1
[b]LLM,q2,a,3,1
:100:,q1,a,1,1
:100:,q3,b,2,0
"""


@pytest.fixture
def table(write):
    return write("runs.csv", TABLE)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_holds_the_means_under_the_columns_promised(call, table):
    code, out, _ = call("evaluate", table, "--format", "csv", "-m", "RR", "-m", "Hits@2")
    assert code == 0
    assert out.splitlines()[0] == "reranker,measure,ties,value"
    summary = evaluate(read_runs([table]), ["RR", "Hits@2"]).summary().xs("mean", axis=1, level=2)
    exact = {(name, *column): value for column, part in summary.items() for name, value in part.items()}
    assert {(r["reranker"], r["measure"], r["ties"]): float(r["value"]) for r in rows(out)} == exact


@pytest.mark.parametrize("command", ["evaluate", "compare", "report"])
def test_people_read_values_of_a_hundred_digits_as_powers_of_ten(call, write, command):
    graded = "".join(f"r{query % 2},q{query // 2},d,1,{500 - query}\n" for query in range(8))
    path = write("runs.csv", f"reranker,query_id,doc_id,score,relevance\n{graded}")
    code, out, _ = call(command, path, "--measure", "DCG")
    assert code == 0
    assert "e+150" in out
    assert not re.findall(r"\d{20}", out)


def test_csv_per_query_holds_every_value_to_the_last_bit(call, table):
    _, out, _ = call("evaluate", table, "--format", "csv", "--per-query", "-m", "RR")
    assert out.splitlines()[0] == "reranker,query_id,measure,ties,value"
    scores = evaluate(read_runs([table]), ["RR"]).scores
    exact = {(*row, *column): value for column, part in scores.items() for row, value in part.items()}
    values = {(r["reranker"], r["query_id"], r["measure"], r["ties"]): float(r["value"]) for r in rows(out)}
    assert values == exact
    assert "0.6111111111111112" in out


def test_json_holds_the_same_records_as_csv_to_the_last_bit(call, table):
    arguments = ["evaluate", table, "--per-query", "-m", "RR", "--format"]
    records = json.loads(call(*arguments, "json")[1])
    assert records == [row | {"value": float(row["value"])} for row in rows(call(*arguments, "csv")[1])]


def test_json_of_a_reranker_without_a_scored_list_is_valid_and_null(call, write):
    path = write("none.csv", "query_id,doc_id,score,relevance\nq,a,1,0\n")
    arguments = ["-m", "RR", "--ties", "expected", "--empty", "skip", "--format", "json"]
    _, out, _ = call("evaluate", path, *arguments)
    assert [record["value"] for record in json.loads(out, parse_constant=pytest.fail)] == [None]


@pytest.mark.parametrize("form", ["csv", "json", "table"])
def test_an_output_file_holds_what_would_be_printed(call, table, tmp_path, form):
    target = tmp_path / "out.txt"
    printed = call("evaluate", table, "--format", form)[1]
    code, out, _ = call("evaluate", table, "--format", form, "-o", target)
    assert (code, out) == (0, "")
    assert target.read_text(encoding="utf-8").split() == printed.split()


def test_parquet_holds_every_value_as_it_is(call, table, tmp_path):
    target = tmp_path / "out.parquet"
    assert call("evaluate", table, "--format", "parquet", "-o", target, "--per-query", "-m", "RR")[0] == 0
    values = pd.read_parquet(target)
    assert values.columns.to_list() == ["reranker", "query_id", "measure", "ties", "value"]
    assert values["value"].max() == 1
    assert values["value"].sum() == evaluate(read_runs([table]), ["RR"]).scores.to_numpy().sum()


def test_the_table_shows_four_decimals_and_names_as_they_are(call, table):
    _, out, _ = call("evaluate", table, "-m", "RR", "--ties", "expected", "--ties", "input")
    lines = [line.split() for line in out.splitlines()]
    assert lines == [
        ["reranker", "measure", "expected", "input"],
        ["[b]LLM", "RR", "0.8056", "0.6667"],
        [":100:", "RR", "0.5000", "0.5000"],
    ]


@pytest.mark.parametrize(("policy", "outcome"), [("skip", "left out"), ("one", "counted as 1")])
def test_messages_about_policies_go_to_stderr(call, write, policy, outcome):
    run = write("llm.trec", "q1 Q0 a 1 1 t\n")
    qrels = write("qrels.txt", "q1 0 a 1\nq2 0 a 1\nq3 0 a 0\n")
    _, out, err = call("evaluate", run, "--qrels", qrels, "--format", "csv", "--empty", policy)
    assert "llm: 2 of 3 queries have no rows, counted as 0." in err
    assert f"llm: 1 of 3 queries has no relevant documents, {outcome}." in err
    assert "queries" not in out


@pytest.mark.parametrize(
    ("options", "value"),
    [([], 1 / 4), (["--missing", "skip"], 1 / 2), (["--relevant-from", "2"], 1 / 6)],
)
def test_policies_are_those_of_evaluate(call, write, options, value):
    run = write("llm.trec", "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq1 Q0 c 3 0 t\n")
    qrels = write("qrels.txt", "q1 0 b 1\nq1 0 c 2\nq2 0 a 2\n")
    _, out, _ = call(
        "evaluate", run, "--qrels", qrels, "--format", "csv", "-m", "RR", "--ties", "input", *options
    )
    assert float(rows(out)[0]["value"]) == pytest.approx(value)


def test_no_number_for_people_is_a_negative_zero(capsys):
    write_table(pd.DataFrame({"difference": [-1e-17, -0.25]}), "table", None)
    assert capsys.readouterr().out.split() == ["difference", "0.0000", "-0.2500"]
