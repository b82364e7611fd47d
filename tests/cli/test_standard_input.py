"""`-` is standard input, wherever a command takes a file."""

import os
import socket

import pytest

LISTED = "q Q0 a 1 1 t\nq Q0 b 2 1 t\nr Q0 a 1 1 t\n"
QRELS = "q 0 a 1\nr 0 a 1\n"
RUN_PIPED = {
    "evaluate": ("evaluate", "-", "--qrels", "q.txt", "-m", "RR"),
    "compare": ("compare", "-", "other=run.trec", "--qrels", "q.txt", "-m", "RR"),
    "stability": ("stability", "-", "other=run.trec", "--qrels", "q.txt", "-m", "RR"),
    "gate": ("gate", "-", "--qrels", "q.txt", "-r", "RR>=0"),
    "report": ("report", "-", "--qrels", "q.txt", "-m", "RR", "--preset", "short"),
    "check": ("check", "-", "q.txt"),
}


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    """Give a text to whoever opens standard input, and both files to the working folder."""
    (tmp_path / "run.trec").write_text(LISTED)
    (tmp_path / "q.txt").write_text(QRELS)
    monkeypatch.chdir(tmp_path)

    def give(text):
        monkeypatch.setattr("metrics.runs.files.STDIN", tmp_path / "stdin")
        (tmp_path / "stdin").write_text(text)

    return give


@pytest.mark.parametrize("arguments", RUN_PIPED.values(), ids=RUN_PIPED)
def test_a_run_comes_by_standard_input(call, pipe, arguments):
    pipe(LISTED)
    code, out, _ = call(*arguments)
    assert (code, "stdin" in out) == (0, True)


@pytest.fixture
def special(tmp_path):
    """Paths of what is no regular file, by what they are: nobody writes to the pipe."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
    return ["pipe", "link", "socket", "/dev/zero"]


TAKING = {
    "check": ("check", "PATH"),
    "evaluate": ("evaluate", "PATH", "--qrels", "q.txt"),
    "evaluate --qrels": ("evaluate", "run.trec", "--qrels", "PATH"),
    "evaluate --engine dask": ("evaluate", "PATH", "--qrels", "q.txt", "--engine", "dask"),
    "review --before": ("review", "run.trec", "--qrels", "q.txt", "--before", "PATH"),
    "audit --published": ("audit", "run.trec", "--qrels", "q.txt", "--published", "PATH"),
    "report --published": ("report", "run.trec", "--qrels", "q.txt", "--published", "PATH"),
    "app": ("app", "PATH"),
}


@pytest.mark.usefixtures("streamlit_calls")
@pytest.mark.parametrize("arguments", TAKING.values(), ids=TAKING)
def test_what_is_no_regular_file_is_refused_and_not_waited_for(call, pipe, special, arguments):
    pipe("")
    for path in special:
        code, out, err = call(*(path if word == "PATH" else word for word in arguments))
        assert (code, f"{path}: not a regular file." in out + err) == (2, True)


def test_a_pipe_that_the_shell_has_opened_is_read(call, pipe):
    pipe("")
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        stream.write(LISTED)
    try:
        code, out, _ = call("evaluate", f"name=/dev/fd/{reading}", "--qrels", "q.txt", "-m", "RR")
    finally:
        os.close(reading)
    assert (code, "name" in out) == (0, True)


def test_the_app_refuses_what_it_could_read_once(call, pipe, streamlit_calls):
    pipe(LISTED)
    code, _, err = call("app", "-", "--qrels", "q.txt")
    assert (code, streamlit_calls) == (2, [])
    assert "Name a file." in err
