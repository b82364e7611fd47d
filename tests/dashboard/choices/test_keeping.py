"""What of a visitor's uploads is kept, and on which board, asked of the app without a browser."""

import gc
from dataclasses import replace
from weakref import WeakSet

import pytest
from boards import COARSE, QRELS, STRICT, board
from libraries import keep_as
from opening import go_to_data, only, opened, texts

from dashboard import cache
from dashboard.library.boards import BoardSpec
from metrics.errors import LibraryError
from metrics.runs import File

RUN = COARSE.replace(" tag", " keeping")


def press(page, label):
    """Click a button; twice drawn, for the page draws again by itself."""
    next(one for one in page.button if one.label == label).click().run()
    assert not page.exception, page.exception
    return page


def arranged_board(library, listing, shown_names):
    """A board of the library with other names."""
    spec = replace(library.find(listing.id).spec, names=tuple(shown_names.items()))
    return cache.build_board(spec, [entry.read() for entry in spec.entries])


def names(library):
    """Rerankers of the newest board, as they are shown."""
    record = library.find(library.boards()[0].id)
    return [now for _, now in record.spec.names or ()]


def test_taking_a_file_out_leaves_the_other_rerankers_their_names(library):
    new_board = board(a_trec=STRICT, b_trec=RUN, c_trec=COARSE, qrels_txt=QRELS)
    arranged = replace(new_board.spec, names=(("b", "best"), ("a", "worst")))
    record = library.keep(cache.build_board(arranged, new_board.sources))
    press(opened("data", data=record.label), "Remove")
    assert names(library) == ["best"]


def test_a_click_in_another_tab_removes_no_file_but_its_own(library):
    record = library.keep(board(a_trec=STRICT, b_trec=RUN, c_trec=COARSE, qrels_txt=QRELS))
    tabs = [opened("data", data=record.id) for _ in range(2)]
    for tab, position in zip(tabs, (0, 1), strict=True):
        buttons = [button for button in tab.button if button.label == "Remove"]
        next(button for button in buttons if button.key.endswith(f"-{position}")).click().run()
        assert not tab.exception, tab.exception
    left = [entry.file.name for entry in library.find(record.id).spec.entries]
    assert "c.trec" in left


def test_a_new_file_with_a_run_of_a_name_that_is_there_loses_no_reranker(library):
    own = "reranker,query_id,doc_id,score\n"
    rows = "".join(f"LLM,q{query},d{document},{document}\n" for query in range(4) for document in range(5))
    files = {"a.csv": own + rows, "b.csv": own + rows.replace("LLM", "other"), "qrels.txt": QRELS}
    page = opened("data")
    page.file_uploader(key="upload").set_value(
        [(name, text.encode(), "") for name, text in files.items()]
    ).run()
    record = library.boards()[0]
    library.revise(
        record.id, record.version, arranged_board(library, record, {"LLM": "mine", "other": "other"})
    )
    page = opened("data", data=record.id)
    page.toggle(key="add").set_value(True).run()
    page.file_uploader(key="upload").set_value([("c.csv", (own + rows).encode(), "")]).run()
    assert not page.exception
    assert names(library) == ["other", "a", "c"]


def test_a_visitor_cannot_keep_the_session_board_of_another(library):
    loaded = cache.loaded_boards().add(board(a_trec=STRICT, b_trec=RUN, qrels_txt=QRELS))
    page = opened("data", data=loaded.label)
    assert page.selectbox(key="data").value == loaded.label
    press(page, "Remove")
    assert page.selectbox(key="data").value != loaded.label
    assert library.boards() == []
    assert library.uploads() == []


def test_a_board_that_somebody_keeps_is_not_opened_by_the_hash_of_its_files(library, monkeypatch):
    record = library.keep(board(a_trec=STRICT, b_trec=RUN, qrels_txt=QRELS), "ada@example.org")
    for who, link in (("ada", record.label), ("eve", record.id), ("eve", record.spec.key[:12])):
        monkeypatch.setattr("dashboard.boards.owner", lambda who=who: f"{who}@example.org")
        page = opened("leaderboard", data=link)
        is_hers = who == "ada"
        assert page.selectbox(key="data").value == (record.label if is_hers else None)
        assert any("is not shared with you" in one.value for one in page.warning) != is_hers


def test_what_is_in_memory_only_is_said_to_be_and_can_be_kept(library):
    loaded = cache.loaded_boards().add(board(a_trec=STRICT, qrels_txt=QRELS))
    page = opened("data", data=loaded.label)
    assert any("In memory only" in one.label for one in page.expander)
    press(page, "Keep")
    assert len(library.boards()) == 1


def test_what_is_shown_stays_when_the_library_cannot_be_reached_for_a_while(library, monkeypatch):
    record = library.keep(board(a_trec=STRICT, qrels_txt=QRELS))
    page = opened("leaderboard", data=record.label)

    def unreachable(*_, **__):
        raise LibraryError("The library cannot be reached.")

    with monkeypatch.context() as outage:
        outage.setattr(library, "boards", unreachable)
        page.run()
    assert page.selectbox(key="data").value == record.label
    assert len(page.warning) == 1
    page.run()
    assert page.selectbox(key="data").value == record.label
    assert not page.warning


