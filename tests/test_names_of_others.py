"""`tiescope` beside modules of the same names that somebody else wrote."""

import os
import subprocess
import sys

import pytest
from repository import ROOT, SAMPLE

import metrics
import tiescope

FROM_HERE = ["-c", "from tiescope.__main__ import main; main()"]


def test_tiescope_is_metrics_by_another_name():
    assert dir(tiescope) == dir(metrics)
    assert [name for name in metrics.__all__ if getattr(tiescope, name) is not getattr(metrics, name)] == []
    with pytest.raises(AttributeError, match="mrr_at_10"):
        tiescope.mrr_at_10  # noqa: B018 the attribute is asked for


@pytest.fixture
def python(tmp_path):
    """Run Python in a folder whose `metrics.py` and `dashboard.py` fail when they are imported."""
    for name in ("metrics", "dashboard"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')\n", encoding="utf-8")

    def run(arguments, *path):
        return subprocess.run(  # noqa: S603 our own
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))},
            capture_output=True,
            check=False,
            text=True,
        )

    return run


@pytest.mark.parametrize("code", ["import tiescope; tiescope.evaluate", "from tiescope import evaluate"])
def test_the_error_names_the_file_that_hides_metrics_and_says_what_to_do(python, tmp_path, code):
    ended = python(["-c", code], ROOT)
    assert ended.returncode == 1
    *_, message = ended.stderr.strip().splitlines()
    assert message.startswith(f"ImportError: {tmp_path / 'metrics.py'} hides the package `metrics`")
    assert "Rename the other package" in message


@pytest.mark.parametrize(
    ("start", "path", "engine"),
    [(["-m", "tiescope"], [ROOT], []), (FROM_HERE, [".", ROOT], ["--engine", "dask"])],
)
def test_no_module_hides_the_command(python, start, path, engine):
    command = ["evaluate", SAMPLE / "llm_rerankers.csv", "-m", "RR", "--ties", "expected", "--format", "csv"]
    ended = python([*start, *command, *engine], *path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("reranker,measure,ties,value\nGPT-4 (Low Ties),RR,expected,0.684454")
