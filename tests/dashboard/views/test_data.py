"""Data: long work is seen and can be cancelled, and what is odd is said by kind."""

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Semaphore

import numpy as np
import pytest
import streamlit as st
from boards import COARSE, QRELS, STRICT, board
from opening import go_to_data, opened, plain, texts

from dashboard import cache, long_work
from dashboard.library import turns
from dashboard.library.boards import Entry, make_board, open_files
from metrics.runs import File

MARK = "q0 Q0 long-work 9 0 t\n"


def dropped(page):
    files = [("strict.trec", STRICT + MARK), ("coarse.trec", COARSE + MARK), ("qrels.txt", QRELS)]
    page.file_uploader(key="upload").set_value([(name, text.encode(), "text/plain") for name, text in files])
    return page


@pytest.fixture
def steps(monkeypatch):
    """What is drawn while the page works, in the order of its drawing."""
    drawn = []

    class Watched(long_work.Step):
        @property
        def part(self):
            drawn.append(f"{self.task} {super().part}")
            return super().part

    listening = long_work.listening
    monkeypatch.setattr(
        long_work, "listening", lambda listener: listening(lambda step: listener(Watched(**vars(step))))
    )
    return drawn


def test_files_are_read_joined_and_scored_in_sight_and_scored_once(monkeypatch, steps):
    page, score_runs, scored = opened("data"), cache.score_runs, []
    monkeypatch.setattr(cache, "score_runs", lambda *args: scored.append(args) or score_runs(*args))
    dropped(page).run()
    assert page.selectbox(key="data").value.startswith("strict vs coarse · ")
    assert steps[:3] == [
        "Reading 1 of 3: strict.trec",
        "Reading 2 of 3: coarse.trec, 21 rows so far",
        "Reading 3 of 3: qrels.txt, 42 rows so far",
    ]
    assert [step.partition(" ")[0] for step in steps[3:]] == ["Joining"]
    assert [measures for _, measures, *_ in scored].count(cache.MEASURES) == 1


def test_one_large_read_serves_others_and_the_next_waits_in_sight(monkeypatch, steps):
    is_reading, may_end, begin_step = Event(), Event(), turns.begin_step

    class Slow(Entry):
        def read(self):
            is_reading.set()
            assert may_end.wait(60)
            return super().read()

    def end_first(*step):
        begin_step(*step)
        may_end.set()

    monkeypatch.setattr(cache, "DEAR_BYTES", 1)
    monkeypatch.setattr(turns, "_free_turns", functools.cache(lambda: Semaphore(1)))
    monkeypatch.setattr(turns, "_SECONDS", 0.01)
    monkeypatch.setattr(turns, "begin_step", end_first)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(cache.read_entry, Slow(File("first.trec", STRICT.encode())))
        assert is_reading.wait(60)
        third = opened("data")  # what is small is served at once
        assert not first.done()
        uploads = [("third.trec", STRICT + MARK * 1), ("qrels.txt", QRELS + "q3 0 third 0\n")]
        files = [(name, text.encode(), "text/plain") for name, text in uploads]
        third.file_uploader(key="upload").set_value(files).run()
        assert len(first.result(60).table) == 20
    assert "Waiting for other visitors' work" in steps
    assert third.selectbox(key="data").value.startswith("third · ")


def test_cancel_leaves_what_was_loaded_before_and_the_files_can_be_read_again(monkeypatch):
    page, button, join_runs, pressed = opened("data"), st.button, cache.join_runs, []

    def note_press(label, *args, **options):
        if label == "Cancel":
            pressed.append(lambda: options["on_click"](*options["args"]))
        return button(label, *args, **options)

    def cancel_while_joining(*_):
        pressed[-1]()
        st.rerun()

    monkeypatch.setattr(st, "button", note_press)
    monkeypatch.setattr(cache, "join_runs", cancel_while_joining)
    before, kept = page.selectbox(key="data").value, len(cache.open_library().boards())
    page.file_uploader(key="upload").set_value(
        [("one.trec", (STRICT + MARK * 1).encode(), "text/plain"), ("qrels.txt", QRELS.encode(), "text/plain")]
    ).run()
    assert not page.exception
    assert page.selectbox(key="data").value == before
    assert len(cache.open_library().boards()) == kept
    assert "Cancelled. Nothing was added." in texts(page)
    page.run()
    assert page.selectbox(key="data").value == before
    monkeypatch.setattr(cache, "join_runs", join_runs)
    page.button(key="read-again").click().run()
    assert page.selectbox(key="data").value.startswith("one · ")
    assert "Cancelled" not in texts(page)


ANSWERS = "query_id,doc_id,score,relevance\n" + "".join(
    f"q{query},d{document},{'N/A' if document == query else document % 3},{int(document == 1)}\n"
    for query in range(4)
    for document in range(5)
)


