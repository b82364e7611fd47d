"""What is kept is found again, by whom it may be."""

from dataclasses import replace

import pytest
from boards import QRELS, STRICT, TIED, board
from libraries import ANNA, BERT, FIRST, OTHER, aged, keep_as, shas

from dashboard.library import loaded
from dashboard.library.boards import BoardSpec, Entry, make_board
from dashboard.library.loaded import packed_files, unpacked_files
from metrics.errors import LibraryError, UsageError
from metrics.runs import File


def test_a_kept_board_is_found_as_it_was_kept(library):
    view = {"measure": "nDCG@10", "baseline": "strict", "depth": 10, "policies": ["expected"]}
    record = keep_as(library, FIRST, name="Mine", view=view)
    found_record = library.find(record.id)
    assert found_record == record
    assert (found_record.name, found_record.named, found_record.version, found_record.view) == (
        "Mine",
        True,
        3,
        view,
    )
    assert found_record.spec.key == FIRST.key
    again = make_board(found_record.spec, [entry.read() for entry in found_record.spec.entries])
    assert [one.table for one in again.sources] == [one.table for one in FIRST.sources]


def test_a_kept_board_is_found_after_a_restart(library, open_library):
    record = keep_as(library, FIRST, name="Mine")
    library.close()
    assert open_library().find(record.id) == record


def test_the_same_board_without_a_name_is_found_again(library):
    assert library.keep(FIRST).id == library.keep(FIRST).id
    assert len(library.boards()) == 1


def test_columns_names_and_repeats_of_a_recipe_are_kept(library):
    file = File("t.csv", b"query_id,doc_id,a,b,relevance\nq,d,1,2,1\nq,e,2,1,0\n")
    entry = Entry(file, (("score", "b"),))
    spec = BoardSpec((entry,), "max", (("t", "new name"),))
    board = make_board(spec, [entry.read()])
    kept_spec = library.find(library.keep(board).id).spec
    assert (kept_spec.entries[0].columns, kept_spec.repeated, kept_spec.names) == (
        entry.columns,
        "max",
        spec.names,
    )
    assert kept_spec.key == board.key
    again = make_board(kept_spec, [kept_spec.entries[0].read()])
    assert again.runs.tables["new name"]["score"].to_pylist() == [2.0, 1.0]


@pytest.mark.usefixtures("calendar")
def test_boards_are_listed_the_one_changed_last_first(library):
    first, second = keep_as(library, FIRST, name="first"), keep_as(library, OTHER, name="second")
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
    for number in range(6):
        board = make_board(replace(spec, names=(("strict", f"run {number}"),)), sources)
        names[keep_as(library, board, name="Mine" if number in (0, 4) else "").id] = number
    library.keep(OTHER, ANNA)
    for most_unnamed, expected in ((0, [4, 0]), (1, [5, 4, 0]), (3, [5, 4, 3, 2, 0]), (50, [5, 4, 3, 2, 1, 0])):
        assert [names[one.id] for one in library.boards(most_unnamed=most_unnamed)] == expected
    assert len(library.boards()) == 6


@pytest.mark.parametrize("wrong", ["", "nothing", "a\0b", "a\udc80b", "🎯", "x" * 10_000, "' OR 1=1 --"])
def test_a_number_that_is_none_is_told(library, wrong):
    for operation in (library.find, library.delete, library.duplicate):
        with pytest.raises(LibraryError, match="no such board"):
            operation(wrong)
    with pytest.raises(LibraryError, match="no longer be restored"):
        library.restore(wrong)


@pytest.mark.parametrize(("access", "sees"), [("private", 0), ("link", 1)])
def test_a_stranger_sees_what_the_owner_allows_and_changes_nothing(library, access, sees):
    record = keep_as(library, FIRST, ANNA, name="Mine", access=access)
    seeing = [lambda: library.find(record.id, BERT), lambda: library.duplicate(record.id, BERT)]
    changing = [
        lambda: library.save_view(record.id, {"depth": 5}, BERT),
        lambda: library.rename(record.id, "Bert's", BERT),
        lambda: library.revise(record.id, library.find(record.id, ANNA).version, OTHER, BERT),
    ]
    for allowed, operations in ((sees, seeing), (False, changing)):
        for operation in operations:
            if allowed:
                operation()
            else:
                with pytest.raises(LibraryError, match=r"not shared with you|somebody else"):
                    operation()
    assert library.find(record.id, ANNA) == record