def test_a_library_that_cannot_be_reached_is_not_said_to_lack_a_board(library, monkeypatch):
    record = library.keep(board(a_trec=STRICT, qrels_txt=QRELS))

    def unreachable(*_, **__):
        raise LibraryError("The library cannot be reached.")

    with monkeypatch.context() as outage:
        outage.setattr(library, "boards", unreachable)
        page = opened("leaderboard", data=record.id)
    warnings = " ".join(warning.value for warning in page.warning)
    assert "The library cannot be reached" in warnings
    assert f"{record.id}, which cannot be looked up as long as the library cannot be reached" in warnings
    assert "not shared with you" not in warnings
    page.run()
    assert page.selectbox(key="data").value == record.label


def test_boards_with_a_name_are_offered_however_many_came_after(library):
    record = keep_as(library, board(a_trec=STRICT, qrels_txt=QRELS), name="Nightly")
    for number in range(52):
        library.keep(board(a_trec=STRICT, qrels_txt=QRELS + f"extra{number} 0 d1 1\n"))
    options = opened("leaderboard").selectbox(key="data").options
    assert options.count("Nightly") == 1
    assert [name for name in options if record.id in name] == []
    assert len(options) < 56


def test_what_was_just_kept_is_not_read_again(library, monkeypatch):
    loaded = cache.loaded_boards().add(board(a_trec=STRICT, qrels_txt=QRELS))
    page = opened("data", data=loaded.label)
    monkeypatch.setattr(cache, "read_entry", lambda _: pytest.fail("read again"))
    press(page, "Keep")
    assert page.selectbox(key="data").value == library.boards()[0].label
    (record,) = [library.find(one.id) for one in library.boards()]
    assert cache.loaded_boards().get(loaded.key).spec == record.spec


def test_bytes_that_were_uploaded_are_not_held_once_their_board_is_kept(library):
    def upload(name, text):
        file = File(name, text.encode())
        uploads.add(file)
        return file

    uploads = WeakSet()
    spec = BoardSpec.of([upload("a.trec", RUN), upload("qrels.txt", QRELS)])
    new_board = cache.build_board(spec, [cache.read_entry(entry) for entry in spec.entries])
    ranks = new_board.runs.origins["a"].ranks()
    record = library.keep(new_board)
    cache.update_loaded(new_board, record)
    loaded = cache.loaded_boards().get(record.spec.key)
    del spec, new_board
    gc.collect()
    assert list(uploads) == []
    assert loaded.runs.origins["a"].ranks().to_pylist() == ranks.to_pylist()
    assert loaded.runs.origins["a"].line_of(2) == 3


def test_session_files_of_the_simulator_are_not_kept(library):
    loaded = cache.loaded_boards().add(board(a_trec=STRICT, b_trec=RUN, qrels_txt=QRELS))
    page = opened("simulator", data=loaded.label, section="Rounding", held="2 decimals")
    page.button(key="use-held").click().run()
    assert not page.exception, page.exception
    assert page.selectbox(key="data").value != loaded.label
    assert library.uploads() == []


def test_own_data_is_named_by_its_whole_file_names_without_the_sample_line_and_its_hash(library):
    runs = {"docsearch_passages_grades_coarse_trec": COARSE, "docsearch_passages_grades_strict_trec": STRICT}
    record = library.keep(board(**runs, docsearch_qrels_txt=QRELS))
    page = opened("leaderboard", data=record.id)
    assert "Your data: 2 runs, added on " in texts(page)
    assert " from docsearch.passages.grades.coarse.trec and 2 more." in texts(page)
    assert "Sample data" not in texts(page)
    assert page.selectbox(key="data").options[-1] == record.name
    assert record.id not in " ".join(page.selectbox(key="data").options)


def test_the_name_of_a_board_comes_back_where_it_is_emptied(library):
    record = library.keep(board(a_trec=STRICT, qrels_txt=QRELS))
    page = opened("data", data=library.rename(record.id, "Reranking").label)
    key = next(field.key for field in page.text_input if str(field.key).startswith(f"name-{record.id}"))
    emptied = page.text_input(key=key).set_value("").run().text_input(key=key)
    assert emptied.value == "Reranking"
    assert library.find(record.id).name == "Reranking"


def test_undo_restores_a_board_and_a_session_upload_leaves_nothing(library):
    page = opened("data")
    next(toggle for toggle in page.toggle if toggle.label == "This session only").set_value(True).run()
    uploads = [("a.trec", RUN.encode(), "text/plain"), ("qrels.txt", QRELS.encode(), "text/plain")]
    page.file_uploader(key="upload").set_value(uploads).run()
    assert page.selectbox(key="data").value.startswith("a · ")
    assert (library.boards(), library.uploads()) == ([], [])
    assert go_to_data(page).toggle(key="only-here").value
    press(page, "Keep")
    assert [button.label for button in page.button if button.label == "Duplicate"]
    assert len(library.uploads()) == 2
    press(page, "Delete")
    assert "Sample" in page.selectbox(key="data").value
    page.switch_page("views/leaderboard.py").run()
    press(page, "Undo")
    assert page.selectbox(key="data").value.startswith("a · ")
    assert page.query_params["data"] == only(library.boards()).id
    assert "1 reranker, 4 queries." in texts(page)


def test_a_board_keeps_its_further_scores_tie_breaks_and_criteria(library):
    rows = "query_id,doc_id,score,fresh,second,relevance\nq,a,1,3,0,0\nq,b,1,2,1,1\n"
    record = library.keep(board(split_csv=rows))
    library.save_view(record.id, {"tiebreak": ["fresh"], "criteria": ["score", "second:asc"]})
    page = opened("leaderboard", data=record.label)
    tie_breaks = page.multiselect(key="tiebreak")
    assert (tie_breaks.options, tie_breaks.value) == (["fresh", "second"], ["fresh"])
    assert page.multiselect(key="criteria").value == ["score", "second:asc"]
