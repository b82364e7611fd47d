"""How a command ends when it does not go as it should."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from metrics.cli.pipelines import gating
from metrics.errors import TieScopeError

TIESCOPE = (sys.executable, "-c", "from dashboard.cli import main; main()")
RUN = "".join(f"q{query} Q0 d{document} 1 {document % 3} t\n" for query in range(500) for document in range(20))
QRELS = "".join(f"q{query} 0 d{query % 20} 1\n" for query in range(500))
COMMANDS = {
    "evaluate": ["--per-query", "--format", "csv"],
    "compare": [],
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
        (MemoryError(), 2, "tiescope: there is not enough memory. Ask for less, or evaluate with"),
        (OSError(28, "No space left on device"), 2, "tiescope: No space left on device."),
        (TieScopeError("no list"), 2, "tiescope: no list"),
        (KeyboardInterrupt(), 130, "tiescope: interrupted."),
        (ZeroDivisionError("by 0"), 70, "tiescope: this is a defect of TieScope"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_what_goes_wrong_in_gate_is_no_missed_target(call, files, monkeypatch, error, code, line):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(gating, "check_targets", fail)
    monkeypatch.setattr("metrics.cli.end", sys.exit)
    ended, out, err = call("gate", *files, "--require", "RR >= 0.1")
    assert (ended, out) == (code, "")
    assert err.strip().splitlines()[-1:] == [said for said in err.splitlines() if said.startswith(line)][-1:]
    assert "Traceback" not in err or code == 70


def test_a_command_ends_quietly_when_its_reader_leaves(files):
    arguments = [*TIESCOPE, "evaluate", *files, "--per-query"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (said, process.returncode) == (b"", 141)


def test_a_letter_that_the_terminal_lacks_is_written_as_an_escape(files):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ended = subprocess.run([*TIESCOPE, "check", *files[::2]], capture_output=True, env=environment, check=False)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_ends_a_command_at_any_moment_with_one_line_and_no_half_file(command, files, tmp_path):
    arguments = [*TIESCOPE, command, *(files if command != "check" else files[::2]), *COMMANDS[command]]
    output = tmp_path / "output"
    arguments += ["-o", str(output)]
    begin = time.monotonic()
    whole = subprocess.run(arguments, capture_output=True, check=False)
    seconds = time.monotonic() - begin
    assert whole.returncode in (0, 1), whole.stderr
    content, moments = output.read_bytes(), random.Random(command)
    for _ in range(50):
        output.unlink(missing_ok=True)
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.05 + moments.random() * seconds)  # Python's own first moments are its own
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (whole.returncode, 130, -signal.SIGINT)
        assert process.returncode != 130 or err.decode().splitlines()[-1] == "tiescope: interrupted."
        assert b"Traceback" not in err
        assert not output.exists() or output.read_bytes() == content
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
