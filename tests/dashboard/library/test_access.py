"""Who may see and change a board."""

import pytest
from libraries import ANNA, BERT, FIRST, OTHER, aged, shas

from dashboard.library.schema import boards
from metrics.errors import LibraryError


@pytest.mark.parametrize(("access", "sees", "changes"), [("private", 0, 0), ("link", 1, 0), ("edit", 1, 1)])
def test_a_stranger_may_do_what_the_owner_allows(library, access, sees, changes):
    record = library.keep(FIRST, ANNA, name="Mine", access=access)
    seeing = [lambda: library.find(record.id, BERT), lambda: library.duplicate(record.id, BERT)]
    changing = [
        lambda: library.save_view(record.id, {"depth": 5}, BERT),
        lambda: library.rename(record.id, "Bert's", BERT),
        lambda: library.revise(record.id, library.find(record.id, ANNA).version, OTHER, BERT),
    ]
    for allowed, operations in ((sees, seeing), (changes, changing)):
        for operation in operations:
            if allowed:
                operation()
            else:
                with pytest.raises(LibraryError, match=r"not shared with you|somebody else's"):
                    operation()
    assert changes or library.find(record.id, ANNA) == record


@pytest.mark.parametrize("access", ["private", "link", "edit"])
def test_only_the_owner_shares_deletes_and_restores(library, access):
    record = library.keep(FIRST, ANNA, access=access)
    for operation in (lambda: library.share(record.id, "edit", BERT), lambda: library.delete(record.id, BERT)):
        with pytest.raises(LibraryError):
            operation()
    library.delete(record.id, ANNA)
    with pytest.raises(LibraryError):
        library.restore(record.id, BERT)
    library.restore(record.id, ANNA)
    assert library.find(record.id, ANNA).access == access


def test_everybody_lists_their_own_boards_and_uploads(library):
    library.keep(FIRST, ANNA, access="edit")
    library.keep(OTHER, BERT)
    assert [one.owner for one in library.boards(ANNA)] == [ANNA]
    assert {one.name for one in library.uploads(BERT)} == {"coarse.trec", "qrels.txt"}
    assert library.boards() == []
    assert library.uploads() == []


def test_a_duplicate_of_anothers_board_is_private_and_its_files_are_ones_own(library, database):
    record = library.keep(FIRST, ANNA, name="Mine", access="link")
    double = library.duplicate(record.id, BERT)
    assert (double.owner, double.access) == (BERT, "private")
    assert shas(library, BERT) == shas(library, ANNA)
    library.delete(record.id, ANNA)
    aged(database, boards)
    library.sweep()
    assert library.find(double.id, BERT).spec == record.spec
