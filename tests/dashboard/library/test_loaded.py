"""Boards in memory: whom they open for, and what ends them."""

import pytest
from boards import COARSE, QRELS, STRICT, board

from dashboard.library.loaded import MOST_PUBLISHED, LoadedBoards
from dashboard.library.records import id_of
from metrics.errors import UsageError


@pytest.fixture
def memory():
    return LoadedBoards()


def test_a_session_board_has_a_random_id_and_opens_only_for_its_visitor(memory):
    strict = board(a_trec=STRICT, qrels_txt=QRELS)
    mine, theirs = (id_of(memory.add(strict, visitor).label) for visitor in ("ada", "bob"))
    assert mine != theirs
    assert len(mine) == len(theirs) == 32
    assert memory.find(mine, "ada").key == strict.key
    for guess in (mine, mine[:12], strict.key, strict.key[:12], ""):
        assert memory.find(guess, "bob") is None
        assert memory.find(guess, "") is None
        assert memory.get(guess) is None


def test_a_board_takes_the_place_of_one_of_the_same_visitor_alone(memory):
    first, second = board(a_trec=STRICT, qrels_txt=QRELS), board(b_trec=COARSE, qrels_txt=QRELS)
    board_id = id_of(memory.add(first, "ada").label)
    assert id_of(memory.add(second, "bob", board_id).label) != board_id
    assert memory.find(board_id, "ada").key == first.key
    assert id_of(memory.add(second, "ada", board_id).label) == board_id
    assert memory.find(board_id, "ada").key == second.key


def test_the_same_files_again_are_the_same_board_of_a_visitor(memory):
    strict = board(a_trec=STRICT, qrels_txt=QRELS)
    assert memory.add(strict, "ada").label == memory.add(strict, "ada").label


def test_a_board_that_is_removed_opens_no_more_and_only_its_visitor_removes_it(memory):
    boards = (board(a_trec=STRICT, qrels_txt=QRELS), board(b_trec=COARSE, qrels_txt=QRELS))
    first, second = (id_of(memory.add(loaded, "ada").label) for loaded in boards)
    memory.remove(first, "bob")
    assert memory.find(first, "ada")
    memory.remove(first, "ada")
    assert memory.find(first, "ada") is None
    memory.remove_of("bob")
    assert memory.find(second, "ada")
    memory.remove_of("ada")
    assert memory.find(second, "ada") is None


def test_the_least_recently_used_board_goes_and_a_too_large_one_is_refused():
    strict, coarse = board(a_trec=STRICT, qrels_txt=QRELS), board(b_trec=COARSE, qrels_txt=QRELS)
    memory = LoadedBoards(most_bytes=max(strict.size, coarse.size))
    board_id = id_of(memory.add(strict, "ada").label)
    memory.hold(coarse)
    assert memory.find(board_id, "ada") is None
    assert memory.get(coarse.key) is coarse
    with pytest.raises(UsageError, match="the limit is"):
        LoadedBoards(most_bytes=strict.size - 1).add(strict)


def test_published_results_live_as_long_as_their_board_and_visitor():
    boards = LoadedBoards()
    for board_id in ("one", "two"):
        boards.publish(board_id, "ada", ("t~1", b"packed"))
    assert boards.published("one", "ada") == ("t~1", b"packed")
    assert boards.published("one", "bob") is None
    boards.remove("one", "ada")
    assert boards.published("one", "ada") is None
    boards.remove_of("ada")
    assert boards.published("two", "ada") is None
    for number in range(MOST_PUBLISHED + 1):
        boards.publish(str(number), "ada", ("t~1", b""))
    assert boards.published("0", "ada") is None
    assert boards.published(str(MOST_PUBLISHED), "ada") is not None
