"""Several people and several processes keep the same and other files at once: each is there once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import library_writer
import pytest
from library_writer import PROCESSES

from dashboard.library.store import Library
from metrics.errors import LibraryError

THREADS, OTHERS = 8, 2
FILES = range(100, 112)


def share(at):
    """Three boards of a visitor: every file is also another visitor's."""
    return [(FILES[(at + step) % len(FILES)], FILES[(at + step + 1) % len(FILES)]) for step in (0, 3, 6)]


def visit(library, at):
    """Keep one's boards, read each again, look around and change one: what went wrong."""
    owner, wrong = f"visitor {at}", []
    try:
        for numbers in share(at):
            kept = library.keep(library_writer.board(numbers), owner)
            found = library.find(kept.id, owner)
            wrong += [entry.file.name for entry in found.spec.entries if not len(entry.read().table)]
            library.uploads(owner)
        library.revise(kept.id, 1, library_writer.board(share(at)[0]), owner)
        library.sweep()
    except LibraryError as error:
        wrong.append(str(error))
    return wrong


def visit_from_afar(home, url, at, gate, answer):
    library = Library(Path(home), url)
    gate.wait()
    answer.put(visit(library, at))
    library.close()


@pytest.fixture
def afar(url, tmp_path):
    """Other processes, waiting for the word to begin."""
    gate, answer = PROCESSES.Barrier(OTHERS + 1), PROCESSES.Queue()
    ats = range(THREADS, THREADS + OTHERS)
    given = [(str(tmp_path / "home"), url, at, gate, answer) for at in ats]
    started = [PROCESSES.Process(target=visit_from_afar, args=one) for one in given]
    for one in started:
        one.start()
    yield gate, answer
    for one in started:
        one.join(60)


def test_what_many_keep_at_once_is_there_once(library, tmp_path, afar):
    gate, answer = afar
    gate.wait()
    with ThreadPoolExecutor(THREADS) as threads:
        wrong = list(threads.map(lambda at: visit(library, at), range(THREADS)))
    assert wrong == [[]] * THREADS
    assert [answer.get(timeout=60) for _ in range(OTHERS)] == [[]] * OTHERS
    shas = sorted(library_writer.file(number).sha256 for number in FILES)
    assert sorted(path.stem for path in (tmp_path / "home" / "uploads").glob("*/*")) == shas
    for at in range(THREADS + OTHERS):
        mine = {library_writer.file(number).sha256 for numbers in share(at) for number in numbers}
        assert {one.sha256 for one in library.uploads(f"visitor {at}")} == mine
        assert len(library.boards(f"visitor {at}")) == len(share(at))


def test_of_those_who_revise_one_version_at_once_one_wins(library):
    kept = library.keep(library_writer.board(FILES[:1]), name="Mine")

    def revise(number):
        try:
            return library.revise(kept.id, kept.version, library_writer.board((number,))).version
        except LibraryError as error:
            return str(error)

    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(revise, FILES[1 : THREADS + 1]))
    assert found.count(2) == 1
    assert {one for one in found if one != 2} == {
        "Mine was changed by somebody else meanwhile. Load the page again."
    }


def test_a_reader_sees_a_board_as_one_version_has_it(library, open_library):
    """Never the name of one version and the files of another."""
    both = [library_writer.board(FILES[:1]), library_writer.board(FILES[1:3])]
    kept = library.keep(both[0])
    seen = {one.key: one for one in both}

    def revise():
        for version in range(1, 31):
            library.revise(kept.id, version, both[version % 2])

    reader = open_library()
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(revise)
        while not writing.done():
            found = reader.find(kept.id)
            assert found.spec.digest == both[(found.version - 1) % 2].key
            assert found.spec.digest in seen
        writing.result()
