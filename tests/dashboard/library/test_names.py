"""A board whose files have odd names is, once it is opened again, the board it was."""

import pytest
from boards import QRELS, STRICT, TIED

from dashboard.library.boards import BoardSpec, board_name, clean, copy_name, file_name, make_board
from metrics.runs import File

LONG = "x" * 999 + " y.trec"
NAMES = [
    " a.trec",
    "a.trec ",
    " a ",
    "\u3000a.trec",
    "a\0b.trec",
    "caf\udce9.trec",
    LONG,
    "x" * 1500,
    " " * 1500,
]
ODD = pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])


def board_of_runs(*names):
    """A board of runs of these names."""
    runs = [File(name, text.encode()) for name, text in zip(names, (STRICT, TIED), strict=False)]
    spec = BoardSpec.of([*runs, File("qrels.txt", QRELS.encode())])
    return make_board(spec, [entry.read() for entry in spec.entries])


def as_read(spec):
    return make_board(spec, [entry.read() for entry in spec.entries])


@ODD
def test_a_file_of_an_odd_name_can_be_opened_again(library, name):
    record = library.keep(board_of_runs(name))
    assert [entry.file.name for entry in record.spec.entries] == [file_name(File(name, b"").name), "qrels.txt"]
    assert as_read(record.spec).runs.rerankers == [File(file_name(File(name, b"").name), b"").stem]
    assert library.keep(board_of_runs(name)).id == record.id
    assert library.keep(as_read(record.spec)).id == record.id


def test_two_names_that_are_one_once_they_are_cut_are_told_apart(library):
    record = library.keep(board_of_runs("x" * 1500, "x" * 1501))
    assert [name[-5:] for name in as_read(record.spec).runs.rerankers] == ["x (1)", "x (2)"]


@pytest.mark.parametrize("cut", [clean, board_name, file_name])
@pytest.mark.parametrize("text", [*NAMES, "x" * 199 + " y", "\0 \0", ""])
def test_a_name_that_was_kept_is_kept_as_it_is(cut, text):
    assert cut(cut(text)) == cut(text)
    assert len(copy_name(text)) <= 200
