"""The library within the room there is: half of it for one person, and what ends when a save needs room."""

import pytest
from boards import COARSE, QRELS, STRICT, board
from libraries import ANNA, BERT, FIRST, OTHER, aged, keep_as, sha, shas, stored, used

from metrics.errors import LibraryError


def noise(seed, rows=300):
    """A board of one table that zstd cannot shrink much."""
    lines = "".join(f"q,d{at},{(at + 1) * seed * 7919 % 100_003 / 7},{at % 3}\n" for at in range(rows))
    return board(**{f"t{seed}_csv": f"query_id,doc_id,score,relevance\n{lines}"})


ONE, TWO, THREE = noise(1), noise(2), noise(3)


@pytest.fixture
def size(open_library):
    """Bytes of the largest of the boards, as stored."""
    library, sizes = open_library(), []
    for each in (ONE, TWO, THREE):
        record = library.keep(each)
        sizes.append(used(library))
        library.delete(record.id)
        aged(library, 2, deleted=True)
        library.end_expired()
    assert used(library) == 0
    return max(sizes)


def test_an_upload_larger_than_the_limit_is_refused_by_name(open_library):
    library = open_library(most_upload=len(STRICT) - 1)
    with pytest.raises(
        LibraryError, match=r"strict\.trec is not stored: it is larger than .* TIESCOPE_MAX_UPLOAD_MB"
    ):
        library.keep(FIRST)
    assert (library.boards(), library.uploads(), stored(library)) == ([], [], [])
    assert open_library(most_upload=len(STRICT)).keep(FIRST)


def test_without_sign_in_one_person_may_use_all_of_it(open_library, size):
    library = open_library(most=int(size * 2.1))
    keep_as(library, ONE, name="one")
    keep_as(library, TWO, name="two")
    with pytest.raises(
        LibraryError,
        match=r"^The library is full: all boards together would need .* MB, and the library holds .* MB\. "
        r"Delete boards that you do not need, or raise TIESCOPE_MAX_LIBRARY_MB\.$",
    ):
        library.keep(THREE)
    assert len(library.boards()) == 2
    assert stored(library) == sorted(shas(library))


def test_one_person_may_use_half_of_it_and_leaves_room_for_others(open_library, size):
    library = open_library(most=int(size * 2.2))
    keep_as(library, ONE, ANNA, name="one")
    with pytest.raises(
        LibraryError,
        match=r"full: your boards would need .* MB, and one person may use .* MB\. Delete boards that you do "
        r"not need, or save smaller files\.$",
    ):
        library.keep(TWO, ANNA)
    assert library.keep(TWO, BERT)
    with pytest.raises(LibraryError, match="one person may use"):
        keep_as(library, THREE, BERT, name="three")


def test_bytes_that_two_people_have_are_stored_once_and_count_for_each(open_library, size):
    library = open_library(most=int(size * 2.2))
    for owner in (ANNA, BERT):
        keep_as(library, ONE, owner, name="one")
        with pytest.raises(LibraryError, match="your boards would need"):
            keep_as(library, TWO, owner, name="two")
    assert used(library) <= size


def test_a_full_library_refuses_what_is_new_and_keeps_what_it_has(open_library, size):
    library = open_library(most=int(size * 2.2))
    keep_as(library, ONE, ANNA, name="one")
    keep_as(library, TWO, BERT, name="two")
    before = [library.boards(owner) for owner in (ANNA, BERT)], stored(library)
    with pytest.raises(
        LibraryError, match=r"all boards together .* or ask who runs this server to raise TIESCOPE_MAX"
    ):
        library.keep(THREE, "carl@example.org")
    assert ([library.boards(owner) for owner in (ANNA, BERT)], stored(library)) == before


def test_what_waits_for_undo_goes_first_for_a_save_that_needs_room(open_library, size):
    library = open_library(most=int(size * 2.2))
    old, gone = library.keep(ONE), keep_as(library, TWO, name="two")
    aged(library, 2, opened=True)
    library.delete(gone.id)
    library.keep(THREE)
    assert library.look(old.id)
    assert library.boards(deleted=True) == []
    with pytest.raises(LibraryError, match="no longer be restored"):
        library.restore(gone.id)


def test_unnamed_boards_not_opened_for_a_day_go_next_the_oldest_first(open_library, size):
    library = open_library(most=int(size * 2.2))
    first = library.keep(ONE)
    aged(library, 3, opened=True)
    second = library.keep(TWO)
    library.keep(THREE)
    assert library.look(first.id) is None
    assert library.look(second.id)
    with pytest.raises(LibraryError, match="The library is full"):
        library.keep(ONE)  # both were opened today


def test_named_boards_stay_however_old_they_are(open_library, size):
    library = open_library(most=int(size * 1.1))
    record = keep_as(library, ONE, name="one")
    aged(library, 400, opened=True)
    with pytest.raises(LibraryError, match="full"):
        library.keep(TWO)
    assert library.find(record.id).spec == record.spec


def test_a_save_ends_boards_of_others_only_if_all_is_full(open_library, size):
    library = open_library(most=int(size * 4.2))
    theirs = library.keep(ONE, BERT)
    keep_as(library, TWO, ANNA, name="two")
    aged(library, 2, opened=True)
    keep_as(library, THREE, ANNA, name="three")
    with pytest.raises(LibraryError, match="your boards would need"):
        keep_as(library, ONE, ANNA, name="one")
    assert library.look(theirs.id, BERT)


def test_what_the_same_save_needs_is_not_removed_for_it(open_library, size):
    library = open_library(most=int(size * 1.5))
    library.keep(ONE)
    aged(library, 2, opened=True)
    again = board(again_csv=ONE.files[0].data.decode(), coarse_trec=COARSE, qrels_txt=QRELS)
    record = library.keep(again)
    assert [entry.read() for entry in record.spec.entries]


def test_results_and_copies_take_room_too(open_library, size):
    library = open_library(most=int(size * 2.2))
    record = keep_as(library, ONE, ANNA, access="link", name="one")
    keep_as(library, TWO, BERT, name="two")
    with pytest.raises(LibraryError, match="your boards would need"):
        library.duplicate(record.id, BERT)
    with pytest.raises(LibraryError, match="your boards would need"):
        library.publish(record.id, ("b~2", bytes(size)), ANNA)
    assert library.published(record.id, ANNA) is None
    assert sha(OTHER) not in stored(library)
