import ast
import re
import sys

import pytest
from importlinter import cli
from repository import ROOT

WEB_AND_PLOTS = {"streamlit", "plotly"}
LAZY = ("metrics/cli/serving.py", "streamlit.web")
CHARTS = ("metrics/cli/reporting.py", "dashboard.charts.report")
LIBRARY = {
    ("metrics/cli/sharing.py", f"dashboard.library.{name}")
    for name in ("listing", "pulling", "pushing", "store")
}
"""Files below the dashboard that reach up to it, by name: when an HTML report or the library is asked for."""
OF_EXTRAS = {
    ("dask", "metrics/engines/cluster.py"),
    ("distributed", "metrics/engines/cluster.py"),
    ("ir_measures", "metrics/interop/ir_measures.py"),
    ("upath", "metrics/runs/files.py"),
}
"""Packages that only some need, and the one file that imports each."""


def imports(path):
    """(name, whether at the top of the module) of everything a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), id(node) in top


def files(package):
    return sorted((ROOT / package).rglob("*.py"))


def test_imports_go_downward_only(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    outcome = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert outcome == cli.EXIT_STATUS_SUCCESS


@pytest.mark.parametrize(
    "path", files("metrics") + files("sample_data"), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_only_the_dashboard_imports_streamlit_or_plotly(path):
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for name, _ in imports(path)
        if name.split(".")[0] in WEB_AND_PLOTS
    }
    assert found <= {LAZY}


def test_the_command_line_imports_streamlit_only_when_it_serves():
    assert [top for name, top in imports(ROOT / LAZY[0]) if name == LAZY[1]] == [False]


@pytest.mark.parametrize("path", files("metrics"), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_metrics_never_imports_the_dashboard(path):
    assert not [name for name, _ in imports(path) if name.split(".")[0] == "dashboard"]


def imported_by_name(path):
    """Names of modules of the dashboard among the texts of a file that imports by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not any(name == "importlib" for name, _ in imports(path)):
        return set()
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {text for text in texts if isinstance(text, str) and re.fullmatch(r"dashboard(\.\w+)+", text)}


def test_only_the_report_and_the_library_commands_reach_the_dashboard_and_never_streamlit():
    named = {path.relative_to(ROOT).as_posix(): imported_by_name(path) for path in files("metrics")}
    assert {(path, name) for path, names in named.items() for name in names} == {CHARTS} | LIBRARY
    for path in [ROOT / "dashboard" / "charts" / "report.py", *files("dashboard/library")]:
        assert not [name for name, _ in imports(path) if name.split(".")[0] == "streamlit"]


def test_a_package_of_an_extra_is_imported_in_one_file():
    found = {
        (name.split(".")[0], path.relative_to(ROOT).as_posix())
        for path in files("metrics") + files("dashboard")
        for name, _ in imports(path)
    }
    packages = {package for package, _ in OF_EXTRAS}
    assert {one for one in found if one[0] in packages} == OF_EXTRAS


@pytest.mark.parametrize("package", ["metrics", "dashboard"])
def test_imports_are_absolute(package):
    assert not [(path, name) for path in files(package) for name, _ in imports(path) if name.startswith(".")]


def test_dashboard_has_no_file_that_hides_a_module_when_streamlit_puts_the_folder_first():
    names = {path.stem for path in (ROOT / "dashboard").iterdir()}
    assert not names & (set(sys.stdlib_module_names) | {"metrics", "streamlit", "plotly", "pandas", "numpy"})
