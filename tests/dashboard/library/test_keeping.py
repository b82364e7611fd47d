"""What is kept is found again."""

from dataclasses import replace

import pytest
from libraries import ANNA, FIRST, OTHER, names_on

from dashboard.library.boards import BoardSpec, Entry, make_board
from metrics.errors import LibraryError
from metrics.runs import File


def test_a_kept_board_is_found_as_it_was_kept(library):
    view = {"measure": "nDCG@10", "baseline": "strict", "depth": 10, "policies": ["expected"]}
    record = library.keep(FIRST, name="Mine", view=view)
    found_record = library.find(record.id)
    assert found_record == record
    assert (found_record.name, found_record.named, found_record.version, found_record.view) == (
        "Mine",
        True,
        1,
        view,
    )
    assert found_record.spec.digest == FIRST.key
    again = make_board(found_record.spec, [entry.read() for entry in found_record.spec.entries])
    assert [one.table for one in again.sources] == [one.table for one in FIRST.sources]


def test_a_kept_board_is_found_after_a_restart(library, open_library):
    record = library.keep(FIRST, name="Mine")
    library.close()
    assert open_library().find(record.id) == record


def test_a_board_without_a_name_is_told_by_its_size(library):
    record = library.keep(FIRST)
    assert (record.name, record.named) == ("1 run, 4 queries", False)
    assert record.label == f"1 run, 4 queries · {record.id}"


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
    board = make_board(spec, [entry.read()])
    kept_spec = library.find(library.keep(board).id).spec
    assert (kept_spec.entries[0].columns, kept_spec.repeated, kept_spec.names) == (
        entry.columns,
        "max",
        spec.names,
    )
    assert kept_spec.digest == board.key
    again = make_board(kept_spec, [kept_spec.entries[0].read()])
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
    for number in range(6):
        board = make_board(replace(spec, names=(("strict", f"run {number}"),)), sources)
        names[library.keep(board, name="Mine" if number in (0, 4) else "").id] = number
    library.keep(OTHER, ANNA)
    for most_unnamed, expected in ((0, [4, 0]), (1, [5, 4, 0]), (3, [5, 4, 3, 2, 0]), (50, [5, 4, 3, 2, 1, 0])):
        assert [names[one.id] for one in library.boards(most_unnamed=most_unnamed)] == expected
    assert len(library.boards()) == 6


def test_a_number_with_what_is_left_out_of_it_is_the_boards(library):
    record = library.keep(FIRST, name="Mine")
    number = f" {record.id}\0"
    assert library.find(number) == record
    assert library.rename(number, "New").name == library.find(record.id).name == "New"
    revised = library.revise(number, 2, OTHER)
    assert revised == library.find(record.id)
    assert (revised.version, names_on(revised)) == (3, ["coarse.trec", "qrels.txt"])
    assert library.duplicate(number).spec == library.find(record.id).spec
    library.delete(number)
    assert library.look(record.id) is None


def test_a_rename_gives_back_the_board_it_made(library):
    record = library.keep(FIRST)
    renamed = library.rename(record.id, "Mine")
    assert renamed == library.find(record.id)
    assert (renamed.name, renamed.named, renamed.version) == ("Mine", True, 2)


@pytest.mark.parametrize("wrong", ["", "nothing", "a\0b", "a\udc80b", "🎯", "x" * 10_000, "' OR 1=1 --"])
def test_a_number_that_is_none_is_told(library, wrong):
    for operation in (library.find, library.delete, library.duplicate):
        with pytest.raises(LibraryError, match="no such board"):
            operation(wrong)
    with pytest.raises(LibraryError, match="gone for good"):
        library.restore(wrong)


def test_the_same_files_joined_in_another_way_are_another_board(library):
    record = library.keep(FIRST)
    changed = replace(record.spec, repeated="max")
    assert library.keep(make_board(changed, [entry.read() for entry in changed.entries])).id != record.id
