"""Several people and several processes keep the same and other files at once: each is there once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import library_writer
import pytest
from libraries import keep_as, stored
from library_writer import PROCESSES

from dashboard.library.store import Library
from metrics.errors import LibraryError

THREADS, OTHER_PROCESSES = 8, 2
FILES = range(100, 112)


def share(visitor):
    """Three boards of a visitor: every file is also another visitor's."""
    return [
        (FILES[(visitor + step) % len(FILES)], FILES[(visitor + step + 1) % len(FILES)]) for step in (0, 3, 6)
    ]


def visit(library, visitor):
    """Keep one's boards, read each again, look around and change one: what went wrong."""
    owner, wrong = f"visitor {visitor}", []
    try:
        for numbers in share(visitor):
            record = library.keep(library_writer.board(numbers), owner)
            found_record = library.find(record.id, owner)
            wrong += [entry.file.name for entry in found_record.spec.entries if not len(entry.read().table)]
            library.uploads(owner)
        library.revise(record.id, 1, library_writer.board(share(visitor)[0]), owner)
        library.end_expired()
    except LibraryError as error:
        wrong.append(str(error))
    return wrong


def visit_from_afar(home, url, visitor, gate, answer):
    library = Library(Path(home), url)
    gate.wait()
    answer.put(visit(library, visitor))
    library.close()


@pytest.fixture
def afar(url, tmp_path):
    """Other processes, waiting for the word to begin."""
    gate, answer = PROCESSES.Barrier(OTHER_PROCESSES + 1), PROCESSES.Queue()
    visitors = range(THREADS, THREADS + OTHER_PROCESSES)
    arguments = [(str(tmp_path / "home"), url, visitor, gate, answer) for visitor in visitors]
    processes = [PROCESSES.Process(target=visit_from_afar, args=one) for one in arguments]
    for process in processes:
        process.start()
    yield gate, answer
    for process in processes:
        process.join(60)


def test_what_many_keep_at_once_is_there_once(library, afar):
    gate, answer = afar
    gate.wait()
    with ThreadPoolExecutor(THREADS) as threads:
        wrong = list(threads.map(lambda visitor: visit(library, visitor), range(THREADS)))
    assert wrong == [[]] * THREADS
    assert [answer.get(timeout=60) for _ in range(OTHER_PROCESSES)] == [[]] * OTHER_PROCESSES
    shas = sorted(library_writer.file(number).sha256 for number in FILES)
    assert stored(library) == shas
    for visitor in range(THREADS + OTHER_PROCESSES):
        numbers = {number for two in share(visitor)[:2] for number in two}  # the third board became the first
        mine = {library_writer.file(number).sha256 for number in numbers}
        assert {one.sha256 for one in library.uploads(f"visitor {visitor}")} == mine
        assert len(library.boards(f"visitor {visitor}")) == len(share(visitor))


def test_of_those_who_revise_one_version_at_once_one_wins(library):
    record = keep_as(library, library_writer.board(FILES[:1]), name="Mine")

    def revise(number):
        try:
            return library.revise(record.id, record.version, library_writer.board((number,))).version
        except LibraryError as error:
            return str(error)

    with ThreadPoolExecutor(THREADS) as threads:
        outcomes = list(threads.map(revise, FILES[1 : THREADS + 1]))
    assert outcomes.count(3) == 1
    assert {one for one in outcomes if one != 3} == {"Mine was changed on another page. Reload this page."}


def test_a_reader_sees_a_board_as_one_version_has_it(library, open_library):
    """Never the name of one version and the files of another."""
    boards = [library_writer.board(FILES[:1]), library_writer.board(FILES[1:3])]
    record = library.keep(boards[0])
    board_by_key = {one.key: one for one in boards}

    def revise():
        for version in range(1, 31):
            library.revise(record.id, version, boards[version % 2])

    reader = open_library()
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(revise)
        while not writing.done():
            found_record = reader.find(record.id)
            assert found_record.spec.key == boards[(found_record.version - 1) % 2].key
            assert found_record.spec.key in board_by_key
        writing.result()
