"""How far long work is: told by reading and scoring, heard by whoever shows it."""

import io
import sys

import pytest
from boards import COARSE, QRELS, STRICT
from rich.console import Console

from metrics import evaluate, read_runs
from metrics.support import progress as shown
from metrics.support.progress import Step, begin_step, listening


@pytest.fixture
def files(tmp_path):
    texts = {"strict.trec": STRICT, "coarse.trec": COARSE, "qrels.txt": QRELS}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


def test_reading_tells_of_each_file_and_scoring_of_rerankers_scored_at_once(files):
    steps = []
    with listening(steps.append):
        evaluate(read_runs(files[:2], files[2]), "RR", "expected")
    begun = [(step.task, step.completed, step.total, step.item) for step in steps]
    assert list(dict.fromkeys(begun)) == [
        ("Reading", 0, 2, "strict.trec"),
        ("Reading", 1, 2, "coarse.trec"),
        ("Scoring", 0, 2, "strict"),
    ]
    before = len(steps)
    begin_step("Reading", 0, 1)
    assert len(steps) == before  # nobody listens any more


def test_what_a_listener_raises_ends_the_work(files):
    def cancel(step):
        if step.task == "Scoring":
            raise KeyboardInterrupt

    runs = read_runs(files[:2], files[2])
    with pytest.raises(KeyboardInterrupt), listening(cancel):
        evaluate(runs, "RR", "expected")


def test_a_part_is_told_in_words():
    assert Step("Reading", 6, 15, "bm25.trec", 350_000).part == "7 of 15: bm25.trec, 350,000 rows so far"
    assert Step("Scoring", 2, 2).part == "2 of 2"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_command_line_draws_a_bar_on_stderr_only_where_a_person_looks(monkeypatch, capsys, is_terminal):
    screen = io.StringIO()

    def console(*, stderr):
        assert stderr
        return Console(file=screen, force_terminal=is_terminal, width=80)

    monkeypatch.setattr("rich.console.Console", console)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.setattr(shown, "Timer", AtOnce)
    with shown.progress("Reading"):
        begin_step("Reading", 6, 15, "[red]odd[/].trec", 350_000)
    assert ("7 of 15: [red]odd[/].trec, 350,000 rows so far" in screen.getvalue()) == is_terminal
    assert bool(screen.getvalue()) == is_terminal
    assert capsys.readouterr() == ("", "")


class AtOnce:
    """A timer whose second is over."""

    def __init__(self, seconds, do):
        assert seconds == 1
        self.start, self.cancel = do, lambda: None
