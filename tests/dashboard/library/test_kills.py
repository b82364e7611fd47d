"""Whoever writes may be killed at any moment: what was committed stays, and nothing is left half.

pytest -m slow FILE -s    30 kills on each database, and what was found
"""

import statistics
import time
from collections import Counter

import library_writer
import numpy as np
import pytest
from libraries import stored
from library_writer import PROCESSES, Step

from metrics.runs import read

FEW_KILLS, MANY_KILLS = 6, 30
"""Kills of a plain run, and of one that was asked for."""
LIVES = (1, 2, 3, 4)
"""In which of its steps a writer is killed."""
PATIENCE = 60


class Ledger:
    """What writers said, against what the library says."""

    def __init__(self, open_library, home):
        self.open_library, self.home = open_library, home
        self.boards = {}  # number → files, of boards that are not deleted
        self.deleted = {}  # the same of boards whose deletion can be undone
        self.names_by_board = {}
        self.seconds = [0.02]
        self.counts = Counter()

    def kill(self, url, seed):
        """Have a writer live for some steps, and end it at a random moment of the next, or just after."""
        chance = np.random.default_rng(seed)
        mine, theirs = PROCESSES.Pipe(duplex=False)
        writer = PROCESSES.Process(target=library_writer.write, args=(str(self.home), url, seed, theirs))
        writer.start()
        theirs.close()
        for _ in range(chance.choice(LIVES) - 1):
            self.note(*self.receive_step(mine))
        step = self.receive(mine)
        mine.poll(chance.random() * statistics.median(self.seconds[-50:]))
        writer.kill()
        writer.join(PATIENCE)
        messages = [step, *self.remaining_messages(mine)]
        mine.close()
        for step_and_number in zip(messages[::2], messages[1::2], strict=False):
            self.note(*step_and_number)
        self.counts["kills"] += 1
        self.settle(messages[-1] if len(messages) % 2 else None)

    def receive(self, pipe):
        assert pipe.poll(PATIENCE), "the writer is silent"
        return pipe.recv()

    def receive_step(self, pipe):
        """A step, and the number of its board once it is done."""
        step, begin = self.receive(pipe), time.monotonic()
        number = self.receive(pipe)
        self.seconds.append(time.monotonic() - begin)
        return step, number

    def remaining_messages(self, pipe):
        """What a writer said before it was killed."""
        try:
            while True:
                yield pipe.recv()
        except EOFError:
            return

    def note(self, step, number):
        """A step that was done."""
        self.counts[f"committed: {step.action}"] += 1
        if step.action == "delete":
            self.deleted[number] = self.boards.pop(number)
        elif step.action == "rename":
            self.names_by_board[number] = step.name
        else:
            self.boards[number] = step.numbers

    def settle(self, step):
        """Whether the library is as it was before the open step or as it is after; which, is noted."""
        self.counts["after a write" if step is None else "inside a write"] += 1
        step = step or Step("none")
        library = self.open_library()
        board_ids = {one.id for one in library.boards()}
        before, new = dict(self.boards), board_ids - set(self.boards)
        if step.action == "keep" and new:
            (number,) = new
            self.note(step, number)
        elif step.action == "delete":
            if step.board not in board_ids:
                self.note(step, step.board)
        elif step.action == "rename":
            if library.find(step.board).name == step.name:
                self.note(step, step.board)
        elif step.action == "revise" and self.files(library, step.board) == self.names(step.numbers):
            self.note(step, step.board)
        if self.boards != before or (step.name and self.names_by_board.get(step.board) == step.name):
            self.counts["inside a write, and it was done"] += 1
        self.check(library, board_ids, step)
        library.close()

    def names(self, numbers):
        return [f"file {number}.csv" for number in numbers]

    def files(self, library, number):
        return [entry.file.name for entry in library.find(number).spec.entries]

    def check(self, library, board_ids, step):
        assert board_ids == set(self.boards)
        assert {one.name for one in library.uploads()} == set(self.names(self.numbers(self.boards)))
        touched = {step.board, *list(self.boards)[-6:]} & board_ids
        self.check_boards(library, touched)
        names = {one.id: one.name for one in library.boards()}
        assert {number: names[number] for number in self.names_by_board if number in names} == {
            number: name for number, name in self.names_by_board.items() if number in self.boards
        }
        library.end_expired()
        kept = self.numbers(self.boards) | self.numbers(self.deleted)
        assert stored(library) == sorted(library_writer.file(number).sha256 for number in kept)

    def numbers(self, boards):
        return {number for numbers in boards.values() for number in numbers}

    def check_boards(self, library, numbers):
        for number in numbers:
            record = library.find(number)
            assert [entry.file.name for entry in record.spec.entries] == self.names(self.boards[number])
            for entry, of in zip(record.spec.entries, self.boards[number], strict=True):
                assert entry.file.sha256 == library_writer.file(of).sha256
                assert entry.read().table.equals(read(library_writer.file(of)).table)

    def check_all(self):
        """Every board, and every upload, to its last row."""
        library = self.open_library()
        self.check_boards(library, self.boards)
        self.counts["uploads at the end"] = len(library.uploads())
        self.counts["boards at the end"] = len(self.boards)


@pytest.fixture
def ledger(open_library, tmp_path):
    return Ledger(open_library, tmp_path / "home")


def killed(ledger, url, kills):
    for seed in range(kills):
        ledger.kill(url, seed)
    ledger.check_all()
    return ledger.counts


def test_a_few_kills_lose_no_committed_upload_and_leave_no_half_one(ledger, url):
    counts = killed(ledger, url, FEW_KILLS)
    assert counts["kills"] == FEW_KILLS
    assert counts["inside a write"] > 0


@pytest.mark.slow
def test_30_kills_lose_no_committed_upload_and_leave_no_half_one(ledger, url, kind):
    counts = killed(ledger, url, MANY_KILLS)
    print(f"\n{kind}: {dict(counts)}")
    assert counts["kills"] == MANY_KILLS
    assert counts["inside a write"] > MANY_KILLS / 2
