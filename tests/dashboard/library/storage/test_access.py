"""Who may see and change a board."""

import pytest
from libraries import ANNA, BERT, FIRST, OTHER, aged, shas

from dashboard.library.storage.schema import boards
from metrics.errors import LibraryError


@pytest.mark.parametrize(("access", "sees", "changes"), [("private", 0, 0), ("link", 1, 0), ("edit", 1, 1)])
def test_a_stranger_may_do_what_the_owner_allows(library, access, sees, changes):
    kept = library.keep(FIRST, ANNA, name="Mine", access=access)
    seeing = [lambda: library.find(kept.id, BERT), lambda: library.duplicate(kept.id, BERT)]
    changing = [
        lambda: library.save_view(kept.id, {"depth": 5}, BERT),
        lambda: library.rename(kept.id, "Bert's", BERT),
        lambda: library.revise(kept.id, library.find(kept.id, ANNA).version, OTHER, BERT),
    ]
    for allowed, asked in ((sees, seeing), (changes, changing)):
        for ask in asked:
            if allowed:
                ask()
            else:
                with pytest.raises(LibraryError, match=r"not shared with you|somebody else's"):
                    ask()
    assert changes or library.find(kept.id, ANNA) == kept


@pytest.mark.parametrize("access", ["private", "link", "edit"])
def test_only_the_owner_shares_deletes_and_restores(library, access):
    kept = library.keep(FIRST, ANNA, access=access)
    for ask in (lambda: library.share(kept.id, "edit", BERT), lambda: library.delete(kept.id, BERT)):
        with pytest.raises(LibraryError):
            ask()
    library.delete(kept.id, ANNA)
    with pytest.raises(LibraryError):
        library.restore(kept.id, BERT)
    library.restore(kept.id, ANNA)
    assert library.find(kept.id, ANNA).access == access


def test_everybody_lists_their_own_boards_and_uploads(library):
    library.keep(FIRST, ANNA, access="edit")
    library.keep(OTHER, BERT)
    assert [one.owner for one in library.boards(ANNA)] == [ANNA]
    assert {one.name for one in library.uploads(BERT)} == {"coarse.trec", "qrels.txt"}
    assert library.boards() == []
    assert library.uploads() == []


def test_a_duplicate_of_anothers_board_is_private_and_its_files_are_ones_own(library, database):
    kept = library.keep(FIRST, ANNA, name="Mine", access="link")
    double = library.duplicate(kept.id, BERT)
    assert (double.owner, double.access) == (BERT, "private")
    assert shas(library, BERT) == shas(library, ANNA)
    library.delete(kept.id, ANNA)
    aged(database, boards)
    library.sweep()
    assert library.find(double.id, BERT).spec == kept.spec
