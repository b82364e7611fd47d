import ast
import os
import subprocess
import sys
from inspect import signature

import pytest
from repository import ROOT

import metrics
from metrics import ReadError


def test_every_public_name_exists():
    assert metrics.__all__
    assert [name for name in metrics.__all__ if not hasattr(metrics, name)] == []


def test_type_checkers_are_told_the_same_public_names_of_the_same_modules():
    stub = ast.parse((ROOT / "metrics/__init__.pyi").read_text(encoding="utf-8"))
    told = {alias.asname: node.module for node in stub.body for alias in node.names if node.module != "metrics"}
    assert {name: module for name, module in told.items() if module != "metrics.errors"} == metrics._MODULES  # noqa: SLF001
    assert set(told) == set(metrics.__all__)


def test_a_read_error_says_file_line_problem_and_what_to_do():
    with_line = ReadError("llm.trec", "score 'high' is not a number", "Map grades to numbers.", line=17)
    assert str(with_line) == "llm.trec, line 17: score 'high' is not a number. Map grades to numbers."
    without_line = ReadError("llm.trec", "no such file", "Check the path.")
    assert str(without_line) == "llm.trec: no such file. Check the path."


@pytest.mark.parametrize("name", ["emulate", "evaluate", "evaluate_dataset", "read_runs", "read_table"])
def test_the_signature_that_help_shows_has_no_long_default(name):
    parameters = signature(getattr(metrics, name)).parameters.values()
    defaults = [parameter.default for parameter in parameters if parameter.default is not parameter.empty]
    assert max(len(repr(default)) for default in defaults) <= len("'float64'")


@pytest.mark.parametrize(
    ("chosen", "expected"), [({}, "system"), ({"ARROW_DEFAULT_MEMORY_POOL": "mimalloc"}, "mimalloc")]
)
def test_pyarrow_uses_the_system_allocator_unless_the_environment_names_one(chosen, expected):
    environment = {name: text for name, text in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    code = "import metrics, pyarrow; print(pyarrow.default_memory_pool().backend_name)"
    ended = subprocess.run(  # noqa: S603 our own
        [sys.executable, "-c", code], env=environment | chosen, capture_output=True, check=True, text=True
    )
    assert ended.stdout == f"{expected}\n"
