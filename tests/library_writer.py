"""A process that changes a library until it is killed, and says what it is about to do."""

import multiprocessing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from dashboard.library.boards import BoardSpec, make_board
from dashboard.library.store import Library
from metrics.runs import File, read

PROCESSES = multiprocessing.get_context("forkserver")
"""Starts processes that have imported what is slow to import, and share nothing with ours."""
PROCESSES.set_forkserver_preload(["dashboard.library.store", "pyarrow.parquet", "psycopg"])
FILES_AGAIN = 0.3
"""Share of boards that also hold a file of the writer before, which may have got to keep it or not."""


@dataclass(frozen=True)
class Step:
    """A change of the library.

    Attributes:
        action: keep, revise, rename or delete.
        numbers: of the files that are on the board then.
        board: the one that is revised, renamed or deleted.
        name: of the board that is renamed.
    """

    action: str
    numbers: tuple[int, ...] = ()
    board: str = ""
    name: str = ""


def file(number: int) -> File:
    """A file unlike that of any other number; one in four is large."""
    chance = np.random.default_rng(number)
    rows = chance.choice((20, 50, 200, 5_000))
    lines = (f"q{row // 20},d{row % 20},{score},{row % 3}" for row, score in enumerate(chance.random(rows)))
    header = "query_id,doc_id,score,relevance"
    return File(f"file {number}.csv", "\n".join((header, *lines, "")).encode())


def board(numbers):
    """The board of some files."""
    files = [file(number) for number in numbers]
    return make_board(BoardSpec.of(files), [read(one) for one in files])


def steps(seed, library):
    """Changes without end: mostly new boards of new files, some of a file that is kept already."""
    chance, numbers = np.random.default_rng(seed), count(seed * 1000)
    while True:
        board_ids = [one.id for one in library.boards()]
        actions, shares = ("keep", "revise", "rename", "delete"), (0.5, 0.2, 0.15, 0.15)
        action = str(chance.choice(actions, p=shares)) if board_ids else "keep"
        before = [(seed - 1) * 1000] if seed and chance.random() < FILES_AGAIN else []
        files = () if action in ("rename", "delete") else (next(numbers), *before)
        board_id = "" if action == "keep" else str(chance.choice(board_ids))
        yield Step(action, files, board_id, f"name {next(numbers)}" if action == "rename" else "")


def write(home: str, url: str, seed: int, says) -> None:
    """Change the library until killed: each step is told before it begins, and when it is done."""
    library = Library(Path(home), url)
    for step in steps(seed, library):
        new_board = board(step.numbers) if step.numbers else None
        version = library.find(step.board).version if step.board else 0
        says.send(step)
        number = step.board
        if step.action == "keep":
            number = library.keep(new_board).id
        elif step.action == "revise":
            library.revise(step.board, version, new_board)
        elif step.action == "rename":
            library.rename(step.board, step.name)
        else:
            library.delete(step.board)
        says.send(number)
