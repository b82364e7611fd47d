"""What commands write: whole or not at all, and never over what is read."""

import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
from boards import COARSE, QRELS
from full_disk import largest_file
from typer.models import ArgumentInfo

from dashboard.cli.commands import COMMANDS
from metrics import UsageError, evaluate_dataset
from metrics.cli.options import FileUse, file_uses

READERS = {
    "evaluate": ["-m", "RR", "-o"],
    "evaluate --per-query": ["-m", "RR", "--format", "csv", "-o"],
    "evaluate --format parquet": ["-o"],
    "evaluate --save": [],
    "compare": ["other", "-o"],
    "gate": ["-r", "RR>=0", "--format", "csv", "-o"],
    "review": ["-o"],
    "report": ["--section", "scores", "--format", "markdown", "-o"],
    "permutations": ["--query", "q1", "-o"],
    "stability": ["-m", "RR", "-o"],
    "check": ["-o"],
    "audit": ["--published", "published.csv", "-o"],
}
"""Command that reads runs and writes a file → its options, the file's last."""
PUBLISHED = "reranker,RR\ncoarse,0.2583\n"
WRITERS = READERS | {"simulate": ["--queries", "5", "-o"]}
READ_OR_WRITE_NO_RUNS = {"simulate", "app", "conformance"}
SPEAK_OF_FILES = {"column", "format", "reranker", "show"}
"""Options whose help speaks of files, and that name none that a command itself opens."""
NAMES = {
    "itself": lambda path, _: path,
    "a detour": lambda path, _: path.parent / ".." / path.parent.name / path.name,
    "a symbolic link": lambda path, other: other.symlink_to(path) or other,
    "a hard link": lambda path, other: other.hardlink_to(path) or other,
}


def test_every_command_is_in_these_tables():
    commands = {name.split()[0] for name in READERS}
    assert commands | READ_OR_WRITE_NO_RUNS == COMMANDS.keys()


@pytest.fixture
def files(write):
    write("published.csv", PUBLISHED)
    return write("coarse.csv", COARSE), write("qrels.txt", QRELS)


def arguments(command, files):
    """The command up to the file that it writes."""
    run, qrels = files
    files_of_options = {"published.csv": run.with_name("published.csv"), "other": f"other={run}"}
    options = [files_of_options.get(option, option) for option in WRITERS[command]]
    inputs = {"check": [run, qrels], "simulate": []}.get(command, [run, "--qrels", qrels])
    return [command.split()[0], *inputs, *command.split()[1:], *options]


def parameters(command):
    """The parameters of a command, by name, as they are declared."""
    return signature(COMMANDS[command]).parameters


def declared(command, *uses):
    """The parameters of a command that name files of which one of these uses is made."""
    by_name = file_uses(COMMANDS[command])
    return [name for name, use in by_name.items() if use in uses]


def words(command, name, value):
    """A value as the command line has it: behind its option, or alone."""
    option = parameters(command)[name].annotation.__metadata__[0]
    flags = () if isinstance(option, ArgumentInfo) else (option.param_decls or (f"--{name.replace('_', '-')}",))
    return [*flags[:1], value]


PAIRS = [
    (command, name, written)
    for command in COMMANDS
    for name in declared(command, FileUse.READ)
    for written in [*declared(command, FileUse.WRITTEN, FileUse.APPENDED), "stdout"]
]
REQUIRED = {"permutations": ["--query", "q1"], "app": ["--port", "1"]}


@pytest.fixture
def refuses(call, monkeypatch, tmp_path):
    """Look whether a command refuses to write a file that it reads, whose bytes it leaves alone."""

    def look(command, name, written, value, target, path):
        monkeypatch.setattr("metrics.cli.options._STDOUT", target if written == "stdout" else Path("-"))
        first = [] if name in ("run", "files", "results") else [tmp_path / "other.csv"]
        output = [] if written == "stdout" else words(command, written, target)
        before = path.read_bytes()
        source = words(command, name, value)
        code, out, err = call(command, *first, *source, *output, *REQUIRED.get(command, []))
        assert (code, out) == (2, "")
        assert err == f"tiescope: {target}: this is {path}, which this command reads. Name another file.\n"
        assert path.read_bytes() == before

    return look


