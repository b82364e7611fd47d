"""`tiescope evaluate --engine dask` prints what the plain command prints, and fails as it does."""

import csv
import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from dask_cluster import scheduler

from metrics import Stored

OPTIONS = [
    "-m",
    "RR",
    "-m",
    "nDCG@3",
    "-m",
    "DR@2",
    "--ties",
    "input",
    "--ties",
    "expected",
    "--ties",
    "optimistic",
]
SLOW_KILLS = """
import time
import psutil
kill = psutil.Process.kill
psutil.Process.kill = lambda process: (kill(process), time.sleep(0.1))
"""
QRELS = "".join(f"q{q} 0 d{d} {d % 3}\n" for q in range(5, 44) for d in (q % 4, q % 5 + 4))


@pytest.fixture(scope="module")
def address():
    """Address of a scheduler in this process."""
    with scheduler() as address:
        yield address


@pytest.fixture
def runs(tmp_path):
    """Two runs in one table, its rows in any order, in one file and in a folder of three."""
    rows = pd.DataFrame(
        {"reranker": np.repeat(["A", "B"], 200), "query_id": [f"q{at % 40}" for at in range(400)]}
    )
    rows["doc_id"], rows["score"] = [f"d{at // 40 % 5}" for at in range(400)], np.arange(400) % 7 / 2
    rows = rows.assign(relevance=np.arange(400) % 11 % 3).sample(frac=1, random_state=1)
    rows.to_parquet(tmp_path / "whole.parquet")
    (tmp_path / "runs").mkdir()
    for number, piece in enumerate(np.array_split(np.arange(400), 3)):
        rows.iloc[piece].to_parquet(tmp_path / "runs" / f"{number}.parquet")
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run_both_engines(call, address, runs):
    """What the command gives, and what it gives with --engine dask: exit code, output, messages."""

    def run(*arguments):
        in_memory = call("evaluate", runs / "whole.parquet", *OPTIONS, *arguments)
        dask_arguments = [
            "evaluate",
            runs / "runs",
            *OPTIONS,
            *arguments,
            "--engine",
            "dask",
            "--scheduler",
            address,
        ]
        return in_memory, call(*dask_arguments)

    return run


def values(text):
    """Records of a CSV, by what they are of."""
    return {tuple(row[:-1]): float(row[-1]) for row in list(csv.reader(io.StringIO(text)))[1:]}


@pytest.mark.parametrize(
    "options", [[], ["--qrels"], ["--qrels", "--missing", "skip", "--empty", "skip"]], ids=str
)
def test_the_same_means_lists_and_counts_are_printed(run_both_engines, runs, options):
    arguments = [
        option for one in options for option in ([one, runs / "qrels.txt"] if one == "--qrels" else [one])
    ]
    for form in ([], ["--per-query"]):
        in_memory, on_dask = run_both_engines("--format", "csv", *form, *arguments)
        assert in_memory[0] == on_dask[0] == 0
        assert values(on_dask[1]) == pytest.approx(values(in_memory[1]), rel=0, abs=1e-12)
    for line in in_memory[2].splitlines():
        if " queries have " in line and "judgments" not in line:
            assert line in on_dask[2].splitlines()


def test_the_same_table_is_printed_and_lists_are_kept(run_both_engines, runs):
    in_memory, on_dask = run_both_engines("--save", runs / "kept.parquet")
    assert sorted(on_dask[1].splitlines()) == sorted(in_memory[1].splitlines())
    assert len(Stored.open(runs / "kept.parquet").load().scores) == 80


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "--scheduler needs --engine dask"),
        (["--engine", "dask", "--per-query"], "add --format csv"),
        (["--engine", "dask", "--save", "nowhere/kept.parquet"], "nowhere/kept.parquet: cannot be written"),
        (
            ["--engine", "dask", "--format", "csv", "-o", "nowhere/out.csv"],
            "nowhere/out.csv: cannot be written",
        ),
        (["--save", "nowhere/kept.parquet"], "nowhere/kept.parquet: cannot be written"),
        (["--engine", "dask", "-m", "Foo"], "'Foo'"),
        (["--engine", "dask", "--tiebreak-by", "foo"], "no score column 'foo'"),
        (["--engine", "dask", "--scheduler", "foo"], "foo: no Dask scheduler answers"),
    ],
)
def test_what_cannot_be_is_one_message_and_exit_code_2(call, runs, options, words):
    code, out, err = call("evaluate", runs / "whole.parquet", *options)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_script_needs_no_guard_and_its_workers_say_nothing(runs):
    rows = pd.read_parquet(runs / "whole.parquet")
    rows.iloc[321, rows.columns.get_loc("score")] = np.nan
    rows.to_parquet(runs / "bad.parquet")
    script = runs / "script.py"
    script.write_text(SLOW_KILLS + "from dashboard import cli\nprint('once')\ncli.main()\n")
    command = [sys.executable, script, "evaluate", runs / "bad.parquet", "--engine", "dask"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 our own
    assert (process.returncode, process.stdout) == (2, "once\n")
    hint = (
        "Map words to numbers, drop the row, or choose another column. "
        "Or rank documents without a score last, or drop them (--missing-score last or drop; "
        "in Python, missing_score)."
    )
    assert process.stderr == f"tiescope: bad.parquet, row 322: score None is not a number. {hint}\n"
