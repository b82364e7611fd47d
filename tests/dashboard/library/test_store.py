"""What is kept is found again, by whom it should be, within the room there is."""

import os
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from boards import COARSE, QRELS, STRICT, TIED, board

from dashboard.library import BoardSpec, Entry, make_board, store
from dashboard.library.storage import rows
from dashboard.library.storage.parquets import Parquets
from dashboard.library.storage.schema import boards, shelves, uploads
from dashboard.library.store import Library
from metrics.errors import LibraryError, UsageError
from metrics.runs import File, read

ANNA, BERT = "anna@example.org", "bert@example.org"
FIRST = board(strict_trec=STRICT, qrels_txt=QRELS)
OTHER = board(coarse_trec=COARSE, qrels_txt=QRELS)
NAMES = {
    "NUL": ("a\0b", "ab"),
    "a lone surrogate": ("a\udc80b", "a?b"),
    "10,000 letters": ("x" * 10_000, "x" * 1000),
    "emoji": ("🎯👩‍👩‍👧 Ωμέγα", "🎯👩‍👩‍👧 Ωμέγα"),
    "right to left": ("\u202eabc", "\u202eabc"),
    "quotes and marks": ("'; DROP TABLE boards; -- %s %(x)s {}", "'; DROP TABLE boards; -- %s %(x)s {}"),
    "space around": ("  a  ", "  a  "),
    "a space where it is cut": ("x" * 199 + " " + "x" * 799 + " y", "x" * 199 + " " + "x" * 799 + " "),
}
BY_NAME = pytest.mark.parametrize(("given", "kept"), NAMES.values(), ids=NAMES)


def shas(library, owner="", **options):
    return [one.sha256 for one in library.uploads(owner, **options)]


def sha(of, at=0):
    return of.spec.entries[at].file.sha256


def names_on(record):
    return [entry.file.name for entry in record.spec.entries]


def as_read(record):
    return make_board(record.spec, [entry.read() for entry in record.spec.entries])


def parquets(home):
    return sorted(path.stem for path in (home / "uploads").glob("*/*.parquet"))


def aged(database, *tables, days=31):
    """Have what was deleted be deleted so long ago."""
    with database.writing() as connection:
        for table in tables:
            past = table.c.deleted.is_not(None)
            connection.execute(table.update().where(past).values(deleted=rows.now() - timedelta(days)))


@pytest.fixture
def calendar(monkeypatch):
    """Time that goes on by a minute whenever it is asked for."""
    start = rows.now()
    times = (start + timedelta(minutes=at) for at in range(10_000))
    for module in (rows, store):
        monkeypatch.setattr(module, "now", lambda: next(times))


# keeping and finding


def test_a_kept_board_is_found_as_it_was_kept(library):
    view = {"measure": "nDCG@10", "baseline": "strict", "depth": 10, "policies": ["expected"]}
    kept = library.keep(FIRST, name="Mine", view=view)
    found = library.find(kept.id)
    assert found == kept
    assert (found.name, found.named, found.version, found.view) == ("Mine", True, 1, view)
    assert found.spec.digest == FIRST.key
    again = make_board(found.spec, [entry.read() for entry in found.spec.entries])
    assert [one.table for one in again.sources] == [one.table for one in FIRST.sources]


def test_a_kept_board_is_found_after_a_restart(library, open_library):
    kept = library.keep(FIRST, name="Mine")
    library.close()
    assert open_library().find(kept.id) == kept


def test_a_board_without_a_name_is_told_by_its_size(library):
    kept = library.keep(FIRST)
    assert (kept.name, kept.named) == ("1 run, 4 queries", False)
    assert kept.label == f"1 run, 4 queries · {kept.id}"


def test_the_same_board_without_a_name_is_found_again(library):
    assert library.keep(FIRST).id == library.keep(FIRST).id
    assert len(library.boards()) == 1


