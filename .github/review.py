"""The Review step of the GitHub Action: hold the runs of a pull request to targets, and say what it changed.

The author of the pull request chooses every file of the checkout, its name and what it links to. The Action
therefore runs this script isolated (`python -I`) and away from the checkout. The script gives TieScope the
absolute paths of the files that the inputs of the Action name, and refuses misleading names and links.
"""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

TIESCOPE = (sys.executable, "-I", "-m", "tiescope")
LONGEST_COMMENT = 60_000
"""Letters; GitHub takes 65,536."""


def main() -> None:
    """Review the runs, and write the outputs of the Action."""
    checkout = Path(os.environ["GITHUB_WORKSPACE"]).resolve()
    folder = Path(os.environ["RUNNER_TEMP"], "tiescope")
    folder.mkdir(exist_ok=True)
    names = {"summary": "review.md", "report": "report.html"}
    outputs = {name: folder / file for name, file in names.items()}
    runs = [argument for line in lines("RUNS") for argument in run_arguments(checkout, line)]
    scoring = [*qrels_options(checkout), *options("--traditional", lines("TRADITIONAL"))]
    scoring += options("--measure", lines("MEASURES"))
    policy = [*options("--require", lines("REQUIRE")), *options("--baseline", lines("BASELINE"))]
    policy.append(f"--fail-on={os.environ['FAIL_ON']}")
    with base_options(checkout) as before:
        code = tiescope("review", [*scoring, *policy, *before], runs, outputs["summary"])
    tiescope("report", scoring, runs, outputs["report"])
    summary = outputs["summary"].read_text(encoding="utf-8")
    append("GITHUB_STEP_SUMMARY", summary)
    outputs["comment"] = folder / "comment.md"
    outputs["comment"].write_text(summary[:LONGEST_COMMENT], encoding="utf-8")
    passed = {"passed": "true" if code == 0 else "false"}
    append("GITHUB_OUTPUT", "".join(f"{name}={value}\n" for name, value in (passed | outputs).items()))


def lines(variable: str) -> list[str]:
    """Return the lines of an input that are not blank, with paths below the checkout relative to it."""
    text = os.environ[variable].replace(f"{os.environ['GITHUB_WORKSPACE']}/", "")
    return [line.strip() for line in text.split("\n") if line.strip()]


def options(name: str, values: Sequence[str]) -> list[str]:
    """Return an option of `tiescope` for each value."""
    return [f"{name}={value}" for value in values]


def run_arguments(checkout: Path, line: str) -> list[str]:
    """Return the arguments of `tiescope` for a line of the input `runs`; fail where it names nothing."""
    arguments = [line] if is_elsewhere(line) else files_of(checkout, line)
    return arguments or fail(f"runs: {line!r} is not a file of the repository, nor a pattern that matches one.")


def files_of(folder: Path, line: str) -> list[str]:
    """Return every file of a folder that a line names as a path, as a pattern or as NAME=PATH.

    A file that is called like a pattern does not take the place of the files that match it.
    """
    names = sorted({line, *glob(line, root_dir=folder)})  # noqa: PTH207 Path.glob matches hidden files
    files = [file_of(folder, name) for name in names if os.path.lexists(folder / name)]
    reranker, equals, path = line.partition("=")
    if equals and "/" not in reranker and os.path.lexists(folder / path):
        files.append(f"{reranker}={file_of(folder, path)}")
    return files


def file_of(folder: Path, name: str) -> str:
    """Return the absolute path of a file; fail where its name misleads or a link leads out of the folder."""
    path = Path(os.path.realpath(folder / name))
    if not name.isprintable():
        fail(f"{name!r}: the name holds characters that cannot be seen. Rename the file.")
    if not path.is_relative_to(folder) or ".git" in map(str.lower, path.relative_to(folder).parts):
        fail(f"{name!r} leads out of the repository. Put the file itself there.")
    if not path.is_file():
        fail(f"{name!r} is not a file.")
    return str(folder / name)


