"""Names that steer a terminal, reorder a line or mark up a page, in what the commands say to people."""

import io
import json
import os
import sys
import unicodedata
from pathlib import Path

import pandas as pd
import pytest

from dashboard import cli

HOSTILE = "\x1b]0;owned\x07\u202eevil <script>alert(1)</script> [a](javascript:x) | b\r"
COMMANDS = {
    "evaluate": ["-m", "RR"],
    "compare": ["-m", "RR"],
    "stability": ["-m", "RR"],
    "gate": ["--require", "RR >= 0.9"],
    "check": [],
    "permutations": ["--query", HOSTILE, "--reranker", HOSTILE],
}


@pytest.fixture
def run(tmp_path):
    """A table of two rerankers, its names hostile, one query without a row of the second."""
    rows = [
        (reranker, query, f"{HOSTILE}{document}", score, document == 1)
        for reranker in (HOSTILE, "plain")
        for query in (HOSTILE, "q1", "q2")[: 3 if reranker == HOSTILE else 2]
        for document, score in ((0, 1.0), (1, 1.0), (2, 0.5))
    ]
    path = tmp_path / "hostile.parquet"
    columns = ["reranker", "query_id", "doc_id", "score", "relevance"]
    pd.DataFrame(rows, columns=columns).astype({"relevance": float}).to_parquet(path)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_no_name_steers_the_terminal_or_reorders_a_line(call, run, command):
    code, out, err = call(command, run, *COMMANDS[command])
    assert code in (0, 1)
    letters = set(out + err) - {"\n"}
    assert "owned" in out + err
    assert {letter for letter in letters if unicodedata.category(letter) in ("Cc", "Cf")} == set()


def test_nor_does_one_in_an_error(call, run):
    code, _, err = call("permutations", run, "--query", "q1", "--reranker", HOSTILE[::-1])
    assert (code, "\u202e" in err, "\x07" in err) == (2, False, False)


def test_markdown_on_stdout_holds_no_markup_of_a_name(call, run):
    _, out, _ = call("evaluate", run, "-m", "RR", "--format", "markdown")
    assert r"\<script>" in out
    assert r"\[a\](javascript:x) \| b" in out


@pytest.mark.parametrize(
    ("name", "read"), [("csv", lambda text: pd.read_csv(io.StringIO(text))), ("json", pd.read_json)]
)
def test_what_programs_read_has_every_name_as_it_is(call, run, name, read):
    _, out, _ = call("evaluate", run, "-m", "RR", "--format", name)
    table = read(io.StringIO(out) if name == "json" else out)
    assert set(table["reranker"]) == {HOSTILE, "plain"}


PRINTED = {
    "evaluate --format csv": [],
    "evaluate --format json": [],
    "evaluate --per-query --format csv": [],
    "check --format csv": [],
    "report --format csv": [],
    "permutations --format json": ["--query", HOSTILE, "--reranker", HOSTILE],
}


def steering(text):
    return {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf")} - {"\n"}


@pytest.fixture
def call_on_a_terminal(call, monkeypatch):
    """Run the command where standard output says that it is a terminal."""

    def run(*arguments):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        return call(*arguments)

    return run


@pytest.mark.parametrize("command", PRINTED)
def test_what_programs_read_steers_no_terminal_and_is_what_it_is_elsewhere(
    call, call_on_a_terminal, run, command
):
    name, *options = command.split()
    arguments = [name, run, *options, *PRINTED[command]]
    piped, shown = call(*arguments)[1], call_on_a_terminal(*arguments)[1]
    assert ("\u202e" in piped, "\\u202e" in shown, steering(shown)) == (True, True, set())
    if "json" in command:
        assert json.loads(shown) == json.loads(piped)


@pytest.mark.parametrize("named", ["", "ba\udcff="])
@pytest.mark.parametrize("command", ["check", "report -o -", "evaluate"])
def test_bytes_of_a_name_that_are_not_text_are_replaced(call, write, tmp_path, command, named):
    qrels, run = write("q.qrels", "q 0 d1 1\n"), os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.trec")
    Path(run).write_text("q Q0 d1 1 0.5 t\nq Q0 d2 2 0.4 t\n")
    name, *options = command.split()
    judged = [qrels] if name == "check" else ["--qrels", qrels]
    code, out, err = call(name, f"{named}{run}", *judged, *options)
    assert (code, "Traceback" in err) == (0, False)
    assert "ba�" in out + err or "bad�" in out + err


@pytest.mark.parametrize("arguments", [["evaluate", f"--{HOSTILE}\x9b"], [f"--{HOSTILE}"], [HOSTILE]])
def test_nor_does_an_option_that_is_unknown(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "argv", ["tiescope", *arguments])
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    err = capsys.readouterr().err
    assert ("\\u202e" in err, steering(err)) == (True, set())
