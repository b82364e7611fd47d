"""The library needs no thread, no process and no network: what a notebook in a browser lacks."""

import subprocess
import sys

import pytest

ALONE = """
import _thread, os, socket, subprocess, sys, threading

def refuse(*_, **__):
    raise RuntimeError("not in a browser")

for owner, name in (
    (threading.Thread, "start"), (_thread, "start_new_thread"), (subprocess.Popen, "__init__"), (os, "fork"),
    (socket.socket, "connect"), (socket, "getaddrinfo"),
):
    setattr(owner, name, refuse)

import metrics

runs = metrics.read_runs(["llm.trec"], qrels="qrels.txt")
table = metrics.read_table("judged.csv")
evaluation = metrics.evaluate(runs, ["RR", "Hits@3", "nDCG@10", "AP"])
evaluation.summary(), metrics.evaluate(table).summary()
runs.findings, runs._repr_html_(), evaluation._repr_html_()
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""
NEEDED = {"numpy", "pandas", "pyarrow"}
NOT_NEEDED = {"alembic", "jinja2", "platformdirs", "plotly", "rich", "scipy", "sqlalchemy"}
NOT_THERE = {"dashboard", "multiprocessing", "sqlite3", "streamlit", "typer", "webbrowser"}


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Names of what a process imported that read, scored and showed without threads or network."""
    folder = tmp_path_factory.mktemp("alone")
    lists = [(f"q{query}", f"d{document}") for query in range(5) for document in range(9)]
    run = "".join(f"{query} Q0 {document} 1 {int(document[1]) % 3} t\n" for query, document in lists)
    (folder / "llm.trec").write_text(run)
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {document} 1\n" for query, document in lists[::4]))
    rows = "".join(f"{query},{document},{int(document[1]) % 3},1\n" for query, document in lists)
    (folder / "judged.csv").write_text(f"query_id,doc_id,score,relevance\n{rows}")
    command = [sys.executable, "-W", "error", "-c", ALONE]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 our own
    assert process.returncode == 0, process.stderr
    return set(process.stdout.split())


def test_runs_are_read_scored_and_shown_without_threads_processes_or_network(imported):
    assert imported >= NEEDED | {"metrics"}


def test_to_score_takes_numpy_pandas_and_pyarrow_and_no_other_package(imported):
    assert not imported & (NOT_NEEDED | NOT_THERE)