@pytest.mark.parametrize(("command", "name", "written"), PAIRS)
def test_what_is_read_is_never_written_over(refuses, files, tmp_path, command, name, written):
    path, _ = files
    for number, spell in enumerate(NAMES.values()):
        target = spell(path, tmp_path / f"other{number}.csv")
        refuses(command, name, written, path, target, path)
        if "NamedPath" in str(parameters(command)[name].annotation):
            refuses(command, name, written, f"BM25={path}", target, path)


@pytest.mark.parametrize(
    ("command", "name"),
    [("evaluate", "run"), ("audit", "published"), ("report", "published")],
)
def test_nor_is_a_file_of_a_folder_or_a_pattern(refuses, files, tmp_path, command, name):
    path = tmp_path / "runs" / "coarse.csv"
    path.parent.mkdir()
    files[0].rename(path)
    for value in (path.parent, tmp_path / "r*s", f"{path.parent}/c*.csv"):
        for written in [*declared(command, FileUse.WRITTEN), "stdout"]:
            refuses(command, name, written, value, path, path)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("evaluate - -o coarse.csv < coarse.csv", "coarse.csv"),
        ("check - < coarse.csv >> coarse.csv", "/dev/stdout"),
    ],
)
def test_standard_input_and_output_are_those_of_the_process(files, line, place):
    command = f"{sys.executable} -c 'from dashboard.cli import main; main()' {line}"
    ended = subprocess.run(  # noqa: S602 our own line
        command, shell=True, capture_output=True, cwd=files[0].parent, check=False
    )
    said = f"tiescope: {place}: this is /dev/stdin, which this command reads. Name another file.\n"
    assert (ended.returncode, ended.stderr.decode()) == (2, said)
    assert files[0].read_text() == COARSE


def test_the_audit_log_of_the_environment_is_neither_read_nor_written_over(call, files, monkeypatch, tmp_path):
    monkeypatch.setenv("TIESCOPE_AUDIT_LOG", str(files[0]))
    code, _, err = call("app", files[0])
    assert (code, "which this command reads" in err, files[0].read_text()) == (2, True, COARSE)
    log = tmp_path / "log.jsonl"
    log.write_text("{}\n")
    monkeypatch.setenv("TIESCOPE_AUDIT_LOG", str(log))
    assert call("evaluate", files[0], "--qrels", files[1], "-o", log)[0] == 2
    assert log.read_text() == "{}\n"


@pytest.mark.parametrize("name", ["nowhere/", "folder/", "folder/.", ".."])
def test_a_name_that_only_a_folder_can_have_is_refused(call, files, tmp_path, name):
    (tmp_path / "folder").mkdir()
    for command in WRITERS:
        code, out, err = call(*arguments(command, files), f"{tmp_path}/{name}")
        assert (code, out) == (2, "")
        assert err == f"tiescope: {tmp_path}/{name}: cannot be written (it is a folder: name a file in it).\n"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("command", WRITERS)
def test_a_disk_that_fills_while_a_file_is_written_leaves_the_old_one(call, files, tmp_path, command):
    target = tmp_path / "old.csv"
    target.write_text("old")
    before = sorted(tmp_path.iterdir())
    with largest_file(20):
        code, out, err = call(*arguments(command, files), target)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"tiescope: {target}: cannot be written (File too large)."
    assert target.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", WRITERS)
def test_what_is_no_regular_file_is_written_straight_and_stays(call, files, tmp_path, command):
    for device, outcome in (("/dev/null", 0), ("/dev/full", 2)):
        link = tmp_path / f"{Path(device).name}.csv"
        link.symlink_to(device)
        code, _, err = call(*arguments(command, files), link)
        assert code == outcome
        assert (f"{link}: cannot be written (No space left on device)." in err) == bool(outcome)
        assert Path(device).is_char_device()


