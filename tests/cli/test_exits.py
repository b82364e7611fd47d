"""How a command ends when it does not go as it should."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time

import pytest

from dashboard import cli
from metrics.cli import deciding
from metrics.errors import TieScopeError
from metrics.studies import targets

TIESCOPE = (sys.executable, "-c", "from dashboard.cli import main; main()")
INSTALLED = "from tiescope.__main__ import main; main()"
RUN = "".join(f"q{query} Q0 d{document} 1 {document % 3} t\n" for query in range(500) for document in range(20))
QRELS = "".join(f"q{query} 0 d{query % 20} 1\n" for query in range(500))
COMMANDS = {
    "evaluate": ["--per-query", "--format", "csv"],
    "stability": [],
    "gate": ["--require", "RR >= 0.1"],
    "report": ["--format", "markdown"],
    "check": [],
    "permutations": ["--query", "q1", "--draws", "20000"],
}


@pytest.fixture
def files(write):
    return [str(write("a.trec", RUN)), "--qrels", str(write("q.qrels", QRELS))]


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (MemoryError(), 2, "tiescope: there is not enough memory. Use smaller data, or evaluate with"),
        (OSError(28, "No space left on device"), 2, "tiescope: No space left on device."),
        (TieScopeError("no list"), 2, "tiescope: no list"),
        (KeyboardInterrupt(), 130, "tiescope: interrupted."),
        (ZeroDivisionError("by 0"), 70, "tiescope: this is a bug in TieScope"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_what_goes_wrong_in_gate_is_no_missed_target(call, files, monkeypatch, error, code, line):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(targets, "check_targets", fail)
    monkeypatch.setattr("metrics.cli.messages.end", sys.exit)
    ended, out, err = call("gate", *files, "--require", "RR >= 0.1")
    assert (ended, out) == (code, "")
    last = ["", *err.strip().splitlines()][-1]
    assert last.startswith(line) if line else "tiescope" not in last
    assert "Traceback" not in err or code == 70


@pytest.mark.parametrize("arguments", [["evaluate", "FILES", "--per-query"], ["evaluate", "--help"]])
def test_a_command_ends_quietly_when_its_reader_leaves(files, arguments):
    arguments = [*TIESCOPE, arguments[0], *(files if arguments[1] == "FILES" else []), *arguments[1:][-1:]]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (said, process.returncode) == (b"", 141)


def test_a_letter_that_the_terminal_lacks_is_written_as_an_escape(files):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ended = subprocess.run([*TIESCOPE, "check", *files[::2]], capture_output=True, env=environment, check=False)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_with_what_is_done_inside_put_in_order(call, files, monkeypatch, number):
    ended, before = [], signal.getsignal(number)

    def check_targets(*_):
        try:
            signal.raise_signal(number)
        finally:
            ended.append(number)
            if number != signal.SIGINT:
                signal.raise_signal(number)  # once more, while it ends

    monkeypatch.setattr(targets, "check_targets", check_targets)
    code, out, err = call("gate", *files, "--require", "RR >= 0.1")
    assert (code, out, ended) == (128 + number, "", [number])
    assert err.splitlines()[1:] == ["tiescope: interrupted."] * (number == signal.SIGINT)
    assert signal.getsignal(number) == before


@pytest.mark.usefixtures("default_signals")
def test_a_signal_that_python_makes_another_error_of_is_no_defect(call, files, monkeypatch):
    def check_targets(*_):
        try:
            signal.raise_signal(signal.SIGTERM)
        except SystemExit as stop:
            raise RuntimeError("Error calling __set_name__") from stop

    monkeypatch.setattr(targets, "check_targets", check_targets)
    code, _, err = call("gate", *files, "--require", "RR >= 0.1")
    assert (code, "Traceback" in err) == (143, False)


def test_a_signal_that_is_ignored_stays_ignored(call, files, monkeypatch):
    monkeypatch.setattr(deciding, "say_left_out", lambda *_: signal.raise_signal(signal.SIGHUP))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert call("gate", *files, "--require", "RR >= 0.1")[0] == 0
    finally:
        signal.signal(signal.SIGHUP, before)


CLOSED = "tiescope: standard output is closed.\n"
COMMAND_LINES = {
    "evaluate FILES": 2,
    "evaluate FILES -m RR --per-query --format csv": 2,
    "evaluate FILES -o out.txt": 0,
    "simulate -o - --queries 5": 2,
    "evaluate --help": 2,
    "--help": 2,
    "--version": 2,
}


def run_in_shell(line, files, folder):
    """Run a command line of the shell: exit code, standard output, standard error."""
    tiescope = shlex.join(TIESCOPE)
    line = f"{tiescope} {line.replace('FILES', shlex.join(files))}"
    ended = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=folder, check=False)  # noqa: S602 ours
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_data_for_a_standard_output_that_is_closed_is_an_error(files, tmp_path, line):
    code = COMMAND_LINES[line]
    ended, _, said = run_in_shell(f"{line} >&-", files, tmp_path)
    assert (ended, said.endswith(CLOSED), "Traceback" in said) == (code, bool(code), False)


@pytest.mark.parametrize("line", ["check x.trec", "evaluate x.trec", "app", "--version"])
def test_a_command_in_a_deleted_folder_ends_without_a_traceback(tmp_path, line):
    folder = tmp_path / "gone"
    folder.mkdir()
    start = [sys.executable, "-c", f"import os; os.rmdir({str(folder)!r}); {INSTALLED}", *line.split()]
    ended = subprocess.run(start, capture_output=True, text=True, cwd=folder, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0 if line == "--version" else 2, False)
    if line == "app":
        assert ended.stderr == "tiescope: the current folder no longer exists. Change to another folder.\n"


def test_other_streams_may_be_closed(files, tmp_path):
    usual = run_in_shell("evaluate FILES", files, tmp_path)
    assert usual[0] == 0
    for closed in ("2>&-", "<&-", "<&- 2>&-"):
        assert run_in_shell(f"evaluate FILES {closed}", files, tmp_path) == usual
    assert run_in_shell("evaluate missing.trec 2>&-", files, tmp_path) == (2, "", "")
    assert run_in_shell("evaluate FILES <&- >&- 2>&-", files, tmp_path) == (2, "", "")
    code, _, said = run_in_shell("check - <&-", files, tmp_path)
    assert (code, said) == (2, "")


def test_a_server_starts_without_standard_streams(streamlit_calls, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["tiescope", "app"])
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    sys.stdout.write("You can now view your app in your browser.")
    sys.stdout.flush()
    for name in ("stdin", "stdout", "stderr"):
        getattr(sys, name).close()
    assert (ended.value.code or 0, len(streamlit_calls)) == (0, 1)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_ends_a_command_at_any_moment_with_one_line_and_no_half_file(command, files, tmp_path):
    begins = "from dashboard.cli import main; print(flush=True); main()"
    arguments = [sys.executable, "-c", begins, command, *(files if command != "check" else files[::2])]
    output = tmp_path / "output"
    arguments += [*COMMANDS[command], "-o", str(output)]
    begin = time.monotonic()
    whole = subprocess.run(arguments, capture_output=True, check=False)
    seconds = time.monotonic() - begin
    assert whole.returncode in (0, 1), whole.stderr
    content, moments = output.read_bytes(), random.Random(command)
    for _ in range(50):
        output.unlink(missing_ok=True)
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()  # Python's own first moments are its own
        time.sleep(moments.random() * seconds)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (whole.returncode, 130, -signal.SIGINT)
        assert process.returncode != 130 or err.decode().splitlines()[-1] == "tiescope: interrupted."
        assert b"Traceback" not in err
        assert not output.exists() or output.read_bytes() == content
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