def test_the_same_board_is_kept_again_under_a_name(library):
    numbers = {library.keep(FIRST).id, library.keep(FIRST, name="A").id, library.keep(FIRST, name="A").id}
    assert len(numbers) == 3
    assert len(library.uploads()) == 2


def test_a_deleted_board_is_not_found_again(library):
    before = library.keep(FIRST)
    library.delete(before.id)
    assert library.keep(FIRST).id != before.id


def test_columns_names_and_repeats_of_a_recipe_are_kept(library):
    file = File("t.csv", b"query_id,doc_id,a,b,relevance\nq,d,1,2,1\nq,e,2,1,0\n")
    entry = Entry(file, (("score", "b"),))
    spec = BoardSpec((entry,), "max", (("t", "new name"),))
    made = make_board(spec, [entry.read()])
    found = library.find(library.keep(made).id).spec
    assert (found.entries[0].columns, found.repeated, found.names) == (entry.columns, "max", spec.names)
    assert found.digest == made.key
    again = make_board(found, [found.entries[0].read()])
    assert again.runs.tables["new name"]["score"].to_pylist() == [2.0, 1.0]


@pytest.mark.usefixtures("calendar")
def test_boards_are_listed_the_one_changed_last_first(library):
    first, second = library.keep(FIRST, name="first"), library.keep(OTHER, name="second")
    assert [one.name for one in library.boards()] == ["second", "first"]
    library.save_view(first.id, {"measure": "RR"})
    assert [one.name for one in library.boards()] == ["first", "second"]
    library.delete(second.id)
    assert [one.name for one in library.boards()] == ["first"]
    assert [one.name for one in library.boards(deleted=True)] == ["second"]


@pytest.mark.usefixtures("calendar")
def test_of_boards_nobody_named_the_newest_are_listed(library):
    spec, sources = FIRST.spec, FIRST.sources
    names = {}
    for at in range(6):
        made = make_board(replace(spec, names=(("strict", f"run {at}"),)), sources)
        names[library.keep(made, name="Mine" if at in (0, 4) else "").id] = at
    library.keep(OTHER, ANNA)
    for most, found in ((0, [4, 0]), (1, [5, 4, 0]), (3, [5, 4, 3, 2, 0]), (50, [5, 4, 3, 2, 1, 0])):
        assert [names[one.id] for one in library.boards(most_unnamed=most)] == found
    assert len(library.boards()) == 6


def test_a_number_with_what_is_left_out_of_it_is_the_boards(library):
    kept = library.keep(FIRST, name="Mine")
    number = f" {kept.id}\0"
    assert library.find(number) == kept
    assert library.rename(number, "New").name == library.find(kept.id).name == "New"
    revised = library.revise(number, 2, OTHER)
    assert revised == library.find(kept.id)
    assert (revised.version, names_on(revised)) == (3, ["coarse.trec", "qrels.txt"])
    assert library.duplicate(number).spec == library.find(kept.id).spec
    library.delete(number)
    assert library.look(kept.id) is None


def test_a_rename_gives_back_the_board_it_made(library):
    kept = library.keep(FIRST)
    renamed = library.rename(kept.id, "Mine")
    assert renamed == library.find(kept.id)
    assert (renamed.name, renamed.named, renamed.version) == ("Mine", True, 2)


@pytest.mark.parametrize("wrong", ["", "nothing", "a\0b", "a\udc80b", "🎯", "x" * 10_000, "' OR 1=1 --"])
def test_a_number_that_is_none_is_told(library, wrong):
    for ask in (library.find, library.delete, library.duplicate):
        with pytest.raises(LibraryError, match="no such board"):
            ask(wrong)
    with pytest.raises(LibraryError, match="gone for good"):
        library.restore(wrong)


# the same bytes once


def test_the_same_bytes_are_kept_once_whoever_uploads_them(library, tmp_path):
    for owner in ("", ANNA, BERT):
        library.keep(FIRST, owner)
        assert len(library.uploads(owner)) == 2
    assert parquets(tmp_path / "home") == sorted(entry.file.sha256 for entry in FIRST.spec.entries)
    assert library.room()[0] == sum(one.kept_size for one in library.uploads())