@pytest.mark.parametrize("command", WRITERS)
def test_a_file_keeps_permissions_and_links_and_a_new_file_follows_the_umask(call, files, tmp_path, command):
    target, link, new = tmp_path / "old.csv", tmp_path / "link.csv", tmp_path / "new.csv"
    target.write_text("old")
    target.chmod(0o604)
    link.symlink_to(target)
    umask = os.umask(0o027)
    try:
        assert call(*arguments(command, files), link)[0] == call(*arguments(command, files), new)[0] == 0
    finally:
        os.umask(umask)
    assert link.is_symlink()
    assert [path.stat().st_mode & 0o777 for path in (target, new)] == [0o604, 0o640]
    assert target.read_bytes()[:3] == new.read_bytes()[:3] != b"old"
    assert not list(tmp_path.glob(".*"))


WRONG = {
    "nowhere/out.csv": "the folder {}/nowhere does not exist",
    "nowhere/../coarse.csv": "the folder {}/nowhere/.. does not exist",
    "nowhere/../new.csv": "the folder {}/nowhere/.. does not exist",
    "detour.csv": "the folder {}/nowhere/.. does not exist",
    "folder": "it is a folder: name a file in it",
    "coarse.csv/out.csv": "Not a directory",
    "locked/out.csv": "the folder {}/locked is read-only",
    "locked.csv": "it is read-only",
    "loop.csv": "Too many levels of symbolic links",
    "a" * 300: "File name too long",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(
    call, files, tmp_path, monkeypatch, name
):
    for folder in ("folder", "locked"):
        (tmp_path / folder).mkdir()
    (tmp_path / "locked.csv").touch()
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    (tmp_path / "detour.csv").symlink_to("nowhere/../coarse.csv")
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK and "locked" in Path(path).name))
    monkeypatch.setattr("metrics.runs.files.File.open", None)
    for command in [*WRITERS][:-1]:
        code, out, err = call(*arguments(command, files), tmp_path / name)
        assert (code, out) == (2, "")
        assert err == f"tiescope: {tmp_path / name}: cannot be written ({WRONG[name].format(tmp_path)}).\n"


@pytest.mark.parametrize("command", WRITERS)
def test_a_dash_is_stdout(call, files, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "out.csv"
    code, out, err = call(*arguments(command, files), "-")
    if command in ("evaluate --save", "evaluate --format parquet"):
        assert (code, out) == (2, "")
        assert "needs a file" in err
    else:
        assert call(*arguments(command, files), path)[0] == code == 0
        assert out.split() == path.read_text().split()
    assert not (tmp_path / "-").exists()


def test_two_outputs_are_two_files(call, files, tmp_path):
    path = tmp_path / "out.csv"
    for _ in range(2):
        code, _, err = call(*arguments("evaluate --save", files), path, "-o", path)
        assert (code, err) == (
            2,
            f"tiescope: {path}: this is {path}, which this command already writes. Name another file.\n",
        )
        path.touch()


@pytest.mark.parametrize(
    "spelling",
    [
        "{}",
        "{}/c*.csv",
        "file://{}/coarse.csv",
        "simplecache::file://{}/coarse.csv",
        "simplecache::filecache::local://{}/coarse.csv",
    ],
)
def test_a_file_of_a_folder_pattern_or_address_is_not_written_over_either(call, files, tmp_path, spelling):
    run, qrels = files
    paths, link = spelling.format(tmp_path), tmp_path / "_link"
    link.hardlink_to(run)
    code, _, err = call("evaluate", paths, "--qrels", qrels, "--engine", "dask", "-o", link)
    assert code == 2
    assert "which this command reads" in err
    for path in (link, qrels):
        with pytest.raises(UsageError, match="which this command reads"):
            evaluate_dataset(paths, qrels, output=path)
    assert run.read_text() == COARSE


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_that_names_a_file_declares_what_is_done_with_it(command):
    for name in parameters(command).keys() - {"context", *declared(command, *FileUse)} - SPEAK_OF_FILES:
        parameter = parameters(command)[name]
        option = parameter.annotation.__metadata__[0]
        text = f"{name} {parameter.annotation.__origin__} {option.metavar} {option.help}"
        assert not re.search(r"(?i)(path|\b(file|folder|dir)s?\b)", text), name
