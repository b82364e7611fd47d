"""Uploads: notes, pins, names, and those that are discarded."""

import pytest
from boards import COARSE, QRELS, STRICT, board
from libraries import ANNA, BERT, FIRST, as_read, sha, shas

from dashboard.library.boards import BoardSpec, make_board
from metrics.errors import LibraryError
from metrics.runs import File, read

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
BY_NAME = pytest.mark.parametrize(("text", "kept_text"), NAMES.values(), ids=NAMES)


def test_an_upload_tells_what_it_is(library):
    record = library.keep(FIRST, name="Mine")
    run, qrels = sorted(library.uploads(), key=lambda upload: upload.kind, reverse=True)
    assert (run.name, run.kind, run.rows, run.size) == ("strict.trec", "run", 20, len(STRICT))
    assert (run.reading.format, dict(run.reading.mapping)["score"]) == ("trec-run", "score")
    assert (run.profile.queries, run.profile.depth, run.profile.tied, sum(run.profile.bars)) == (4, 5, 0, 20)
    assert (run.note, run.pinned, run.boards) == ("", False, ((record.id, "Mine"),))
    assert (qrels.kind, qrels.rows, qrels.profile.tied) == ("qrels", 4, None)


def test_notes_and_pins_are_the_owners_own(library):
    for owner in (ANNA, BERT):
        library.keep(FIRST, owner)
    library.describe(sha(FIRST), "from the cluster", ANNA)
    library.pin(sha(FIRST), ANNA)
    upload_of = {
        owner: {one.sha256: one for one in library.uploads(owner)}[sha(FIRST)] for owner in (ANNA, BERT)
    }
    assert (upload_of[ANNA].note, upload_of[ANNA].pinned) == ("from the cluster", True)
    assert (upload_of[BERT].note, upload_of[BERT].pinned) == ("", False)
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
    ordered_shas = sorted(shas(library))
    spec = library.spec_of(ordered_shas)
    assert [entry.file.sha256 for entry in spec.entries] == ordered_shas
    again = library.keep(make_board(spec, [entry.read() for entry in spec.entries]), name="again")
    assert len(library.uploads()) == 3
    assert {number for one in library.uploads() for number, _ in one.boards} >= {again.id}


def test_an_upload_of_another_is_not_offered(library):
    library.keep(FIRST, ANNA)
    for operation in (library.describe, library.pin, library.discard, library.reclaim):
        with pytest.raises(LibraryError, match="no longer in the library"):
            operation(*[sha(FIRST), "note", BERT] if operation == library.describe else [sha(FIRST), BERT])
    with pytest.raises(LibraryError, match="no longer in the library"):
        library.spec_of([sha(FIRST)], BERT)


def test_a_discarded_upload_takes_its_nameless_boards_along_and_brings_them_back(library):
    record = library.keep(FIRST)
    library.discard(sha(FIRST))
    assert sha(FIRST) not in shas(library)
    assert shas(library, deleted=True) == [sha(FIRST)]
    assert library.boards() == []
    library.reclaim(sha(FIRST))
    assert library.find(record.id).spec == record.spec
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
def test_any_text_is_kept_as_far_as_it_can_be(library, text, kept_text):
    record = library.keep(FIRST, name=text)
    library.rename(record.id, text)
    library.describe(sha(FIRST), text)
    found_record = library.find(record.id)
    assert found_record.name == kept_text.strip()[:200].strip()
    assert {one.note for one in library.uploads()} == {kept_text.strip(), ""}
    assert library.duplicate(record.id).name == f"{found_record.name[:194]}, copy"


@BY_NAME
def test_a_file_of_any_name_is_kept(library, text, kept_text):
    files = [File(text, STRICT.encode()), File("qrels.txt", QRELS.encode())]
    new_board = make_board(BoardSpec.of(files), [read(file) for file in files])
    record = library.keep(new_board)
    assert record.spec.entries[0].file.name == kept_text
    assert kept_text in {one.name for one in library.uploads()}
    assert library.keep(new_board).id == record.id
    assert as_read(record).runs.rerankers == [File(kept_text, b"").stem]


def test_any_view_is_kept(library):
    view = {"text": "a\0b 🎯 \udc80", "none": None, "many": [1, 2.5, True, {"deep": []}]}
    assert library.find(library.keep(FIRST, view=view).id).view == view