def test_scores_that_are_no_numbers_are_counted_and_put_last_or_dropped_by_a_button():
    page = opened("data")
    page.file_uploader(key="upload").set_value([("answers.csv", ANSWERS.encode(), "text/csv")]).run()
    assert "'N/A' is not a number" in plain(page.error[0].value)
    assert "Documents without a numeric score in answers.csv:" in plain(texts(page))
    page.button(key="missing-last").click().run()
    assert not page.exception
    assert page.selectbox(key="data").value.startswith("answers · ")
    assert "answers.csv: Documents without a score, ranked last" in texts(page).replace("*", "")
    page.button(key="fix-scores-missing").click().run()
    assert "Documents without a score, dropped: 4 of 20" in texts(page)
    cache.loaded_boards.clear()
    kept = opened("data", data=page.query_params["data"])  # read from the library, where the choice is kept
    assert "Documents without a score, dropped: 4 of 20" in texts(kept)


def test_shared_findings_appear_once_with_information_folded():
    page = opened("data")
    said = texts(page).replace("*", "")
    assert "3 runs: file order inside ties depends on relevance." in said
    assert "8 runs: 12 of 200 queries have no document of grade 1 or more" in said
    folded = {expander.label: expander.proto.expanded for expander in page.expander}
    label = next(
        label for label in folded if label.startswith("For the record: queries without relevant documents")
    )
    assert not folded[label]


def test_findings_use_the_threshold_of_the_board():
    judged = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\nq2 0 d2 0\n"
    label = cache.loaded_boards().add(board(strict_trec=STRICT, qrels_txt=judged)).label
    without = "1 of 2 queries has no document of grade 2 or more"
    assert without not in texts(opened("data", data=label))
    assert without in texts(opened("data", data=label, relevant_from="2"))


RANDOM = np.random.default_rng(3)
ODD = "".join(  # each reranker is odd in its own way
    f"{name},q{query},d{document},{score(query, document)},{int(document == 1)}\n"
    for name, score in {
        "halves": lambda _, document: document / 1024,
        "constant": lambda *_: 1,
        "rounded": lambda _, document: 0.1 * (document // 2),
        "saturated": lambda _, document: min(1, max(0, document / 4 - 1)),
        "noisy": lambda query, document: 0.3 + 1e-17 * document + query,
        "missing": lambda query, _: RANDOM.random() if query else 0.5,
        "infinite": lambda _, document: "inf" if document < 3 else RANDOM.random(),
    }.items()
    for query in range(30)
    for document in range(24)
    if (name, query) != ("missing", 4)
)


def test_ten_findings_at_most_are_open_and_files_and_board_are_folded():
    page = opened("data")
    odd = [("odd.csv", f"reranker,query_id,doc_id,score,relevance\n{ODD}".encode(), "text/csv")]
    page.file_uploader(key="upload").set_value(odd).run()
    assert not go_to_data(page).exception
    hidden = {id(node) for expander in page.expander for node in expander.markdown}
    hints = [node.value for node in page.main.markdown if id(node) not in hidden and ":gray[" in node.value]
    assert 1 <= sum(2 * (node.count("  \n") == 1) for node in hints) <= 10
    assert "**odd.csv**" in [plain(node.value) for node in page.main.markdown if id(node) not in hidden]
    quiet = opened("data", data=cache.loaded_boards().add(board(a_csv=PLAIN)).label)
    labels = {expander.label.partition(":")[0]: expander.proto.expanded for expander in quiet.expander}
    assert labels["1 file read without a warning, 80 rows"] is False
    assert any(label.startswith("Board ") for label in labels)
    assert not quiet.warning
    assert quiet.button(key="see-results").click().run().title[0].value == "Leaderboard"


PLAIN = "query_id,doc_id,score,relevance\n" + "".join(
    f"q{query},d{document},{RANDOM.random()},{int(document == 1)}\n"
    for query in range(8)
    for document in range(10)
)


def test_data_has_the_upload_field_until_the_file_of_the_command_can_be_read(monkeypatch, tmp_path):
    table, header = tmp_path / "emptied.csv", "query_id,doc_id,score,relevance\n"
    table.write_text(header)
    monkeypatch.setattr("dashboard.cache.command_board", lambda: open_files([table], None))
    page = opened("data")
    assert "emptied.csv, line 1: the file has only a header" in texts(page, "warning")
    assert page.selectbox(key="data").value == cache.SAMPLE_LABEL
    assert page.file_uploader(key="upload").label.startswith("Drop runs and judgments")
    table.write_text(f"{header}q,a,1,1\n")
    page = opened("data")
    assert page.selectbox(key="data").value.startswith("emptied · ")
    assert not page.warning


def test_a_reranker_that_is_left_out_stays_in_the_table_and_can_be_shown_again():
    whole = board(a_trec=STRICT, b_trec=COARSE, qrels_txt=QRELS)
    part = make_board(replace(whole.spec, names=(("b", "the second"),)), whole.sources)
    page = opened("data", data=cache.loaded_boards().add(part).label, section="Rerankers")
    rows = page.dataframe[0].value
    assert rows[["shown", "name", "file"]].to_numpy().tolist() == [
        [True, "the second", "b.trec"],
        [False, "a", "a.trec"],
    ]
