import json
import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from repository import ROOT

from dashboard import settings


@pytest.fixture
def table(write):
    return write("runs.csv", "query_id,doc_id,score,relevance\nq,a,1,0\nq,b,1,0\nq,c,1,1\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-m", "Foo"], "'Foo'"),
        (["-m", "Hits"], "cut-off"),
        (["--qrels", ""], "'': is a directory."),
        (["--ties", "best"], "'best'"),
        (["--relevant-from", "0"], "relevant_from"),
        (["--missing", "drop"], "drop"),
        (["--format", "xls"], "xls"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_bad_usage_exits_2_with_a_message_on_stderr_alone(call, table, options, words):
    code, out, err = call("evaluate", table, *options)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("bad.trec", "q Q0 a 1 high t\n", "bad.trec, line 1: score 'high' is not a number"),
        ("alone.trec", "q Q0 a 1 1 t\n", "--qrels"),
        ("picture.csv", "\x00\x01\x02", "picture.csv, line 1"),
        (":100:[b].csv", "", ":100:[b].csv: the file is empty"),
    ],
)
def test_unreadable_input_exits_2_with_the_file_and_line_on_stderr(call, write, name, text, words):
    code, out, err = call("evaluate", write(name, text))
    assert (code, out) == (2, "")
    assert err.startswith("tiescope: ")
    assert words in err


def test_the_app_refuses_unreadable_files_before_it_serves(call, streamlit_calls, tmp_path):
    code, _, err = call("app", tmp_path / "missing.trec")
    assert code == 2
    assert "missing.trec" in err
    assert not streamlit_calls


def test_the_app_is_served_to_this_machine_alone_unless_told_otherwise(call, streamlit_calls):
    assert call("app")[0] == 0
    assert call("app", "--port", 8600, "--host", "::1")[0] == 0
    assert [arguments[2:] for arguments in streamlit_calls] == [
        ["--server.port=8501", "--server.address=127.0.0.1"],
        ["--server.port=8600", "--server.address=::1"],
    ]
    assert all(arguments[:2] == ["run", str(ROOT / "dashboard" / "asgi.py")] for arguments in streamlit_calls)


def test_the_app_refuses_a_file_without_rows_at_once(call, streamlit_calls, write):
    code, _, err = call("app", write("bare.csv", "query_id,doc_id,score,relevance\n"))
    assert (code, streamlit_calls) == (2, [])
    assert "bare.csv, line 1: the file has only a header" in err


def test_the_app_is_told_which_files_to_open(call, streamlit_calls, write):
    run, qrels = write("llm.trec", "q Q0 a 1 1 t\n"), write("qrels.txt", "q 0 a 1\n")
    assert call("app", f"LLM={run}", "--qrels", qrels)[0] == 0
    assert json.loads(os.environ[settings.OPEN])["runs"] == [["LLM", str(run.resolve())]]
    assert call("app", run, "--qrels", qrels)[0] == 0
    environment = {"runs": [str(run.resolve())], "qrels": str(qrels.resolve()), "stored": []}
    assert json.loads(os.environ[settings.OPEN]) == environment
    assert len(streamlit_calls) == 2


def test_the_command_is_called_tiescope():
    (command,) = entry_points(group="console_scripts", name="tiescope")
    assert command.value == "tiescope.__main__:main"


def process(*arguments):
    code = "from dashboard.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 our own interpreter


def test_a_process_exits_0_with_data_on_stdout_and_nothing_on_stderr(write):
    table = write("llm.csv", "query_id,doc_id,score,relevance\nq,a,1,0\nq,b,1,0\nq,c,1,1\n")
    finished = process("evaluate", table, "--format", "csv", "-m", "RR", "--ties", "expected")
    assert finished.returncode == 0
    assert finished.stdout == "reranker,measure,ties,value\nllm,RR,expected,0.6111111111111112\n"
    assert finished.stderr == ""


@pytest.mark.parametrize("arguments", [["evaluate", "missing.trec"], ["evaluate"], ["no-such-command"]])
def test_a_process_exits_2_with_a_message_and_no_traceback(arguments):
    finished = process(*arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.strip()
    assert "Traceback" not in finished.stderr


def test_the_text_compares_an_own_tie_rule_with_the_replaced_measure(call, table):
    _, out, err = call("evaluate", table, "-m", "TsRR", "--format", "csv")
    assert "TsRR settles ties by its own rule" in err
    assert "Choose RR to see the effect of tie order." in err
    _, out, err = call("permutations", table, "--query", "q", "-m", "taRR", "--format", "csv")
    assert out.splitlines()[0] == "ordering,documents,first_relevant,RR"
    assert "taRR settles ties by its own rule: 0.5000" in err
    code, out, _ = call("gate", table, "-r", "PRR>=0.3")
    assert (code, out.strip().endswith(": by the measure's own rule for ties")) == (0, True)
    _, _, err = call("evaluate", table, "-m", "RR")
    assert "own rule" not in err


@pytest.mark.parametrize(
    "command",
    ["evaluate", "stability", "report", "audit", "gate", "review"],
)
def test_judgments_of_other_queries_are_reported(call, write, command):
    run, qrels = write("llm.trec", "q1 Q0 a 1 1 t\n"), write("other.txt", "zq1 0 a 1\n")
    published = write("published.csv", "model,MRR\nt,0.5\n")
    options = {"gate": ["-r", "RR>=0.5"], "audit": ["-p", published]}.get(command, [])
    _, _, err = call(command, run, "--qrels", qrels, *options)
    assert err.count("error · llm.trec · No query of the run is judged") == 1
