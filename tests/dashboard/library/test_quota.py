"""The library within the room there is."""

import shutil

import pytest
from boards import STRICT
from libraries import ANNA, BERT, FIRST, OTHER, on_disk, sha, shas, used

from dashboard.library.store import Library
from metrics.errors import LibraryError


def test_an_upload_larger_than_the_limit_is_refused_by_name(open_library):
    library = open_library(most_upload=len(STRICT) - 1)
    with pytest.raises(
        LibraryError, match=r"strict\.trec is not stored: it is larger than .* TIESCOPE_MAX_UPLOAD_MB"
    ):
        library.keep(FIRST)
    assert (library.boards(), library.uploads()) == ([], [])
    assert open_library(most_upload=len(STRICT)).keep(FIRST)


@pytest.fixture
def small(open_library, tmp_path, migrated_file):
    """Make a library that is full with Anna's first board."""

    def fill_library(**options):
        measured = Library(
            tmp_path / "measured", f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'measured.db')}"
        )
        measured.keep(FIRST)
        library = open_library(most=used(measured))
        measured.close()
        library.keep(FIRST, ANNA, **options)
        return library

    return fill_library


def test_a_full_library_refuses_what_is_new_and_keeps_what_it_has(small):
    library = small()
    before = library.uploads(ANNA), used(library)
    with pytest.raises(
        LibraryError, match=r"The library is full: 0 MB. Delete uploads, raise TIESCOPE_MAX_LIB"
    ):
        library.keep(OTHER, ANNA)
    assert (library.uploads(ANNA), used(library)) == before
    assert library.keep(FIRST, BERT, name="nothing new")


def test_the_oldest_goes_only_if_its_owner_chose_so(small, tmp_path):
    library = small()
    assert not library.is_evicting(ANNA)
    library.set_eviction(BERT, evict=True)
    with pytest.raises(LibraryError, match="full"):
        library.keep(OTHER, ANNA)
    library.set_eviction(ANNA, evict=True)
    assert library.is_evicting(ANNA)
    library.keep(OTHER, ANNA)
    assert {one.name for one in library.uploads(ANNA)} == {"coarse.trec", "qrels.txt"}
    assert on_disk(tmp_path / "home") == sorted(shas(library, ANNA))
    library.set_eviction(ANNA, evict=False)
    assert not library.is_evicting(ANNA)


def test_what_is_pinned_stays(small):
    library = small()
    library.set_eviction(ANNA, evict=True)
    library.pin(sha(FIRST), ANNA)
    with pytest.raises(LibraryError, match="full"):
        library.keep(OTHER, ANNA)
    assert sha(FIRST) in shas(library, ANNA)


def test_what_is_on_a_board_with_a_name_stays(small):
    library = small(name="Mine")
    library.set_eviction(ANNA, evict=True)
    with pytest.raises(LibraryError, match="full"):
        library.keep(OTHER, ANNA)
    assert len(library.boards(ANNA)) == 1


def test_what_another_has_too_stays(small):
    library = small()
    library.set_eviction(ANNA, evict=True)
    library.keep(FIRST, BERT)
    with pytest.raises(LibraryError, match="full"):
        library.keep(OTHER, ANNA)
    assert library.find(library.boards(BERT)[0].id, BERT)


def test_what_the_same_upload_needs_is_not_evicted_for_it(small):
    """The judgments are kept already, are older than all else, and belong to the new board."""
    library = small()
    library.set_eviction(ANNA, evict=True)
    record = library.keep(OTHER, ANNA)
    assert [entry.read() for entry in record.spec.entries]


def test_what_its_owner_deleted_goes_first_whatever_was_chosen(small):
    library = small()
    library.pin(sha(FIRST), ANNA)
    library.discard(sha(FIRST), ANNA)
    record = library.keep(OTHER, ANNA)
    assert [one.id for one in library.boards(ANNA)] == [record.id]
    assert shas(library, ANNA, deleted=True) == []


def test_a_deleted_upload_that_a_board_still_shows_stays(small):
    library = small()
    record = library.boards(ANNA)[0]
    library.discard(sha(FIRST), ANNA)
    library.restore(record.id, ANNA)
    with pytest.raises(LibraryError, match="full"):
        library.keep(OTHER, ANNA)
    assert [entry.read() for entry in library.find(record.id, ANNA).spec.entries]
