"""Lists that arrive in a folder or a stream, and the changes found in them."""

import os

import numpy as np
import pandas as pd
import pytest

from metrics import ReadError
from metrics.evaluation.running import find_change
from metrics.runs import read
from metrics.runs.columns import ColumnChoice
from metrics.scale.live import ChangeWatch, FolderFeed, LineCutter

ROWS = "query_id,doc_id,score,relevance\nq,a,1,1\n"


@pytest.fixture
def looks(tmp_path, monkeypatch):
    """Return a folder, and what looks into it as often as said and returns the names of files given."""
    monkeypatch.setattr("metrics.scale.live.sleep", lambda _seconds: None)
    folder = tmp_path / "runs"
    folder.mkdir()
    feed = iter(FolderFeed(folder, read, print, every=1))

    def look(times=2):
        return [arrival.source().file for _ in range(times) for arrival in next(feed)]

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


def test_a_refused_file_that_leaves_and_comes_back_is_given_again(tmp_path, monkeypatch):
    monkeypatch.setattr("metrics.scale.live.sleep", lambda _seconds: None)
    folder = tmp_path / "runs"
    folder.mkdir()
    feed = iter(FolderFeed(folder, read, print, every=1))

    def look():
        return [arrival for _ in range(2) for arrival in next(feed)]

    (folder / "a.csv").write_text(ROWS)
    (arrival,) = look()
    arrival.refuse()
    assert look() == []
    (folder / "a.csv").rename(tmp_path / "a.csv")
    assert look() == []
    (tmp_path / "a.csv").rename(folder / "a.csv")
    assert [arrival.source().file for arrival in look()] == ["a.csv"]


def test_the_number_of_missing_files_it_remembers_is_bounded(looks, monkeypatch):
    monkeypatch.setattr("metrics.scale.live._MAX_MISSING", 1)
    folder, look = looks
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text(ROWS)
    assert look() == ["a.csv", "b.csv"]
    for name in ("a.csv", "b.csv"):
        (folder / name).rename(folder.parent / name)
    assert look() == []
    for name in ("a.csv", "b.csv"):
        (folder.parent / name).rename(folder / name)
    assert look() == ["a.csv"], "b.csv is still known as read"


def test_another_file_of_the_name_of_one_that_left_is_given(looks):
    folder, look = looks
    (folder / "a.csv").write_text(ROWS)
    assert look() == ["a.csv"]
    (folder / "a.csv").unlink()
    assert look() == []
    (folder / "a.csv").write_text(ROWS + "q,b,0,0\n")
    assert look() == ["a.csv"]


HEADER = b"query_id,doc_id,score,relevance\n"


def rows(query, n_rows, document="d"):
    return [f"{query},{document}{number},1,1\n".encode() for number in range(n_rows)]


def cut(pieces):
    """Return query and number of lines of each list of a stream that comes in pieces, and how many errors."""
    cutter, lists, n_errors = LineCutter("stdin", ColumnChoice({}, strict=False)), [], 0
    for piece in [*pieces, None]:
        try:
            for entry in cutter.end() if piece is None else cutter.feed(piece):
                lists.append((entry[0][1].split(b",")[0].decode(), len(entry)))  # noqa: PERF401 errors end it
        except ReadError:
            n_errors += 1
    return lists, n_errors


def test_all_lines_of_a_list_that_is_too_long_are_left_out(monkeypatch):
    monkeypatch.setattr("metrics.scale.live.MAX_LIST", 100)
    pieces = [HEADER, *rows("a", 2), *rows("long", 40), *rows("b", 3)]
    assert cut(pieces) == ([("a", 2), ("b", 3)], 1)


@pytest.mark.parametrize("size", [7, 100])
def test_a_line_that_is_too_long_takes_its_list_with_it_alone(monkeypatch, size):
    monkeypatch.setattr("metrics.scale.live.MAX_LINE", 60)
    stream = b"".join([HEADER, *rows("a", 2), *rows("long", 2), *rows("long", 1, "d" * 300), *rows("long", 2)])
    stream += b"".join(rows("b", 3))
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert cut(pieces) == ([("a", 2), ("b", 3)], 1)


class Arriving:
    """Values that come one by one, without ties, as `Running` keeps them."""

    measures = ("RR",)

    def __init__(self, values):
        self.values, self.n = np.asarray(values, dtype=float), 0

    @property
    def n_lists(self):
        return {"llm": self.n}

    def change(self, _reranker, _measure, *, after):
        values = self.values[after : self.n]
        return find_change(values, values, values, pd.Index([f"q{n}" for n in range(after, self.n)]))


def told(values):
    """The queries at which changes are told, looking after each value."""
    running = Arriving(values)
    watch, queries = ChangeWatch(running), []
    for running.n in range(1, len(values) + 1):
        queries += [new.change.query_id for new in watch.new_changes()]
    return queries


def test_who_looks_after_every_list_is_hardly_ever_told_of_a_change_that_is_none():
    rng = np.random.default_rng(0)
    assert sum(bool(told(1 / rng.integers(1, 6, 400))) for _ in range(100)) <= 3


@pytest.mark.parametrize("step", [0.5, -0.5])
def test_each_change_is_told_once_and_the_next_one_too(step):
    noise = np.random.default_rng(1).normal(0, 0.1, 300)
    queries = told(noise + step * np.repeat([0, 1, 0], 100))
    assert [round(int(query[1:]), -1) for query in queries] == [100, 200]
