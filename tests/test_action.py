"""The GitHub Action: its steps run with the files and variables that GitHub gives them."""

import json
import os
import re
import subprocess
import sysconfig
import venv
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from boards import COARSE, QRELS, STRICT
from empty_environment import empty_environment, output_of
from repository import ROOT
from ruamel.yaml import YAML

ACTION = YAML(typ="safe").load(ROOT / "action.yml")
STEPS = {step.get("name", "Python"): step for step in ACTION["runs"]["steps"]}
GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$GH_CALLS"
for argument in "$@"; do
  case "$argument" in
    --jq) [[ ! -e "$GH_EXISTING" ]] || cat "$GH_EXISTING" ;;
    body=@*) cp "${argument#body=@}" "$GH_POSTED" ;;
  esac
done
"""
STAND_IN = """
import json, os, sys

def main():
    with open(os.environ["TIESCOPE_CALLS"], "a") as calls:
        calls.write(json.dumps(sys.argv[1:]) + chr(10))
    for argument in sys.argv:
        name, _, path = argument.partition("=")
        if name == "--output":
            open(path, "w", encoding="utf-8").write(os.environ.get("REVIEW", "good"))
    sys.stderr.write(os.environ.get("MESSAGE", ""))
"""
"""A package `dashboard`, or `pip`, that writes down how it is called."""
MODULES = ("json", "numpy", "sitecustomize", "pip", "dashboard", "metrics", "streamlit", "tiescope")
"""What a pull request may hold that Python might import."""


def test_a_step_never_reads_what_others_wrote_as_shell():
    assert not [name for name, step in STEPS.items() if "${{" in step.get("run", "")]


def test_actions_of_others_are_named_by_commit():
    used = [step["uses"] for step in STEPS.values() if "uses" in step]
    assert used
    assert not [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)]


def test_what_is_installed_has_hashes():
    installs = STEPS["Install TieScope, by hashes"]["run"].splitlines()
    assert "--require-hashes" in installs[0]
    assert "--no-deps --no-build-isolation" in installs[1]


def git(folder, *arguments):
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def environment(folder, *, stand_in=False):
    """Make a Python that has TieScope installed, or what stands in for it and for pip."""
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": folder}))
    if stand_in:
        for package in ("tiescope", "pip"):
            (packages / package).mkdir()
            (packages / package / "__main__.py").write_text(f"{STAND_IN}main()\n")
    else:
        places = (ROOT, ROOT / "dashboard" / "installed", sysconfig.get_path("purelib"))
        (packages / "tiescope.pth").write_text("".join(f"{place}\n" for place in places))
    python = folder / "bin" / "python"
    (folder / "bin" / "tiescope").write_text(f"#!{python}\nfrom tiescope.__main__ import main\nmain()\n")
    (folder / "bin" / "tiescope").chmod(0o755)
    return python


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    """A Python in which something stands in for TieScope and pip."""
    return environment(tmp_path_factory.mktemp("stand-in"), stand_in=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A Python in which TieScope is installed."""
    return environment(tmp_path_factory.mktemp("installed"))


