import ast
import re
import sys
from functools import cache

import pytest
from importlinter import cli
from repository import ROOT

WEB_AND_PLOTS = {"streamlit", "plotly"}
LAZY = ("dashboard/cli/serving.py", "dashboard.streamlit_internals")
OF_EXTRAS = {
    ("dask", "metrics/scale/cluster.py"),
    ("distributed", "metrics/scale/cluster.py"),
    ("ir_measures", "metrics/interop/ir_measures.py"),
    ("upath", "metrics/runs/files.py"),
}
"""Packages that only some need, and the one file that imports each."""


@cache
def imports(path):
    """(name, whether at the top of the module) of everything a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    pairs = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            pairs += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            pairs.append(("." * node.level + (node.module or ""), id(node) in top))
    return pairs


@cache
def files(package):
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    return paths


def importers(package, names):
    """(file, name) of every import of these packages in the files of another."""
    return {
        (path.relative_to(ROOT).as_posix(), name)
        for path in files(package)
        for name, _ in imports(path)
        if name.split(".")[0] in names
    }


def test_imports_go_downward_only(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(cli, "_configure_logging", lambda _: None)  # it would close the loggers of all others
    outcome = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert outcome == cli.EXIT_STATUS_SUCCESS


@pytest.mark.parametrize("package", ["metrics", "sample_data"])
def test_only_the_dashboard_imports_streamlit_or_plotly(package):
    assert importers("dashboard", WEB_AND_PLOTS)
    assert not importers(package, WEB_AND_PLOTS)


def test_the_command_line_imports_streamlit_only_when_it_serves():
    assert [top for name, top in imports(ROOT / LAZY[0]) if name == LAZY[1]] == [False]


def test_no_generator_of_random_numbers_is_near_a_measure():
    for path in files("metrics/measures") + files("metrics/evaluation"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {name.rpartition(".")[2] for name, _ in imports(path)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not names & {"random", "secrets", "default_rng", "RandomState", "Generator"}, path


def test_no_import_hides_in_a_string_but_those_of_public_names_and_of_pages():
    by_name = re.compile(r"\bimport_module\(|\b__import__\(")
    hidden = {
        path.relative_to(ROOT).as_posix()
        for path in files("metrics") + files("dashboard")
        if by_name.search(path.read_text(encoding="utf-8"))
    }
    assert hidden == {"metrics/__init__.py", "dashboard/pages.py"}


def dashboard_folders_of(pattern):
    """The folders of the dashboard that have a file in which this is found."""
    matches = (path for path in files("dashboard") if re.search(pattern, path.read_text(encoding="utf-8")))
    return {path.parent.relative_to(ROOT).as_posix() for path in matches}


def test_no_page_widget_or_chart_touches_the_state_and_the_link():
    assert dashboard_folders_of(r"\bst\.(session_state|query_params)\b") == {"dashboard"}


def test_the_script_that_streamlit_runs_has_no_expression_that_streamlit_prints():
    """Streamlit writes an expression that stands alone on the page, unless it is a call or a docstring."""
    tree = ast.parse((ROOT / "dashboard/app.py").read_text(encoding="utf-8"))
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
    docstrings = [
        node.body[0] for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    ]
    expressions = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and node not in docstrings]
    assert not [node.lineno for node in expressions if not isinstance(node.value, ast.Call)]


def test_an_open_page_that_nobody_touches_asks_the_server_for_nothing():
    assert not dashboard_folders_of("run_every")


def test_a_package_of_an_extra_is_imported_in_one_file():
    importers = {
        (name.split(".")[0], path.relative_to(ROOT).as_posix())
        for path in files("metrics") + files("dashboard")
        for name, _ in imports(path)
    }
    packages = {package for package, _ in OF_EXTRAS}
    assert {pair for pair in importers if pair[0] in packages} == OF_EXTRAS


@pytest.mark.parametrize("package", ["metrics", "dashboard"])
def test_imports_are_absolute(package):
    assert not [(path, name) for path in files(package) for name, _ in imports(path) if name.startswith(".")]


def test_no_file_of_the_dashboard_hides_a_module():
    names = {path.stem for path in (ROOT / "dashboard").iterdir()}
    assert not names & (set(sys.stdlib_module_names) | {"metrics", "streamlit", "plotly", "pandas", "numpy"})
