"""The Library page: uploads found, opened, added, deleted and brought back."""

import pytest
from boards import COARSE, EXTREMES, QRELS, STRICT
from libraries import keep_as
from opening import finding, opened, said, title
from opening import table as rows_of

from dashboard import cache
from dashboard.library.boards import BoardSpec, make_board
from dashboard.library.store import Library
from dashboard.settings import INSECURE
from dashboard.views.data.library import distinguish_files
from metrics.runs import File, read


@pytest.fixture
def library(tmp_path, monkeypatch):
    """An empty library that every page of the test opens, of one owner."""
    new_library = Library(tmp_path / "library")
    monkeypatch.setenv(INSECURE, "1")
    monkeypatch.setattr(cache, "open_library", lambda: new_library)
    yield new_library
    new_library.close()


def files(*names_and_texts):
    """A board of files: name, text, name, text ..."""
    board_files = [
        File(name, text.encode())
        for name, text in zip(names_and_texts[::2], names_and_texts[1::2], strict=True)
    ]
    return make_board(BoardSpec.of(board_files), [read(file) for file in board_files])


def two_versions(library):
    """Two boards: a run called coarse, and another a week later by the same name."""
    library.keep(files("coarse.trec", COARSE, "qrels.txt", QRELS))
    return library.keep(files("coarse.trec", STRICT, "qrels.txt", QRELS))


def rows(page):
    """The table of uploads."""
    return page.dataframe(key=next(one.key for one in page.dataframe if str(one.key).startswith("uploads-")))


def tick(page, *uploads):
    """Tick uploads of the table that shows them all, as a visitor does; all others are not ticked."""
    positions = {upload.sha256: position for position, upload in enumerate(cache.open_library().uploads())}
    chosen_rows = sorted(positions[upload.sha256] for upload in uploads)
    page.session_state[rows(page).key] = {"selection": {"rows": chosen_rows, "columns": [], "cells": []}}
    return page.run()


def press(page, key):
    page.button(key=f"library-{key}").click().run()
    assert not page.exception
    return page


def words(page):
    return "\n".join(
        one.value for kind in (page.markdown, page.caption, page.error, page.info, page.warning) for one in kind
    )


def test_the_library_shows_the_date_of_each_board_the_latest_change_first(library):
    first = keep_as(library, files("coarse.trec", COARSE, "qrels.txt", QRELS), name="Monday")
    keep_as(library, files("coarse.trec", STRICT, "qrels.txt", QRELS), name="Friday")
    library.rename(first.id, "Sunday")
    boards = rows_of(opened("data", section="Library"), "Boards")
    assert boards["name"].tolist() == ["Sunday", "Friday"]
    assert boards["created"].tolist() == [board.created for board in library.boards()]
    assert boards["changed"].is_monotonic_decreasing
    assert boards[["runs", "queries"]].to_numpy().tolist() == [[1, 4], [1, 4]]


def test_an_empty_library_says_what_would_fill_it(library):
    page = opened("data", section="Library")
    assert library.uploads() == []
    assert "Nothing is kept yet" in words(page)
    assert not page.header  # nor is there a heading of a table that is not there


def test_the_table_shows_every_upload_the_newest_first(library):
    two_versions(library)
    table = rows(opened("data", section="Library")).value
    assert list(table["name"]) == ["coarse.trec", "qrels.txt", "coarse.trec"]
    assert list(table["rows"]) == [20, 4, 20]
    assert list(table["size"]) == [len(text) / 1000 for text in (STRICT, QRELS, COARSE)]
    assert list(table["boards"]) == ["coarse", "coarse, coarse", "coarse"]
    assert finding(opened("data", section="Library")) == "3 uploads are kept, on 2 boards."


def test_last_weeks_run_of_the_same_name_is_added_beside_this_weeks(library):
    record = two_versions(library)
    page = opened("data", section="Library", data=record.label)
    old = library.uploads()[2]
    press(tick(page, old), "add")
    entries = library.find(record.id).spec.entries
    day = f"{old.added:%Y-%m-%d}"
    assert [one.file.name for one in entries] == ["coarse.trec", "qrels.txt", f"coarse_{day}.trec"]
    assert {one.file.sha256 for one in entries} == {one.sha256 for one in library.uploads()}
    assert (title(page), page.selectbox(key="data").value) == ("Leaderboard", library.boards()[0].label)
    assert set(rows_of(page, "All rerankers")["reranker"]) == {"coarse", f"coarse_{day}"}


