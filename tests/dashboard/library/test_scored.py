"""What several visitors and several processes do to kept evaluations."""

import os
from concurrent.futures import ThreadPoolExecutor
from time import sleep, time

import pytest
from boards import COARSE, QRELS

from dashboard.access import server_files
from dashboard.library.scored import ScoredRuns, _one_at_a_time
from metrics.errors import LibraryError


@pytest.fixture
def runs(tmp_path):
    """A folder with a run and its judgments."""
    (tmp_path / "coarse.trec").write_text(COARSE)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


def test_two_visitors_who_ask_for_the_same_score_it_once(runs, monkeypatch):
    kept, told, scored = ScoredRuns(runs / "scored" / "here", 10**9), [], []
    whole = ScoredRuns._score  # noqa: SLF001 counted
    monkeypatch.setattr(ScoredRuns, "_score", lambda self, *asked: scored.append(1) or whole(self, *asked))
    asked = [runs / "coarse.trec"], runs / "qrels.txt", ["RR"], server_files.TIES
    with _one_at_a_time, ThreadPoolExecutor() as pool:
        made = [pool.submit(kept.score, *asked, told.append) for _ in range(2)]
        while len(told) < 2:
            sleep(0.05)
        _one_at_a_time.release()
        labels = {one.result().label for one in made}
        _one_at_a_time.acquire()
    assert len(labels) == len(scored) == 1
    assert "Another run is being scored …" in told


def test_what_is_being_written_is_left_alone(runs):
    kept = ScoredRuns(runs / "scored" / "here", 4000)
    kept.folder.mkdir(parents=True)
    (kept.folder / "other.new.part").write_bytes(bytes(10**5))
    os.utime(kept.folder / "other.new.part", (1, time()))
    kept._make_room(keep="")  # noqa: SLF001
    assert (kept.folder / "other.new.part").exists()


def test_what_grows_past_all_that_may_be_kept_is_refused_and_leaves_nothing(runs, monkeypatch):
    monkeypatch.setattr("metrics.scale.stored.writing.GROUP", 1)
    kept = ScoredRuns(runs / "scored" / "here", 10)
    with pytest.raises(LibraryError, match="larger than all that may be kept"):
        kept.score([runs / "coarse.trec"], runs / "qrels.txt", ["RR"], server_files.TIES, print)
    assert not list(kept.folder.iterdir())