def test_the_same_bytes_are_kept_once_under_whatever_name(library, tmp_path):
    library.keep(FIRST)
    library.keep(board(renamed_trec=STRICT, qrels_txt=QRELS))
    assert len(parquets(tmp_path / "home")) == 2
    assert {one.name for one in library.uploads()} == {"renamed.trec", "qrels.txt"}
    assert {name for one in library.boards() for name in names_on(library.find(one.id))} == {
        "strict.trec",
        "renamed.trec",
        "qrels.txt",
    }


def test_two_files_of_the_same_bytes_on_one_board_are_kept_once(library, tmp_path):
    kept = library.keep(board(one_trec=STRICT, two_trec=STRICT, qrels_txt=QRELS))
    assert len(parquets(tmp_path / "home")) == 2
    assert names_on(kept) == ["one.trec", "two.trec", "qrels.txt"]


def test_whoever_keeps_bytes_last_leaves_those_kept_meanwhile(library, open_library, monkeypatch):
    """Both wrote a Parquet; a board that was found before must still be read."""
    file = File("t.csv", b"query_id,doc_id,a,b,relevance\nq,d,1,2,1\nq,e,2,1,0\n")
    one, two = (make_board(BoardSpec((it,)), [it.read()]) for it in (_reading(file, "a"), _reading(file, "b")))
    other, found = open_library(), []
    write = Parquets.write

    def beaten(*given):
        waiting = write(*given)
        monkeypatch.setattr(Parquets, "write", write)
        found.append(other.keep(two))
        return waiting

    monkeypatch.setattr(Parquets, "write", beaten)
    kept = library.keep(one)
    for record, column in ((kept, "a"), (found[0], "b")):
        assert record.spec.entries[0].read().mapping["score"] == column


def _reading(file, column):
    return Entry(file, (("score", column),))


# changing


def test_a_revised_board_holds_what_it_was_revised_to(library):
    kept = library.keep(FIRST)
    revised = library.revise(kept.id, kept.version, board(a_trec=STRICT, b_trec=TIED, qrels_txt=QRELS))
    assert (revised.id, revised.version, revised.name) == (kept.id, 2, "2 runs, 4 queries")
    assert [entry.file.name for entry in library.find(kept.id).spec.entries] == [
        "a.trec",
        "b.trec",
        "qrels.txt",
    ]


def test_a_board_keeps_its_name_when_it_is_revised(library):
    kept = library.keep(FIRST, name="Mine")
    assert library.revise(kept.id, 1, OTHER).name == "Mine"


def test_who_revises_what_was_changed_meanwhile_is_told_and_changes_nothing(library):
    kept = library.keep(FIRST, name="Mine")
    changed = library.revise(kept.id, kept.version, OTHER)
    with pytest.raises(LibraryError, match=r"Mine was changed by somebody else meanwhile. Load the page again"):
        library.revise(kept.id, kept.version, board(third_trec=TIED, qrels_txt=QRELS))
    assert library.find(kept.id) == changed
    assert {one.name for one in library.uploads()} == {"strict.trec", "coarse.trec", "qrels.txt"}


def test_every_change_of_a_board_is_a_new_version(library):
    kept = library.keep(FIRST)
    library.rename(kept.id, "Mine")
    library.save_view(kept.id, {"depth": 5})
    library.share(kept.id, "link")
    found = library.find(kept.id)
    assert (found.version, found.name, found.named) == (4, "Mine", True)
    assert (found.view, found.access) == ({"depth": 5}, "link")


@pytest.mark.parametrize("name", ["", "  ", "\0"])
def test_a_board_is_not_renamed_to_nothing(library, name):
    kept = library.keep(FIRST, name="Mine")
    with pytest.raises(UsageError, match="A board needs a name"):
        library.rename(kept.id, name)
    assert library.find(kept.id) == kept


