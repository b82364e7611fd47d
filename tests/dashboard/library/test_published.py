"""Published results that are kept with their board."""

import pytest
from libraries import ANNA, BERT, FIRST, OTHER

from dashboard.library import loaded
from dashboard.library.loaded import packed_files, unpacked_files
from metrics.errors import LibraryError
from metrics.runs import File

FILES = (File("a.eval", b"map\tall\t.5\n"), File("b \xe4.eval", bytes(range(256))), File("a.eval", b""))
RESULTS = ("a.eval~1", packed_files(FILES))


def test_files_come_back_as_they_were_given():
    assert [(file.name, file.data) for file in unpacked_files(RESULTS[1])] == [(f.name, f.data) for f in FILES]


def test_results_are_there_after_a_restart_and_others_take_their_place(open_library):
    library = open_library()
    record = library.keep(FIRST)
    assert library.published(record.id) is None
    library.publish(record.id, RESULTS)
    assert open_library().published(record.id) == RESULTS
    library.publish(record.id, ("b~2", b"other"))
    assert open_library().published(record.id) == ("b~2", b"other")
    assert library.find(record.id) == record


def test_who_may_see_a_board_sees_its_results_and_who_may_change_it_changes_them(library):
    record = library.keep(FIRST, ANNA, access="link")
    library.publish(record.id, RESULTS, ANNA)
    assert library.published(record.id, BERT) == RESULTS
    with pytest.raises(LibraryError, match="somebody else's"):
        library.publish(record.id, ("b~2", b"other"), BERT)
    library.share(record.id, "private", ANNA)
    with pytest.raises(LibraryError, match="not shared with you"):
        library.published(record.id, BERT)
    with pytest.raises(LibraryError):
        library.publish("no board", RESULTS)


def test_a_copy_has_results_of_its_own_and_they_go_with_their_board(library):
    record = library.keep(FIRST, ANNA, access="link")
    library.publish(record.id, RESULTS, ANNA)
    copy = library.duplicate(record.id, BERT)
    library.publish(record.id, ("b~2", b"other"), ANNA)
    assert library.published(copy.id, BERT) == RESULTS
    library.delete(record.id, ANNA)
    with pytest.raises(LibraryError):
        library.published(record.id, ANNA)


def test_results_take_room_of_the_library(open_library):
    library = open_library()
    record = library.keep(FIRST)
    before = library.room()[0]
    library.publish(record.id, RESULTS)
    assert library.room()[0] == before + len(RESULTS[1])
    full = open_library(most=library.room()[0])
    with pytest.raises(LibraryError, match="The library is full"):
        full.publish(record.id, ("b~2", bytes(10**6)))
    assert full.published(record.id) == RESULTS
    with pytest.raises(LibraryError, match="The library is full"):
        full.keep(OTHER)


def test_results_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(loaded, "_MOST_PUBLISHED_BYTES", 10)
    with pytest.raises(LibraryError, match="Give the means alone"):
        packed_files(FILES)
