"""Files of a folder are given once, when they are whole, the oldest first."""

import os

import pytest

from metrics.runs import read
from metrics.scale.live import FolderFeed

ROWS = "query_id,doc_id,score,relevance\nq,a,1,1\n"


@pytest.fixture
def looks(tmp_path, monkeypatch):
    """Return a folder, and what looks into it as often as said and returns the names of files given."""
    monkeypatch.setattr("metrics.scale.live.sleep", lambda _seconds: None)
    folder = tmp_path / "runs"
    folder.mkdir()
    feed = FolderFeed(folder, read, print)

    def look(times=2):
        return [arrival.source().file for _ in range(times) for arrival in feed.wait(1)]

    return folder, look


def test_the_oldest_file_is_given_first(looks):
    folder, look = looks
    for age, name in enumerate(("b.csv", "c.csv", "a.csv")):
        (folder / name).write_text(ROWS)
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    assert look() == ["a.csv", "c.csv", "b.csv"]


def test_a_file_that_leaves_and_comes_back_as_it_was_is_given_once(looks, tmp_path):
    folder, look = looks
    (folder / "a.csv").write_text(ROWS)
    assert look() == ["a.csv"]
    (folder / "a.csv").rename(tmp_path / "a.csv")
    assert look() == []
    (tmp_path / "a.csv").rename(folder / "a.csv")
    assert look() == []


def test_another_file_of_the_name_of_one_that_left_is_given(looks):
    folder, look = looks
    (folder / "a.csv").write_text(ROWS)
    assert look() == ["a.csv"]
    (folder / "a.csv").unlink()
    assert look() == []
    (folder / "a.csv").write_text(ROWS + "q,b,0,0\n")
    assert look() == ["a.csv"]
