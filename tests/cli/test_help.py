"""What --help says of each command."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import pytest
import typer

from dashboard.cli.commands import tiescope
from metrics.cli import options
from metrics.evaluation import AS_READ
from metrics.runs import MissingScore, Repeated
from metrics.simulation.drawing import PERFORMANCE
from metrics.studies.targets import PRESETS
from metrics.ties import PRECISIONS
from metrics.ties.options import Policy, Unjudged

COMMANDS = typer.main.get_command(tiescope).commands


def parameter(command, name):
    return next(each for each in COMMANDS[command].params if each.name == name)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_in_a_sentence_what_it_does(name):
    parameters = [parameter for parameter in COMMANDS[name].params if parameter.name != "help"]
    assert [parameter.name for parameter in parameters if not (parameter.help or "").endswith(".")] == []


def test_options_have_the_choices_defaults_and_limits_of_the_library():
    """The command line does not import the library to say so."""
    own = (options.Policy, options.Unjudged, options.Repeated, options.MissingScore)
    library = (Policy, Unjudged, Repeated, MissingScore)
    assert list(map(get_args, own)) == list(map(get_args, library))
    names = ("precision", "missing", "empty", "relevant_from", "unjudged")
    defaults = {name: parameter("evaluate", name).default for name in names}
    assert {name: getattr(AS_READ, name) for name in names} == defaults
    assert [name for name in PRECISIONS if name not in parameter("evaluate", "precision").help] == []
    assert f"default: {PERFORMANCE:g}" in parameter("simulate", "performance").help
    for name, targets in PRESETS.items():
        assert f"{name}: {', '.join(targets)}." in parameter("gate", "preset").help
        assert name in parameter("report", "preset").help


def test_the_version_is_that_of_the_package(call):
    assert call("--version") == (0, f"tiescope {version('tiescope')}\n", "")


def loaded_by(*arguments):
    """Modules in memory when Python has ended well."""
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); "
    ended = subprocess.run(
        [sys.executable, "-c", code + arguments[0], *arguments[1:]], capture_output=True, check=True
    )
    return {*ended.stdout.decode().splitlines()[-1].split()}


TIESCOPE = "from dashboard.cli import main; main()"
EMPTY = "import metrics"
IMPORT = "import metrics; metrics.evaluate, metrics.Running, metrics.Stored"
GUARDS = "import dashboard.cli.serving, dashboard.asgi"
"""What answers a browser's first requests."""
TABLES = {"numpy", "pandas", "pyarrow", "scipy"}
NOT_FOR_VALUES = {"scipy", "rich.console", "sqlalchemy", "streamlit", "plotly", "dask", "jinja2"}


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        ((EMPTY,), TABLES | NOT_FOR_VALUES),
        ((IMPORT,), NOT_FOR_VALUES),
        ((GUARDS,), TABLES | NOT_FOR_VALUES - {"streamlit", "plotly"}),
        ((TIESCOPE, "--help"), TABLES | NOT_FOR_VALUES - {"rich.console"}),
        ((TIESCOPE, "evaluate", "judged.csv"), NOT_FOR_VALUES),
    ],
    ids=["package", "evaluating", "server", "help", "evaluate"],
)
def test_nothing_is_imported_before_it_is_needed(arguments, unneeded, write, monkeypatch):
    monkeypatch.chdir(write("judged.csv", "query_id,doc_id,score,relevance\nq,a,1,1\nq,b,1,0\n").parent)
    assert not loaded_by(*arguments) & unneeded


def test_help_that_a_full_disk_does_not_take_ends_as_other_output_does():
    command = [sys.executable, "-c", TIESCOPE, "--help"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (2, b"tiescope: No space left on device.\n")