def is_elsewhere(line: str) -> bool:
    """Return whether the workflow names a URL, or an absolute path outside the checkout."""
    return "://" in line or any(Path(path).is_absolute() for path in (line, line.partition("=")[2]))


def qrels_options(checkout: Path) -> list[str]:
    """Return the options of `tiescope` for the input `qrels`."""
    paths = lines("QRELS")
    return options("--qrels", [path if is_elsewhere(path) else file_of(checkout, path) for path in paths])


@contextmanager
def base_options(checkout: Path) -> Iterator[list[str]]:
    """Check the base branch out, and yield the options of `tiescope review` that say what it holds."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    base = (event.get("pull_request") or {}).get("base")
    if os.environ["COMPARE"] != "true" or not base:
        yield []
        return
    commit, branch = base["sha"], base["ref"]
    if git(checkout, "cat-file", "-e", f"{commit}^{{commit}}"):
        git(checkout, "fetch", "--quiet", "--depth=1", "--no-recurse-submodules", "origin", commit)
    try:
        with TemporaryDirectory(dir=os.environ["RUNNER_TEMP"]) as name:
            if git(checkout, "worktree", "add", "--quiet", "--detach", name, commit):
                fail(f"git cannot check out {branch}, with which the runs are compared.")
            yield options_before(Path(name).resolve(), branch)
    finally:
        git(checkout, "worktree", "prune")


def options_before(folder: Path, branch: str) -> list[str]:
    """Return the options of `tiescope review` for the base branch, which is in a folder."""
    runs = [run for line in lines("RUNS") if not is_elsewhere(line) for run in files_of(folder, line)]
    paths = [path for path in lines("QRELS") if not is_elsewhere(path)]
    for path in paths:
        if not os.path.lexists(folder / path):
            print(f"::notice::{branch} has no {path}: the judgments of this pull request score its runs.")
    judgments = [file_of(folder, path) for path in paths if os.path.lexists(folder / path)]
    return [*options("--before", runs), *options("--before-qrels", judgments), f"--since={branch}"]


def git(checkout: Path, *arguments: str) -> int:
    """Run git on the repository without its hooks, and return the exit code."""
    command = ["git", f"--git-dir={checkout / '.git'}", "-c", "core.hooksPath=/dev/null", *arguments]
    with workflow_commands_off():
        return subprocess.run(command, check=False).returncode


def tiescope(command: str, arguments: Sequence[str], runs: Sequence[str], output: Path) -> int:
    """Run a command of TieScope and return its exit code: 0, or 1 where `review` says that the policy fails.

    Any other code ends this process. The messages of `review` are printed; `report` repeats them.
    """
    process = [*TIESCOPE, command, *arguments, f"--output={output}", "--", *runs]
    try:
        ended = subprocess.run(process, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    except OSError as error:
        fail(f"{len(runs):,} runs cannot be given to one command ({error.strerror}). Name fewer files.")
    if command == "review" or ended.returncode:
        with workflow_commands_off():
            sys.stdout.buffer.write(ended.stdout)
    if ended.returncode and (command, ended.returncode) != ("review", 1):
        sys.exit(ended.returncode)
    return ended.returncode


def fail(sentence: str) -> NoReturn:
    """Say what is wrong, and end as `tiescope` does on unusable input."""
    with workflow_commands_off():
        print(f"tiescope: {sentence}")
    sys.exit(2)


@contextmanager
def workflow_commands_off() -> Iterator[None]:
    """Make GitHub read what is printed as text: a name in it may look like a command that sets an output."""
    token = secrets.token_hex()
    print(f"::stop-commands::{token}", flush=True)
    yield
    print(f"::{token}::", flush=True)


def append(variable: str, text: str) -> None:
    """Append a text to a file that the runner names."""
    with Path(os.environ[variable]).open("a", encoding="utf-8") as stream:
        stream.write(text)


if __name__ == "__main__":
    main()