def test_adding_what_is_on_the_board_says_so(library):
    record = two_versions(library)
    page = press(tick(opened("data", section="Library", data=record.label), library.uploads()[0]), "add")
    assert "already has these files" in words(page)
    assert library.find(record.id).version == record.version


def test_uploads_are_opened_together_as_a_board_of_their_own(library):
    two_versions(library)
    page = opened("data", section="Library")
    press(tick(page, *library.uploads()), "open")
    assert page.selectbox(key="data").value.startswith("coarse vs coarse_")
    assert (title(page), len(library.boards())) == ("Leaderboard", 3)


def test_runs_without_judgments_are_opened_as_a_board_that_lacks_them(library):
    two_versions(library)
    page = opened("data", section="Library")
    press(tick(page, library.uploads()[0]), "open")
    assert "no judgments" in words(page)
    assert (title(page), len(library.boards())) == ("Rerankers", 3)


def test_names_that_meet_are_told_apart_by_day_then_hash(library):
    two_versions(library)
    first, judgments, second = library.uploads()
    spec = library.spec_of([first.sha256, judgments.sha256, second.sha256])
    names = [one.file.name for one in distinguish_files(spec, [first, judgments, second], set()).entries]
    day = f"{second.added:%Y-%m-%d}"
    assert names == ["coarse.trec", "qrels.txt", f"coarse_{day}.trec"]
    taken_names = {"coarse", f"coarse_{day}"}
    alone = distinguish_files(library.spec_of([second.sha256]), [second], taken_names).entries[0].file.name
    assert alone == f"coarse_{second.sha256[:7]}.trec"


def test_a_deleted_upload_comes_back_by_undo_with_the_board_that_showed_it(library):
    record = two_versions(library)
    page = opened("data", section="Library", data=record.label)
    press(tick(page, library.uploads()[0]), "discard")
    assert [one.name for one in library.uploads()] == ["qrels.txt", "coarse.trec"]
    assert "Deleted **coarse" in words(page)
    assert page.selectbox(key="data").value == cache.SAMPLE_LABEL
    assert not page.warning
    page.button(key="undo").click().run()
    assert len(library.uploads()) == 3
    assert page.selectbox(key="data").value == record.label


def test_an_upload_on_a_board_with_a_name_stays_and_it_is_said_where(library):
    keep_as(library, files("coarse.trec", COARSE, "qrels.txt", QRELS), name="November")
    page = press(tick(opened("data", section="Library"), library.uploads()[0]), "discard")
    assert "boards use this upload: November" in said(page)
    assert len(library.uploads()) == 2


def test_what_was_deleted_is_restored_from_its_list(library):
    record = two_versions(library)
    library.delete(record.id)
    page = opened("data", section="Library")
    page.button(key=f"restore-{record.id}").click().run()
    assert record.id in {one.id for one in library.boards()}
    assert not page.expander


def test_a_library_that_cannot_be_reached_is_said_and_the_page_works(tmp_path, monkeypatch):
    (tmp_path / "library.db").write_text("no database " * 100)
    broken = Library(tmp_path)
    monkeypatch.setenv(INSECURE, "1")
    monkeypatch.setattr(cache, "open_library", lambda: broken)
    page = opened("data", section="Library")
    assert any("it is not a database" in error.value for error in page.error)
    assert not page.exception


def test_hostile_names_are_shown_as_text(library):
    record = keep_as(library, EXTREMES["hostile names"](), name="[x](y) :red[b] $1$ <b>")
    upload = library.uploads()[0]
    page = opened("data", section="Library", data=record.label)
    press(tick(page, upload), "discard")
    assert r"\[x\]\(y\) \:red\[b\]" in page.warning[0].value
    library.keep(files("<b>:red[x].trec", COARSE, "qrels.txt", QRELS))
    run = next(one for one in library.uploads() if one.name.startswith("<b>"))
    page = press(tick(page.run(), run), "discard")
    assert r"\<b\>\:red\[x\]" in words(page)


def test_a_shared_server_says_whose_the_uploads_are(library, monkeypatch):
    library.keep(files("theirs.trec", COARSE, "qrels.txt", QRELS), "somebody@example.org")
    monkeypatch.setattr("dashboard.boards.owner", lambda: "ada_b@example.org")
    page = opened("data", section="Library")
    assert r"for ada\_b" in words(page)
    assert "Nothing is kept yet" in words(page)
    monkeypatch.setattr("dashboard.boards.owner", lambda: "visitor:1234")
    assert "this list is lost when you leave" in words(opened("data", section="Library"))
