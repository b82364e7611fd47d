"""Every block of code on the pages of the documentation runs, and prints what stands below it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest
from repository import ROOT

import metrics

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if path.name != "gallery.md")
"""All but the gallery, whose code runs when the site is built."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
NEEDED = {
    "how-to/conformance.md": "pytrec_eval",
    "how-to/ir_measures.md": "ir_measures",
    "how-to/large.md": "distributed",
    "how-to/trackers.md": "wandb",
}
"""Page → the package that its code needs and a bare installation lacks."""
GIT = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files to try with, filled by the first page that asks."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def folder(tmp_path, monkeypatch, call, files):
    """A folder with the files to try with, in which code runs."""
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "home"))
    if not [*files.iterdir()]:
        monkeypatch.chdir(files)
        text = (DOCS / "index.md").read_text(encoding="utf-8").partition("## Example files")[2]
        (_, command), (_, code) = BLOCK.findall(text)[:2]
        assert call(*shlex.split(command.removeprefix("$ tiescope")))[0] == 0
        run_python(code, {})
    shutil.copytree(files, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


class Shell:
    """Runs the commands of a page: those of `tiescope` in this process, others in a shell."""

    def __init__(self, call, monkeypatch, folder):
        self.call, self.monkeypatch = call, monkeypatch
        self.programs = folder.parent / "programs"

    def run(self, command):
        """What a command prints; it may fail only as a gate does."""
        words = shlex.split(command, comments=True)
        match words[0]:
            case "pip":
                assert {*re.findall(r"tiescope\[([\w-]+)\]", command)} <= {*EXTRAS}
                return ""
            case "cd":
                self.monkeypatch.chdir(words[1])
                return ""
            case "tiescope" if "|" not in words:
                code, out, err = self.call(*words[1:])
                assert code in {0, 1}, err
                return out + err
        self.programs.mkdir(exist_ok=True)
        tiescope = self.programs / "tiescope"
        tiescope.write_text(
            f'#!/bin/sh\nexec {sys.executable} -c "from dashboard.cli import main; main()" "$@"\n'
        )
        tiescope.chmod(0o755)
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        environment = os.environ | GIT | {"PATH": path, "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command, shell=True, check=True, text=True, capture_output=True, env=environment
        ).stdout


def plain(text):
    """Lines without what aligns them."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def commands(text):
    """(command, lines that should be printed) of a block of shell."""
    if "$ " not in text:
        return [(line, []) for line in text.splitlines() if line.strip()]
    return [
        (command, plain(below))
        for command, below in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    ]


def run_python(code, names):
    exec(code, names)  # noqa: S102 our own
    for name in re.findall(r"^def (test_\w+)", code, re.MULTILINE):
        names[name]()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of MLflow's store
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_and_prints_what_stands_below_it(page, request, folder, call, monkeypatch):
    if package := NEEDED.get(page):
        pytest.importorskip(package, reason=f"{package}, which the code of this page needs, is not installed")
    text = (DOCS / page).read_text(encoding="utf-8")
    if page == "index.md":
        shutil.rmtree("runs")  # this page makes it
    if "tiescope app" in text:
        request.getfixturevalue("streamlit_calls")  # it starts no server
        monkeypatch.chdir(folder)
    shell, names = Shell(call, monkeypatch, folder), {"__name__": "page"}
    for language, code in BLOCK.findall(text):
        if language == "python":
            run_python(code, names)
        elif language in {"sh", "console"}:
            for command, lines in commands(code):
                printed = plain(shell.run(command))
                assert [line for line in lines if line != "..." and line not in printed] == [], (
                    command,
                    printed,
                )


def test_the_workflow_of_the_tutorial_gives_the_action_inputs_that_it_has():
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    inputs = re.findall(r"^  ([\w-]+):$", action.partition("\noutputs:")[0], re.MULTILINE)
    (workflow,) = re.findall(
        r"```yaml\n(.*?)```", (DOCS / "tutorials/pull_request.md").read_text(encoding="utf-8"), re.DOTALL
    )
    given = re.findall(r"^          ([\w-]+):", workflow, re.MULTILINE)
    assert given
    assert {*given} <= {*inputs}


def test_python_on_a_page_asks_tiescope_for_public_names_alone():
    """The pages run in one process, in which others have imported what a reader's has not."""
    code = [
        code
        for path in [ROOT / "README.md", *map(DOCS.joinpath, PAGES)]
        for language, code in BLOCK.findall(path.read_text(encoding="utf-8"))
        if language == "python"
    ]
    names = {
        name
        for text in code
        for name in re.findall(r"(?<!from )(?<!import )\b(?:tiescope|metrics)\.(\w+)", text)
    }
    assert {"evaluate", "read_runs"} <= names <= {*metrics.__all__}


def test_every_language_of_a_block_is_run_or_known_not_to_be():
    languages = {
        language for page in PAGES for language, _ in BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    }
    assert languages <= {"python", "py", "sh", "console", "yaml", "toml", "json"}  # py: asks for a model
