"""What several visitors and several processes do to kept evaluations."""

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep, time

import pytest
from boards import COARSE, QRELS, STRICT

from dashboard.access import server_files
from dashboard.library import scored
from dashboard.library.scored import ScoredRuns
from metrics import evaluate
from metrics.errors import LibraryError


@pytest.fixture
def runs(tmp_path):
    """A folder with a run and its judgments."""
    (tmp_path / "coarse.trec").write_text(COARSE)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


def test_two_visitors_who_ask_for_the_same_score_it_once(runs, monkeypatch):
    (runs / "strict.trec").write_text(STRICT)
    evaluations, messages, scored_runs = ScoredRuns(runs / "scored" / "here", 10**9), [], []
    is_busy, may_go_on = Event(), Event()

    def count(runs, **options):
        scored_runs.append(runs.rerankers)
        return evaluate(runs, **options)

    def keep_busy(_):
        is_busy.set()
        may_go_on.wait(60)

    monkeypatch.setattr(scored, "evaluate", count)
    options = runs / "qrels.txt", ["RR"], server_files.TIES
    with ThreadPoolExecutor() as pool:
        pool.submit(evaluations.score, [runs / "strict.trec"], *options, keep_busy)
        is_busy.wait(60)
        visitors = [
            pool.submit(evaluations.score, [runs / "coarse.trec"], *options, messages.append) for _ in range(2)
        ]
        while len(messages) < 2:
            sleep(0.05)
        may_go_on.set()
        labels = {visitor.result().label for visitor in visitors}
    assert len(labels) == scored_runs.count(["coarse"]) == 1
    assert "Waiting for another scoring job to finish …" in messages


def test_what_is_being_written_is_left_alone(runs):
    evaluations = ScoredRuns(runs / "scored" / "here", 50_000)
    evaluations.folder.mkdir(parents=True)
    part = evaluations.folder / "other.new.part"
    part.write_bytes(bytes(10**5))
    os.utime(part, (1, time()))
    assert evaluations.score([runs / "coarse.trec"], runs / "qrels.txt", ["RR"], server_files.TIES, print)
    assert part.exists()


def test_what_grows_past_all_that_may_be_kept_is_refused_and_leaves_nothing(runs, monkeypatch):
    monkeypatch.setattr("metrics.scale.stored.GROUP", 1)
    evaluations = ScoredRuns(runs / "scored" / "here", 10)
    with pytest.raises(LibraryError, match="exceeds this server's limit"):
        evaluations.score([runs / "coarse.trec"], runs / "qrels.txt", ["RR"], server_files.TIES, print)
    assert not list(evaluations.folder.iterdir())
