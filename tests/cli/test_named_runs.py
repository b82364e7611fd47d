"""NAME=PATH: what a run on the command line is called."""

import pytest

from metrics import read_runs
from metrics.cli.options import parse_run

LISTED = "q Q0 a 1 1 t\nq Q0 b 2 1 t\nr Q0 a 1 1 t\n"
QRELS = "q 0 a 1\nr 0 a 1\n"


@pytest.fixture
def days(tmp_path, monkeypatch):
    """Two runs of one file name, and judgments, in the working folder."""
    for day, run in (("today", LISTED), ("yesterday", LISTED.replace("a 1 1", "a 1 0"))):
        (tmp_path / day).mkdir()
        (tmp_path / day / "electra.run").write_text(run)
    (tmp_path / "qrels.txt").write_text(QRELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUNS = ("today=today/electra.run", "yesterday=yesterday/electra.run", "--qrels", "qrels.txt")
COMMANDS = {
    "evaluate": ("evaluate", *RUNS, "-m", "RR"),
    "compare": ("compare", *RUNS, "--baseline", "yesterday", "-m", "RR"),
    "stability": ("stability", *RUNS, "-m", "RR"),
    "gate": ("gate", *RUNS, "-r", "RR>=0"),
    "report": ("report", *RUNS, "-m", "RR", "--section", "scores"),
    "check": ("check", *RUNS[:2], "qrels.txt"),
}


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_two_files_of_one_name_are_told_apart_by_the_names_given(call, arguments):
    code, out, _ = call(*arguments)
    assert code == 0
    assert "today" in out
    assert "yesterday" in out


FOLDERS = ("today/electra.run", "yesterday/electra.run")


@pytest.mark.parametrize("command", [("evaluate", "-m", "RR"), ("check",), ("compare", "-m", "RR")])
def test_two_files_of_one_name_are_told_apart_by_their_folders(call, days, command):
    judged = ("qrels.txt",) if command[0] == "check" else ("--qrels", "qrels.txt")
    code, out, err = call(command[0], *FOLDERS, *judged, *command[1:])
    assert code == 0
    for name in ("today/electra", "yesterday/electra"):
        assert name in out
        assert name in out + err
    pairs = [(None, days / "today" / "electra.run"), ("old", days / "yesterday" / "electra.run")]
    assert read_runs(pairs, days / "qrels.txt").rerankers == ["electra", "old"]


def test_a_file_with_an_equals_sign_in_its_name_is_a_path(days):
    (days / "k=5.run").write_text(LISTED)
    assert parse_run("k=5.run") == (None, "k=5.run")
    assert parse_run("best=k=5.run") == ("best", "k=5.run")
    assert parse_run("runs/reranker=BM25/part.parquet") == (None, "runs/reranker=BM25/part.parquet")
    assert parse_run("A=s3://bucket/run.parquet") == ("A", "s3://bucket/run.parquet")
    assert parse_run("k=*.run") == (None, "k=*.run")


@pytest.mark.usefixtures("days")
def test_compare_takes_the_order_of_a_tool_as_traditional(call):
    code, out, err = call("compare", *RUNS, "-m", "RR", "--traditional", "docid_asc", "--format", "csv")
    assert code == 0
    assert {line.split(",")[1] for line in out.splitlines()[1:]} == {"docid_asc", "expected"}
    code, _, err = call("compare", *RUNS, "--traditional", "input", "--ties", "expected")
    assert (code, "Give either --traditional or --ties." in err) == (2, True)


TRADITIONAL = {
    "compare": ("compare", *RUNS, "-m", "RR", "--format", "csv"),
    "gate": ("gate", *RUNS, "-r", "RR>=0", "--format", "csv"),
    "report": ("report", *RUNS, "-m", "RR"),
}


@pytest.mark.usefixtures("days")
@pytest.mark.parametrize("arguments", TRADITIONAL.values(), ids=TRADITIONAL)
def test_runs_of_trec_start_with_the_order_of_trec_eval_and_it_is_said(call, arguments):
    _, guessed, err = call(*arguments)
    assert "Tie order for TREC runs: trec_eval: id, descending" in err
    _, chosen, err = call(*arguments, "--traditional", "docid_desc")
    assert (chosen, "Traditional" in err) == (guessed, False)
    assert call(*arguments, "--traditional", "input")[1] != guessed


def test_a_table_starts_with_its_own_order(call, write):
    table = write("t.csv", "reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nB,q,a,1,1\n")
    _, out, err = call("compare", table, "-m", "RR", "--format", "csv")
    assert ("A,input" in out or ",input," in out, "Traditional" in err) == (True, False)