def test_a_duplicate_is_a_board_of_its_own(library):
    kept = library.keep(FIRST, name="Mine", view={"depth": 5})
    double = library.duplicate(kept.id)
    assert (double.name, double.version, double.view) == ("Mine, copy", 1, {"depth": 5})
    assert double.spec == kept.spec
    library.revise(double.id, 1, OTHER)
    assert library.find(kept.id) == kept


def test_a_deleted_board_comes_back_as_it_was(library):
    kept = library.keep(FIRST, name="Mine")
    library.delete(kept.id)
    with pytest.raises(LibraryError, match="no such board"):
        library.find(kept.id)
    library.restore(kept.id)
    assert library.find(kept.id).spec == kept.spec


# access


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


# uploads


def test_an_upload_tells_what_it_is(library):
    kept = library.keep(FIRST, name="Mine")
    run, qrels = sorted(library.uploads(), key=lambda one: one.kind, reverse=True)
    assert (run.name, run.kind, run.rows, run.size) == ("strict.trec", "run", 20, len(STRICT))
    assert (run.reading.format, dict(run.reading.mapping)["score"]) == ("trec-run", "score")
    assert (run.profile.queries, run.profile.depth, run.profile.tied, sum(run.profile.bars)) == (4, 5, 0, 20)
    assert (run.note, run.pinned, run.boards) == ("", False, ((kept.id, "Mine"),))
    assert (qrels.kind, qrels.rows, qrels.profile.tied) == ("qrels", 4, None)


def test_notes_and_pins_are_the_owners_own(library):
    for owner in (ANNA, BERT):
        library.keep(FIRST, owner)
    library.describe(sha(FIRST), "from the cluster", ANNA)
    library.pin(sha(FIRST), ANNA)
    found = {owner: {one.sha256: one for one in library.uploads(owner)}[sha(FIRST)] for owner in (ANNA, BERT)}
    assert (found[ANNA].note, found[ANNA].pinned) == ("from the cluster", True)
    assert (found[BERT].note, found[BERT].pinned) == ("", False)
    library.pin(sha(FIRST), ANNA, pinned=False)
    assert not any(one.pinned for one in library.uploads(ANNA))


def test_notes_and_pins_outlive_the_same_upload_again(library):
    library.keep(FIRST)
    library.describe(sha(FIRST), "noted")
    library.pin(sha(FIRST))
    library.keep(FIRST, name="again")
    assert [(one.note, one.pinned) for one in library.uploads() if one.sha256 == sha(FIRST)] == [
        ("noted", True)
    ]


def test_a_board_is_made_from_uploads_in_the_order_asked_for(library):
    library.keep(board(a_trec=STRICT, b_trec=COARSE, qrels_txt=QRELS))
    wanted = sorted(shas(library))
    spec = library.spec_of(wanted)
    assert [entry.file.sha256 for entry in spec.entries] == wanted
    again = library.keep(make_board(spec, [entry.read() for entry in spec.entries]), name="again")
    assert len(library.uploads()) == 3
    assert {number for one in library.uploads() for number, _ in one.boards} >= {again.id}


def test_an_upload_of_another_is_not_offered(library):
    library.keep(FIRST, ANNA)
    for ask in (library.describe, library.pin, library.discard, library.reclaim):
        with pytest.raises(LibraryError, match="no longer in the library"):
            ask(*[sha(FIRST), "note", BERT] if ask == library.describe else [sha(FIRST), BERT])
    with pytest.raises(LibraryError, match="no longer in the library"):
        library.spec_of([sha(FIRST)], BERT)


def test_a_discarded_upload_takes_its_nameless_boards_along_and_brings_them_back(library):
    kept = library.keep(FIRST)
    library.discard(sha(FIRST))
    assert sha(FIRST) not in shas(library)
    assert shas(library, deleted=True) == [sha(FIRST)]
    assert library.boards() == []
    library.reclaim(sha(FIRST))
    assert library.find(kept.id).spec == kept.spec
    assert sha(FIRST) in shas(library)