class Job:
    """A job on a pull request: a repository with runs, the event, and the files that steps write to."""

    def __init__(self, folder, python, **inputs):
        self.folder, self.outputs = folder, {}
        defaults = {name: about.get("default", "") for name, about in ACTION["inputs"].items()}
        self.inputs = (
            defaults | {"token": "secret"} | {name.replace("_", "-"): text for name, text in inputs.items()}
        )
        self.repository = folder / "repository"
        self.repository.mkdir()
        (folder / "temp").mkdir()
        (self.repository / "runs with spaces").mkdir()
        self.write(STRICT, QRELS)
        git(self.repository, "init", "--quiet")
        git(self.repository, "add", ".")
        git(self.repository, "commit", "--quiet", "--message", "base")
        base = {"sha": git(self.repository, "rev-parse", "HEAD"), "ref": "main"}
        (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "base": base}}))
        self.bin = python.parent
        (self.bin / "gh").write_text(GH)
        (self.bin / "gh").chmod(0o755)

    def write(self, run, qrels):
        (self.repository / "runs with spaces" / "llm.trec").write_text(run)
        (self.repository / "qrels.txt").write_text(qrels)

    def run(self, name, **variables):
        """Run a step where the checkout is on the path of Python, and return the process that has ended."""
        step = STEPS[name]
        files = {
            "GITHUB_OUTPUT": "output",
            "GITHUB_STEP_SUMMARY": "summary.md",
            "GITHUB_EVENT_PATH": "event.json",
            "RUNNER_TEMP": "temp",
            "GITHUB_WORKSPACE": "repository",
        }
        process = {key: str(self.folder / file) for key, file in files.items()}
        process |= {f"GH_{key}": str(self.folder / key.lower()) for key in ("CALLS", "EXISTING", "POSTED")}
        process |= {
            "TIESCOPE_CALLS": str(self.folder / "tiescope"),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_REPOSITORY": "ada/runs",
        }
        process |= {"PATH": f"{self.bin}:{os.environ['PATH']}", "PYTHONPATH": str(self.repository), **variables}
        process |= {key: self._filled(text) for key, text in step.get("env", {}).items()}
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        ended = subprocess.run(
            command,
            cwd=self.repository / self._filled(step.get("working-directory", "")),
            env=os.environ | process,
            capture_output=True,
            text=True,
            check=False,
        )
        output = self.folder / "output"
        if output.exists():
            self.outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return ended

    def _filled(self, text):
        contexts = {"runner.temp": str(self.folder / "temp"), "github.event.pull_request.number": "7"}
        contexts |= {f"inputs.{name}": value for name, value in self.inputs.items()}
        contexts |= {f"steps.review.outputs.{name}": value for name, value in self.outputs.items()}
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: contexts[match[1]], text)

    def hold_modules(self):
        """Put modules into the repository that write a file `owned` when they are imported."""
        for name in MODULES:
            (self.repository / name).mkdir()
            for file in ("__init__.py", "__main__.py"):
                code = f"open({str(self.folder / 'owned')!r}, 'a').write({name!r})"
                (self.repository / name / file).write_text(code)

    def calls(self):
        """How TieScope was called, command → arguments."""
        calls = (json.loads(line) for line in (self.folder / "tiescope").read_text().splitlines())
        return {command: arguments for command, *arguments in calls}

    def runs(self):
        """The runs that are reviewed, as paths in the repository."""
        arguments = self.calls()["review"]
        paths = arguments[arguments.index("--") + 1 :]
        return [path.replace(f"{self.repository}/", "") for path in paths]


def obeyed(ended):
    """The lines of a step that GitHub takes for commands, such as to set an output."""
    commands, token = [], None
    for line in (ended.stdout + ended.stderr).splitlines():
        if line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif token and line == f"::{token}::":
            token = None
        elif not token and (line.lstrip().startswith("::") or "##[" in line):
            commands.append(line)
    return commands


def test_no_step_runs_in_the_checkout():
    folders = {name: step.get("working-directory") for name, step in STEPS.items() if "run" in step}
    assert set(folders.values()) == {"${{ runner.temp }}"}


def test_the_token_is_where_the_comment_is_written_and_nowhere_else():
    assert [name for name, step in STEPS.items() if re.search("token|secrets", json.dumps(step))] == ["Comment"]


