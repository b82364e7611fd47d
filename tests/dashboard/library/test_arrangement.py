"""Rerankers of one name shown are repeats, which a board combines, keeps, hands on and separates."""

from io import BytesIO

import pytest
from boards import QRELS, STRICT, board

from dashboard.library.board_file import export, load
from dashboard.library.boards import BoardSpec, join_runs, keep_arrangement, make_board
from dashboard.library.listing import boards_table
from metrics.errors import TieScopeError
from metrics.runs import File

SEEDS = {"c-seed1": "c", "c-seed2": "c", "x": "x"}


@pytest.fixture
def separate():
    files = {"c-seed1_trec": STRICT, "c-seed2_trec": STRICT.replace(" 3 ", " 1 "), "x_trec": STRICT}
    return board(**files, qrels_txt=QRELS)


def remade(before, spec):
    return make_board(spec, before.sources)


def test_rerankers_of_one_name_are_combined_and_separated_again(separate):
    combined = remade(separate, separate.spec.arranged(SEEDS))
    assert combined.runs.rerankers == ["c", "x"]
    assert combined.spec.repeats == {"c": ["c-seed1", "c-seed2"]}
    assert "score_std" in combined.runs.tables["c"].column_names
    assert "repeats-combined" in list(combined.runs.findings["code"])
    again = remade(separate, combined.spec.separated())
    assert again.runs.rerankers == separate.runs.rerankers
    assert again.spec.repeats == {}


def test_separated_repeats_take_their_names_back_from_whatever_was_given_them():
    names = (("A", "m"), ("B", "m"), ("C", "A"), ("D", "C"), ("E", "x"))
    spec = BoardSpec((), names=names).separated()
    assert spec.names == (("A", "A"), ("B", "B"), ("C", "C"), ("D", "D"), ("E", "x"))
    assert spec.repeats == {}


def test_a_combined_reranker_is_renamed_and_ordered_as_any_other(separate):
    spec = separate.spec.arranged(SEEDS).arranged({"x": "c", "c": "x"})
    renamed = remade(separate, spec)
    assert renamed.runs.rerankers == ["c", "x"]
    assert renamed.spec.repeats == {"x": ["c-seed1", "c-seed2"]}
    assert "score_std" not in renamed.runs.tables["c"].column_names


def test_a_new_file_is_no_repeat_because_of_its_name(separate):
    spec = separate.spec.arranged(SEEDS)
    entries = (*spec.entries, *BoardSpec.of([File("c.trec", STRICT.encode())]).entries)
    joined = BoardSpec(entries)
    new_board = make_board(joined, [entry.read() for entry in entries])
    with pytest.raises(TieScopeError, match="'c' is another reranker here"):
        keep_arrangement(new_board, spec)


def test_repeats_are_kept_and_go_with_a_board_file(separate, library):
    combined = remade(separate, separate.spec.arranged(SEEDS))
    record = library.find(library.keep(combined).id)
    assert record.spec.repeats == combined.spec.repeats
    assert boards_table(library, "", for_people=False)["runs"].tolist() == [2]
    packed = BytesIO()
    export(combined, packed, {})
    imported = load(File("board.tiescope", packed.getvalue()))
    assert imported.board.runs.rerankers == ["c", "x"]
    assert imported.board.runs.tables["c"].equals(combined.runs.tables["c"])


def test_repeats_that_share_no_document_make_no_board():
    other = board(a_trec=STRICT, b_trec=STRICT.replace(" d", " other-d"), qrels_txt=QRELS)
    with pytest.raises(TieScopeError, match="no document is in two of a, b"):
        join_runs(other.spec.arranged({"a": "c", "b": "c"}), other.sources)