def test_an_upload_on_a_board_with_a_name_is_not_discarded(library):
    library.keep(FIRST)
    library.keep(FIRST, name="Mine")
    with pytest.raises(LibraryError, match=r"used on Mine. Delete that first"):
        library.discard(sha(FIRST))
    assert len(library.boards()) == 2
    assert sha(FIRST) in shas(library)


@pytest.mark.usefixtures("calendar")
def test_a_board_deleted_before_its_upload_does_not_come_back_with_it(library):
    library.delete(library.keep(FIRST).id)
    library.discard(sha(FIRST))
    library.reclaim(sha(FIRST))
    assert library.boards() == []


def test_a_discarded_upload_that_is_uploaded_again_is_there_again(library):
    library.keep(FIRST)
    library.discard(sha(FIRST))
    library.keep(FIRST)
    assert len(shas(library)) == 2
    assert shas(library, deleted=True) == []


@BY_NAME
def test_any_text_is_kept_as_far_as_it_can_be(library, given, kept):
    record = library.keep(FIRST, name=given)
    library.rename(record.id, given)
    library.describe(sha(FIRST), given)
    found = library.find(record.id)
    assert found.name == kept.strip()[:200].strip()
    assert {one.note for one in library.uploads()} == {kept.strip(), ""}
    assert library.duplicate(record.id).name == f"{found.name[:194]}, copy"


@BY_NAME
def test_a_file_of_any_name_is_kept(library, given, kept):
    files = [File(given, STRICT.encode()), File("qrels.txt", QRELS.encode())]
    made = make_board(BoardSpec.of(files), [read(file) for file in files])
    record = library.keep(made)
    assert record.spec.entries[0].file.name == kept
    assert kept in {one.name for one in library.uploads()}
    assert library.keep(made).id == record.id
    assert as_read(record).runs.rerankers == [File(kept, b"").stem]


def test_any_view_is_kept(library):
    view = {"text": "a\0b 🎯 \udc80", "none": None, "many": [1, 2.5, True, {"deep": []}]}
    assert library.find(library.keep(FIRST, view=view).id).view == view


# room


def test_an_upload_larger_than_the_limit_is_refused_by_name(open_library):
    library = open_library(most_upload=len(STRICT) - 1)
    with pytest.raises(LibraryError, match=r"strict\.trec is not kept: larger than .* TIESCOPE_MAX_UPLOAD_MB"):
        library.keep(FIRST)
    assert (library.boards(), library.uploads()) == ([], [])
    assert open_library(most_upload=len(STRICT)).keep(FIRST)


@pytest.fixture
def small(open_library, tmp_path, migrated_file):
    """Make a library that is full with Anna's first board."""

    def make(**kept):
        measured = Library(
            tmp_path / "measured", f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'measured.db')}"
        )
        measured.keep(FIRST)
        library = open_library(most=measured.room()[0])
        measured.close()
        library.keep(FIRST, ANNA, **kept)
        return library

    return make


def test_a_full_library_refuses_what_is_new_and_keeps_what_it_has(small):
    library = small()
    before = library.uploads(ANNA), library.room()
    with pytest.raises(
        LibraryError, match=r"The library is full: 0 MB. Delete uploads, raise TIESCOPE_MAX_LIB"
    ):
        library.keep(OTHER, ANNA)
    assert (library.uploads(ANNA), library.room()) == before
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
    assert parquets(tmp_path / "home") == sorted(shas(library, ANNA))
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
    kept = library.keep(OTHER, ANNA)
    assert [entry.read() for entry in kept.spec.entries]


def test_what_its_owner_deleted_goes_first_whatever_was_chosen(small):
    library = small()
    library.pin(sha(FIRST), ANNA)
    library.discard(sha(FIRST), ANNA)
    kept = library.keep(OTHER, ANNA)
    assert [one.id for one in library.boards(ANNA)] == [kept.id]
    assert shas(library, ANNA, deleted=True) == []


