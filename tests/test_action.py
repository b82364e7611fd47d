"""The GitHub Action: its steps run with the files and variables that GitHub gives them."""

import json
import os
import re
import subprocess
import sys
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


class Job:
    """A job on a pull request: a repository with runs, the event, and the files that steps write to."""

    def __init__(self, folder, **inputs):
        self.folder, self.outputs = folder, {}
        defaults = {name: about.get("default", "") for name, about in ACTION["inputs"].items()}
        self.inputs = (
            defaults | {"token": "secret"} | {name.replace("_", "-"): text for name, text in inputs.items()}
        )
        self.repository = folder / "repository"
        self.repository.mkdir()
        (self.repository / "runs with spaces").mkdir()
        self.write(STRICT, QRELS)
        git(self.repository, "init", "--quiet")
        git(self.repository, "add", ".")
        git(self.repository, "commit", "--quiet", "--message", "base")
        base = {"sha": git(self.repository, "rev-parse", "HEAD"), "ref": "main"}
        (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "base": base}}))
        (folder / "bin").mkdir()
        (folder / "bin" / "gh").write_text(GH)
        (folder / "bin" / "gh").chmod(0o755)
        (folder / "bin" / "tiescope").write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -c "from dashboard.cli import main; main()" "$@"\n'
        )
        (folder / "bin" / "tiescope").chmod(0o755)
        (folder / "bin" / "python").symlink_to(sys.executable)

    def write(self, run, qrels):
        (self.repository / "runs with spaces" / "llm.trec").write_text(run)
        (self.repository / "qrels.txt").write_text(qrels)

    def run(self, name):
        """Run a step, and return the process that has ended."""
        step = STEPS[name]
        environment = {key: self._filled(text) for key, text in step.get("env", {}).items()}
        files = {
            "GITHUB_OUTPUT": "output",
            "GITHUB_STEP_SUMMARY": "summary.md",
            "GITHUB_EVENT_PATH": "event.json",
        }
        environment |= {key: str(self.folder / file) for key, file in files.items()}
        environment |= {f"GH_{key}": str(self.folder / key.lower()) for key in ("CALLS", "EXISTING", "POSTED")}
        environment |= {"RUNNER_TEMP": str(self.folder / "temp"), "GITHUB_REPOSITORY": "ada/runs"}
        environment |= {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        environment |= {"PYTHONPATH": str(ROOT)}
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        ended = subprocess.run(
            command,
            cwd=self.repository,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        output = self.folder / "output"
        if output.exists():
            self.outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return ended

    def _filled(self, text):
        text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: self.inputs[match[1]], text)
        return re.sub(r"\$\{\{ steps\.review\.outputs\.(\w+) \}\}", lambda match: self.outputs[match[1]], text)


@pytest.mark.slow
def test_a_pull_request_that_ties_everything_is_reviewed_commented_and_stopped(tmp_path):
    job = Job(
        tmp_path,
        runs="runs with spaces/*.trec\n",
        qrels="qrels.txt",
        require="MTRR>=0.55",
        measures="RR\nnDCG@10",
    )
    job.write(COARSE, QRELS)
    reviewed = job.run("Review")
    assert reviewed.returncode == 0, reviewed.stderr
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("<!-- tiescope -->\n## TieScope\n")
    assert "### 0 of 1 target met" in summary
    assert "### Since main\n\n2 of 2 values changed" in summary
    assert job.outputs["passed"] == "false"
    made = {name: Path(job.outputs[name]).read_text() for name in ("summary", "report", "badge", "embed")}
    assert made["summary"] == summary
    assert made["badge"].startswith("<svg")
    assert made["embed"].startswith("<figure")
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
def test_an_unchanged_pull_request_passes_and_a_run_that_cannot_be_read_fails_at_once(tmp_path):
    job = Job(tmp_path, runs="LLM=runs with spaces/llm.trec", qrels="\nqrels.txt\n", fail_on="lower")
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
        assert "llm.trec, line 1" in ended.stderr
        assert git(job.repository, "worktree", "list").count("\n") == 0


@pytest.mark.slow
def test_what_a_pull_request_names_its_runs_is_no_command(tmp_path):
    job = Job(tmp_path, runs="--help\n$(touch owned)`touch owned`; touch owned", qrels="qrels.txt")
    ended = job.run("Review")
    assert ended.returncode == 2
    assert "--help" in ended.stderr
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.slow
def test_the_action_installs_itself_into_an_empty_environment(tmp_path):
    python = empty_environment(tmp_path / "environment")
    variables = {"PATH": f"{python.parent}:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(ROOT)}
    script = STEPS["Install TieScope, by hashes"]["run"]
    output_of(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], tmp_path, **variables)
    assert output_of([python.with_name("tiescope"), "--version"], tmp_path).startswith("tiescope ")


@pytest.mark.slow
def test_the_workflow_of_the_tutorial_stops_its_pull_request_for_the_target(tmp_path):
    tutorial = (ROOT / "docs/tutorials/pull_request.md").read_text(encoding="utf-8")
    workflow = YAML(typ="safe").load(re.search(r"```yaml\n(.*?)```", tutorial, re.DOTALL)[1])
    given = workflow["jobs"]["ranking"]["steps"][1]["with"]
    job = Job(tmp_path, **{name.replace("-", "_"): text for name, text in given.items()})
    (job.repository / "runs").mkdir()
    base, change = re.findall(r"^tiescope (simulate -o runs/llm.csv .+)$", tutorial, re.MULTILINE)
    for command in (base, change):
        subprocess.run([tmp_path / "bin" / "tiescope", *command.split()], cwd=job.repository, check=True)
        git(job.repository, "add", ".")
        git(job.repository, "commit", "--quiet", "--message", "runs")
    pull_request = {"number": 7, "base": {"sha": git(job.repository, "rev-parse", "HEAD~1"), "ref": "main"}}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": pull_request}))
    review = job.run("Review")
    assert review.returncode == 0, review.stderr
    summary = (tmp_path / "summary.md").read_text()
    assert "### 0 of 1 target met" in summary
    assert "| llm | RR | 0.6153 | 0.5729 | −0.0424 | −0.0636 | within the ties |" in summary
    assert job.run("Decide").returncode == 1
