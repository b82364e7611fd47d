"""Boards are revised, renamed, duplicated and deleted."""

import pytest
from boards import QRELS, STRICT, TIED, board
from libraries import FIRST, OTHER

from metrics.errors import LibraryError, UsageError


def test_a_revised_board_holds_what_it_was_revised_to(library):
    record = library.keep(FIRST)
    revised = library.revise(record.id, record.version, board(a_trec=STRICT, b_trec=TIED, qrels_txt=QRELS))
    assert (revised.id, revised.version, revised.name) == (record.id, 2, "2 runs, 4 queries")
    assert [entry.file.name for entry in library.find(record.id).spec.entries] == [
        "a.trec",
        "b.trec",
        "qrels.txt",
    ]


def test_a_board_keeps_its_name_when_it_is_revised(library):
    record = library.keep(FIRST, name="Mine")
    assert library.revise(record.id, 1, OTHER).name == "Mine"


def test_who_revises_what_was_changed_meanwhile_is_told_and_changes_nothing(library):
    record = library.keep(FIRST, name="Mine")
    changed = library.revise(record.id, record.version, OTHER)
    with pytest.raises(LibraryError, match=r"Mine was changed by somebody else meanwhile. Load the page again"):
        library.revise(record.id, record.version, board(third_trec=TIED, qrels_txt=QRELS))
    assert library.find(record.id) == changed
    assert {one.name for one in library.uploads()} == {"strict.trec", "coarse.trec", "qrels.txt"}


def test_every_change_of_a_board_is_a_new_version(library):
    record = library.keep(FIRST)
    library.rename(record.id, "Mine")
    library.save_view(record.id, {"depth": 5})
    library.share(record.id, "link")
    changed_record = library.find(record.id)
    assert (changed_record.version, changed_record.name, changed_record.named) == (4, "Mine", True)
    assert (changed_record.view, changed_record.access) == ({"depth": 5}, "link")


@pytest.mark.parametrize("name", ["", "  ", "\0"])
def test_a_board_is_not_renamed_to_nothing(library, name):
    record = library.keep(FIRST, name="Mine")
    with pytest.raises(UsageError, match="A board needs a name"):
        library.rename(record.id, name)
    assert library.find(record.id) == record


def test_a_duplicate_is_a_board_of_its_own(library):
    record = library.keep(FIRST, name="Mine", view={"depth": 5})
    double = library.duplicate(record.id)
    assert (double.name, double.version, double.view) == ("Mine, copy", 1, {"depth": 5})
    assert double.spec == record.spec
    library.revise(double.id, 1, OTHER)
    assert library.find(record.id) == record


def test_a_deleted_board_comes_back_as_it_was(library):
    record = library.keep(FIRST, name="Mine")
    library.delete(record.id)
    with pytest.raises(LibraryError, match="no such board"):
        library.find(record.id)
    library.restore(record.id)
    assert library.find(record.id).spec == record.spec