@pytest.mark.parametrize("access", ["private", "link"])
def test_only_the_owner_shares_deletes_and_restores(library, access):
    record = keep_as(library, FIRST, ANNA, access=access)
    for operation in (lambda: library.share(record.id, "link", BERT), lambda: library.delete(record.id, BERT)):
        with pytest.raises(LibraryError):
            operation()
    library.delete(record.id, ANNA)
    with pytest.raises(LibraryError):
        library.restore(record.id, BERT)
    library.restore(record.id, ANNA)
    assert library.find(record.id, ANNA).access == access


def test_everybody_lists_their_own_boards_and_uploads(library):
    keep_as(library, FIRST, ANNA, access="link")
    library.keep(OTHER, BERT)
    assert [one.owner for one in library.boards(ANNA)] == [ANNA]
    assert {one.name for one in library.uploads(BERT)} == {"coarse.trec", "qrels.txt"}
    assert library.boards() == []
    assert library.uploads() == []


def test_a_duplicate_of_anothers_board_is_private_and_its_files_are_ones_own(library):
    record = keep_as(library, FIRST, ANNA, name="Mine", access="link")
    double = library.duplicate(record.id, BERT)
    assert (double.owner, double.access) == (BERT, "private")
    assert shas(library, BERT) == shas(library, ANNA)
    library.delete(record.id, ANNA)
    aged(library, 2, deleted=True)
    library.end_expired()
    assert library.find(double.id, BERT).spec == record.spec


def test_a_revised_board_holds_what_it_was_revised_to(library):
    record = library.keep(FIRST)
    revised = library.revise(record.id, record.version, board(a_trec=STRICT, b_trec=TIED, qrels_txt=QRELS))
    assert (revised.id, revised.version, revised.name) == (record.id, 2, "a vs b")
    assert [entry.file.name for entry in library.find(record.id).spec.entries] == [
        "a.trec",
        "b.trec",
        "qrels.txt",
    ]


def test_a_board_keeps_its_name_when_it_is_revised(library):
    record = keep_as(library, FIRST, name="Mine")
    assert library.revise(record.id, record.version, OTHER).name == "Mine"


def test_who_revises_what_was_changed_meanwhile_is_told_and_changes_nothing(library):
    record = keep_as(library, FIRST, name="Mine")
    changed = library.revise(record.id, record.version, OTHER)
    with pytest.raises(LibraryError, match=r"Mine was changed on another page. Reload this page"):
        library.revise(record.id, record.version, board(third_trec=TIED, qrels_txt=QRELS))
    assert library.find(record.id) == changed
    assert {one.name for one in library.uploads()} == {"coarse.trec", "qrels.txt"}


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
    record = keep_as(library, FIRST, name="Mine")
    with pytest.raises(UsageError, match="A board needs a name"):
        library.rename(record.id, name)
    assert library.find(record.id) == record


def test_a_duplicate_is_a_board_of_its_own(library):
    record = keep_as(library, FIRST, name="Mine", view={"depth": 5})
    double = library.duplicate(record.id)
    assert (double.name, double.version, double.view) == ("Mine, copy", 1, {"depth": 5})
    assert double.spec == record.spec
    library.revise(double.id, 1, OTHER)
    assert library.find(record.id) == record


def test_a_deleted_board_comes_back_as_it_was(library):
    record = keep_as(library, FIRST, name="Mine")
    library.delete(record.id)
    with pytest.raises(LibraryError, match="no such board"):
        library.find(record.id)
    library.restore(record.id)
    assert library.find(record.id).spec == record.spec


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
    record = keep_as(library, FIRST, ANNA, access="link")
    library.publish(record.id, RESULTS, ANNA)
    assert library.published(record.id, BERT) == RESULTS
    with pytest.raises(LibraryError, match="belongs to somebody else"):
        library.publish(record.id, ("b~2", b"other"), BERT)
    library.share(record.id, "private", ANNA)
    with pytest.raises(LibraryError, match="not shared with you"):
        library.published(record.id, BERT)
    with pytest.raises(LibraryError):
        library.publish("no board", RESULTS)


def test_a_copy_has_results_of_its_own_and_they_go_with_their_board(library):
    record = keep_as(library, FIRST, ANNA, access="link")
    library.publish(record.id, RESULTS, ANNA)
    copy = library.duplicate(record.id, BERT)
    library.publish(record.id, ("b~2", b"other"), ANNA)
    assert library.published(copy.id, BERT) == RESULTS
    library.delete(record.id, ANNA)
    with pytest.raises(LibraryError):
        library.published(record.id, ANNA)


def test_results_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr(loaded, "_MOST_PUBLISHED_BYTES", 10)
    with pytest.raises(LibraryError, match="Upload only the means"):
        packed_files(FILES)