def test_a_deleted_upload_that_a_board_still_shows_stays(small):
    library = small()
    kept = library.boards(ANNA)[0]
    library.discard(sha(FIRST), ANNA)
    library.restore(kept.id, ANNA)
    with pytest.raises(LibraryError, match="full"):
        library.keep(OTHER, ANNA)
    assert [entry.read() for entry in library.find(kept.id, ANNA).spec.entries]


# sweeping


def test_a_sweep_leaves_what_was_deleted_lately(library, database):
    kept = library.keep(FIRST)
    library.delete(kept.id)
    library.discard(sha(FIRST))
    aged(database, boards, shelves, days=29)
    library.sweep()
    library.reclaim(sha(FIRST))
    library.restore(kept.id)
    assert [entry.read() for entry in library.find(kept.id).spec.entries]


def test_a_sweep_forgets_what_was_deleted_long_ago(library, tmp_path, database):
    kept = library.keep(FIRST)
    library.discard(sha(FIRST))
    aged(database, boards, shelves)
    library.sweep()
    assert parquets(tmp_path / "home") == [sha(FIRST, 1)]
    assert shas(library, deleted=True) == []
    with pytest.raises(LibraryError, match="gone for good"):
        library.restore(kept.id)


def test_a_sweep_leaves_uploads_that_somebodys_board_needs(library, database):
    kept = library.keep(board(x_trec=TIED, qrels_txt=QRELS), ANNA, name="Mine", access="edit")
    library.revise(kept.id, 1, FIRST, BERT)
    library.discard(sha(FIRST), BERT)
    aged(database, boards, shelves)
    library.sweep()
    assert [entry.read() for entry in library.find(kept.id, ANNA).spec.entries]


def test_a_sweep_removes_files_nobody_knows_and_old_ones_nobody_finished(library, tmp_path):
    library.keep(FIRST)
    folder = tmp_path / "home" / "uploads"
    known = parquets(tmp_path / "home")
    stray, begun, old = (
        folder / name for name in ("ab/abcd.parquet", "writing/1.parquet", "writing/2.parquet")
    )
    for path in (stray, begun, old):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    past = old.stat().st_mtime - 4000
    os.utime(old, (past, past))
    library.sweep()
    assert [path.exists() for path in (stray, begun, old)] == [False, True, False]
    assert set(known) < set(parquets(tmp_path / "home"))


def test_an_upload_without_a_shelf_and_a_board_is_forgotten(library, database):
    library.keep(FIRST)
    with database.writing() as connection:
        connection.execute(uploads.insert().values(_row(connection, "0" * 64)))
    library.sweep()
    with database.reading() as connection:
        assert set(connection.scalars(sa.select(uploads.c.sha256))) == set(shas(library))


def _row(connection, sha256):
    row = connection.execute(sa.select(uploads)).mappings().first()
    return dict(row) | {"sha256": sha256}


# what the environment says


def test_the_environment_names_folder_database_and_limits(monkeypatch, tmp_path, url):
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TIESCOPE_DATABASE_URL", url)
    monkeypatch.setenv("TIESCOPE_MAX_LIBRARY_MB", "7")
    library = Library.open()
    library.keep(FIRST)
    assert library.room()[1] == 7_000_000
    assert len(parquets(tmp_path / "elsewhere")) == 2
    library.close()


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "1e3"])
def test_a_limit_that_is_no_number_is_told(monkeypatch, given):
    monkeypatch.setenv("TIESCOPE_MAX_UPLOAD_MB", given)
    with pytest.raises(LibraryError, match=f"TIESCOPE_MAX_UPLOAD_MB is '{given}'. Give a whole number"):
        Library.open()


def test_the_same_files_joined_in_another_way_are_another_board(library):
    kept = library.keep(FIRST)
    changed = replace(kept.spec, repeated="max")
    assert library.keep(make_board(changed, [entry.read() for entry in changed.entries])).id != kept.id