def test_no_step_runs_code_of_the_pull_request(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs with spaces/*.trec", qrels="qrels.txt")
    job.hold_modules()
    hook = job.repository / ".husky" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\necho hook >> '{tmp_path}/owned'\n")
    hook.chmod(0o755)
    git(job.repository, "config", "core.hooksPath", hook.parent)
    for name in ("Install TieScope, by hashes", "Review", "Comment"):
        ended = job.run(name)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert not (tmp_path / "owned").exists()
    assert job.outputs["passed"] == "true"
    assert set(job.calls()) == {"install", "review", "report"}
    assert (tmp_path / "posted").read_text() == "good"


ODD = ("--help.trec", "-o x", "a=b.trec", "$(touch owned).trec", "`touch owned`", "[x].trec", "\u4e00 b.trec")


def test_a_file_is_read_under_its_name_whatever_that_reads_like(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs/*", compare="false")
    (job.repository / "runs").mkdir()
    for name in ODD:
        (job.repository / "runs" / name).write_text(STRICT)
    assert job.run("Review").returncode == 0
    assert sorted(job.runs()) == sorted(f"runs/{name}" for name in ODD)
    assert not list(tmp_path.rglob("owned"))


@pytest.fixture
def review():
    """The script of the Review step, as a module."""
    spec = spec_from_file_location("review", ROOT / ".github" / "review.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name",
    [
        b"bm\n--missing=skip\nb.trec",
        b"a\rb",
        b"a\x1b[31m",
        b"a\x7f",
        b"a\xe2\x80\xa8b",
        b"a\xe2\x80\xaeb",
        b"\xff",
    ],
)
def test_a_name_with_characters_that_cannot_be_seen_is_refused(review, name, tmp_path, capsys):
    (tmp_path / os.fsdecode(name)).write_text(STRICT)
    with pytest.raises(SystemExit) as ended:
        review.files_of(tmp_path, "*")
    assert ended.value.code == 2
    assert f"tiescope: {os.fsdecode(name)!r}: the name holds" in capsys.readouterr().out


def test_more_files_than_a_command_takes_are_refused_and_no_stack_is_printed(review, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        review.tiescope("review", [], ["x" * 100] * 100_000, tmp_path / "review.md")
    assert ended.value.code == 2
    assert "tiescope: 100,000 runs cannot be given to one command (Argument" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("../secret.trec", "leads out of the repository"),
        ("/proc/self/environ", "leads out of the repository"),
        (".git/config", "leads out of the repository"),
        (".GIT/config", "leads out of the repository"),  # the same where letters of both cases are one
        (".", "is not a file"),
        ("gone.trec", "is not a file"),
        ("link.trec", "is not a file"),
    ],
)
def test_a_link_to_what_is_not_a_file_of_the_repository_is_refused(review, target, problem, tmp_path, capsys):
    (tmp_path / "secret.trec").write_text(STRICT)
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "link.trec").symlink_to(target)
    with pytest.raises(SystemExit) as ended:
        review.files_of(repository, "*")
    assert ended.value.code == 2
    assert f"tiescope: 'link.trec' {problem}." in capsys.readouterr().out


def test_judgments_may_link_only_within_the_repository(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs with spaces/*", qrels="qrels.txt")
    (job.repository / "runs with spaces" / "latest.trec").symlink_to("llm.trec")
    assert job.run("Review").returncode == 0
    assert job.runs() == ["runs with spaces/latest.trec", "runs with spaces/llm.trec"]
    (job.repository / "qrels.txt").rename(tmp_path / "qrels.txt")
    (job.repository / "qrels.txt").symlink_to("../qrels.txt")
    ended = job.run("Review")
    assert (ended.returncode, "'qrels.txt' leads out of the repository" in ended.stdout) == (2, True)


def test_a_file_called_like_a_pattern_takes_the_place_of_no_other(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs with spaces/*.trec\nLLM=runs with spaces/llm.trec")
    (job.repository / "runs with spaces" / "*.trec").write_text(STRICT)
    (job.repository / "LLM=runs with spaces").mkdir()
    (job.repository / "LLM=runs with spaces" / "llm.trec").write_text(STRICT)
    assert job.run("Review").returncode == 0
    of_pattern = ["runs with spaces/*.trec", "runs with spaces/llm.trec"]
    assert job.runs() == [*of_pattern, "LLM=runs with spaces/llm.trec", "LLM=runs with spaces/llm.trec"]


def test_files_outside_the_checkout_are_used_unchanged(tmp_path, stand_in):
    made, address = str(tmp_path / "made.trec"), "LLM=https://example.org/llm.trec"
    inside = tmp_path / "repository" / "runs with spaces" / "llm.trec"
    qrels = str(tmp_path / "qrels.txt")
    job = Job(tmp_path, stand_in, runs=f"{made}\n{address}\n{inside}", qrels=qrels)
    ended = job.run("Review")
    assert (ended.returncode, obeyed(ended)) == (0, [])
    assert job.runs() == [made, address, "runs with spaces/llm.trec"]
    arguments = job.calls()["review"]
    assert f"--qrels={qrels}" in arguments
    (before,) = [argument for argument in arguments if argument.startswith("--before")]
    assert re.fullmatch(rf"--before={tmp_path}/temp/\w+/runs with spaces/llm.trec", before)


def test_a_line_that_names_no_file_is_refused_and_is_no_command(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="--help\n$(touch owned)`touch owned`; touch owned")
    ended = job.run("Review")
    assert ended.returncode == 2
    assert "runs: '--help' is not a file of the repository, nor a pattern that matches one." in ended.stdout
    assert not list(tmp_path.rglob("owned"))


def test_no_name_is_taken_for_a_command_of_the_workflow(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs with spaces/*", qrels="qrels.txt")
    message = "::set-output name=passed::true\nx ##[set-output name=passed]true\n"
    ended = job.run("Review", MESSAGE=message)
    assert (message in ended.stdout, obeyed(ended)) == (True, [])
    (job.repository / "runs with spaces" / "##[error]").mkdir()
    ended = job.run("Review")
    assert (ended.returncode, "##[error]' is not a file" in ended.stdout, obeyed(ended)) == (2, True, [])


def test_a_base_branch_without_the_judgments_is_named_in_a_notice(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs with spaces/*", qrels="new.txt")
    (job.repository / "new.txt").write_text(QRELS)
    said = obeyed(job.run("Review"))
    assert said == ["::notice::main has no new.txt: the judgments of this pull request score its runs."]
    assert "--since=main" in job.calls()["review"]


def test_a_base_branch_that_the_checkout_lacks_is_fetched(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs with spaces/*")
    git(job.repository, "commit", "--quiet", "--allow-empty", "--message", "change")
    job.repository.rename(tmp_path / "origin")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path}/origin", "repository")
    ended = job.run("Review")
    assert ended.returncode == 0, ended.stdout
    assert "--since=main" in job.calls()["review"]
    assert git(job.repository, "worktree", "list").count("\n") == 0
    (tmp_path / "event.json").write_text(
        json.dumps({"pull_request": {"base": {"sha": "0" * 40, "ref": "main"}}})
    )
    ended = job.run("Review")
    assert (ended.returncode, "git cannot check out main" in ended.stdout) == (2, True)


def test_a_comment_holds_as_many_letters_as_github_takes(tmp_path, stand_in):
    job = Job(tmp_path, stand_in, runs="runs with spaces/*")
    review = "\u00e9" * 62_000
    assert job.run("Review", REVIEW=review).returncode == 0
    assert (tmp_path / "summary.md").read_text() == review
    assert job.run("Comment").returncode == 0
    assert (tmp_path / "posted").read_text() == review[:60_000]


@pytest.mark.slow
def test_a_pull_request_that_ties_everything_is_reviewed_commented_and_stopped(tmp_path, installed):
    job = Job(
        tmp_path,
        installed,
        runs="runs with spaces/*.trec\n",
        qrels="qrels.txt",
        require="MTRR>=0.55",
        measures="RR\nnDCG@10",
    )
    job.write(COARSE, QRELS)
    reviewed = job.run("Review")
    assert reviewed.returncode == 0, reviewed.stdout
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("<!-- tiescope -->\n## TieScope\n")
    assert "### 0 of 1 target met" in summary
    assert "### Since main\n\n2 of 2 values changed" in summary
    assert job.outputs["passed"] == "false"
    made = {name: Path(job.outputs[name]).read_text() for name in ("summary", "report")}
    assert made["summary"] == summary
    assert "<h1" in made["report"]
    assert git(job.repository, "worktree", "list").count("\n") == 0
    assert job.run("Comment").returncode == 0
    assert (tmp_path / "posted").read_text() == summary
    assert "--method POST repos/ada/runs/issues/7/comments" in (tmp_path / "calls").read_text()
    (tmp_path / "existing").write_text("42\n43\n")
    assert job.run("Comment").returncode == 0
    last = (tmp_path / "calls").read_text().splitlines()[-1]
    assert "--method PATCH repos/ada/runs/issues/comments/42" in last
    decided = job.run("Decide")
    assert (decided.returncode, decided.stdout[:9]) == (1, "::error::")


@pytest.mark.slow
def test_an_unchanged_pull_request_passes_and_an_unreadable_run_fails(tmp_path, installed):
    job = Job(tmp_path, installed, runs="LLM=runs with spaces/llm.trec", qrels="\nqrels.txt\n", fail_on="lower")
    assert job.run("Review").returncode == 0
    assert job.outputs["passed"] == "true"
    assert "No value changed." in (tmp_path / "summary.md").read_text()
    job.write(STRICT, QRELS.replace(" 1\n", " 0\n"))
    assert job.run("Review").returncode == 0
    assert "No value changed." not in (tmp_path / "summary.md").read_text().rpartition("<!-- tiescope -->")[2]
    for _ in range(2):
        job.write("q Q0 d 1 none t\n", QRELS)
        ended = job.run("Review")
        assert ended.returncode == 2
        assert "llm.trec, line 1" in ended.stdout
        assert git(job.repository, "worktree", "list").count("\n") == 0


@pytest.mark.slow
def test_the_action_installs_itself_beside_a_hostile_pull_request(tmp_path):
    job = Job(tmp_path, empty_environment(tmp_path / "environment"))
    job.hold_modules()
    installed = job.run("Install TieScope, by hashes")
    assert installed.returncode == 0, installed.stderr
    assert output_of([job.bin / "tiescope", "--version"], tmp_path).startswith("tiescope ")
    assert not (tmp_path / "owned").exists()


@pytest.mark.slow
def test_the_workflow_of_the_tutorial_stops_its_pull_request_for_the_target(tmp_path, installed):
    tutorial = (ROOT / "docs/tutorials/pull_request.md").read_text(encoding="utf-8")
    workflow = YAML(typ="safe").load(re.search(r"```yaml\n(.*?)```", tutorial, re.DOTALL)[1])
    given = workflow["jobs"]["ranking"]["steps"][1]["with"]
    job = Job(tmp_path, installed, **{name.replace("-", "_"): text for name, text in given.items()})
    (job.repository / "runs").mkdir()
    base, change = re.findall(r"^tiescope (simulate -o runs/llm.csv .+)$", tutorial, re.MULTILINE)
    for command in (base, change):
        subprocess.run([job.bin / "tiescope", *command.split()], cwd=job.repository, check=True)
        git(job.repository, "add", ".")
        git(job.repository, "commit", "--quiet", "--message", "runs")
    pull_request = {"number": 7, "base": {"sha": git(job.repository, "rev-parse", "HEAD~1"), "ref": "main"}}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": pull_request}))
    review = job.run("Review")
    assert review.returncode == 0, review.stdout
    summary = (tmp_path / "summary.md").read_text()
    assert "### 0 of 1 target met" in summary
    assert "| llm | RR | 0.6153 | 0.5729 | −0.0424 | −0.0636 | within the ties |" in summary
    assert job.run("Decide").returncode == 1
