"""Files dropped on the Runs page: what is in the way is said, mended where it is said, and nothing is lost."""

import json

import pytest
from boards import COARSE, QRELS, STRICT
from opening import drop, go_to_data, opened, plain, said, table, texts, title

TABLE = "model;topic;passage_id;punkte;secs\n" + "".join(
    f"upload;q{query};d{document};{(query + document) % 3};0.{document}\n"
    for query in range(4)
    for document in range(5)
)


def column(page, name):
    """Where a column of ours is chosen among those of the file, the first such place."""
    return next(box for box in page.selectbox if box.label == name)


def choose(page, name, value):
    """Choose the file's column for one of ours, and apply it."""
    column(page, name).set_value(value).run()
    return (
        next(button for button in page.button if button.label == "Apply" and not button.disabled).click().run()
    )


def show_columns(page):
    """The section with the columns of a file that is loaded."""
    return go_to_data(page).segmented_control(key="section").set_value("Columns").run()


def board_name(page):
    return page.selectbox(key="data").value


def headings(page):
    """What stands over the columns of the tables of a page."""
    columns = [json.loads(frame.proto.columns or "{}") for frame in page.dataframe]
    return [settings.get("label") for frame in columns for settings in frame.values()]


def test_json_that_is_dropped_is_parsed_once(monkeypatch):
    record = '{"query_id": "q%d", "doc_id": "d", "score": 1, "relevance": 1, "MRR": 1}'
    text = f"[{','.join(record % n for n in range(5_000))}]"
    decode, lengths = json.JSONDecoder.raw_decode, []

    def note(decoder, text, idx=0):
        lengths.append(len(text))
        return decode(decoder, text, idx)

    page = opened("data")
    monkeypatch.setattr(json.JSONDecoder, "raw_decode", note)
    drop(page, run_json=text)
    assert board_name(page).startswith("run · ")
    assert lengths.count(len(text)) == 1


def test_a_column_no_name_tells_is_chosen_where_it_is_missed():
    text = TABLE.replace(";secs", ";stimmen")
    page = drop(opened("data"), table_csv=text, qrels_txt=QRELS)
    assert "no score column" in said(page)
    assert column(page, "query_id").value == "topic"
    column(page, "score").set_value("punkte").run()
    assert "First row: query_id q0, doc_id d0, score 0" in plain(texts(page)), "before it is applied"
    choose(page, "score", "punkte")
    assert board_name(page).startswith("upload · ")
    assert said(page) == ""
    assert "score ← punkte" in headings(show_columns(page))


@pytest.mark.parametrize("order", [("query_id", "doc_id"), ("doc_id", "query_id")])
def test_ids_of_a_header_that_says_nothing_are_chosen_and_the_values_tell_the_other_columns(order):
    rows = [
        f"q{query} d{document} {document % 3} {int(query == document)}"
        for query in range(4)
        for document in range(5)
    ]
    lines = ["sujet pièce points jugé", *rows]
    page = drop(opened("data"), mine_txt="\n".join(lines).replace(" ", ";"))
    for name in order:
        assert said(page)
        choose(page, name, {"query_id": "sujet", "doc_id": "pièce"}[name])
        assert not page.exception, page.exception
    assert said(page) == ""
    assert board_name(page).startswith("mine · ")
    assert {"score ← points", "relevance ← jugé"} <= set(headings(show_columns(page)))


def test_a_column_is_changed_while_a_refused_file_lies_in_the_field():
    page = drop(opened("data"), table_csv=TABLE.replace("punkte", "score"), qrels_txt=QRELS)
    drop(page, junk_txt="hello\n")
    assert "found 1 field." in said(page)
    choose(show_columns(page), "score", "secs")
    assert not page.exception, page.exception
    assert "score ← secs" in headings(page)


def test_changing_a_column_of_a_loaded_file_keeps_the_address_of_the_board():
    page = drop(opened("data"), table_csv=TABLE.replace("punkte", "score"), qrels_txt=QRELS)
    address = page.query_params["data"]
    choose(show_columns(page), "score", "secs")
    assert "score ← secs" in headings(page)
    assert page.query_params["data"] == address


def test_preferences_are_scored_by_pairs_won():
    rows = [f"q{query},d0,d1,a\nq{query},d1,d2,a\nq{query},d2,d0,a" for query in range(4)]
    page = drop(opened("data"), pairs_csv="\n".join(["query,a,b,preferred", *rows]), qrels_txt=QRELS)
    assert "score ← copeland" in headings(show_columns(page))


@pytest.mark.parametrize(("key", "rule"), [("keep-first", "the first"), ("keep-max", "the highest score")])
def test_repeated_documents_are_settled_by_a_button(key, rule):
    page = drop(opened("data"), coarse_trec=COARSE + "q0 Q0 d1 9 7 upload\n", qrels_txt=QRELS)
    assert "listed twice" in said(page)
    page.button(key=key).click().run()
    assert board_name(page).startswith("coarse · ")
    assert f"{rule} is kept" in texts(page)


def test_two_files_of_one_name_are_two_runs_which_is_said_in_one_line():
    files = [("results.csv", TABLE.replace("punkte", "score").encode(), ""), ("qrels.txt", QRELS.encode(), "")]
    files.insert(1, (files[0][0], files[0][1].replace(b"0.1", b"0.7"), ""))
    page = opened("data")
    page.file_uploader(key="upload").set_value(files).run()
    assert not page.exception
    assert set(table(page, "All rerankers")["reranker"]) == {"upload (1)", "upload (2)"}
    captions = [caption.value for caption in go_to_data(page).caption if "named by file" in caption.value]
    assert len(captions) == 1


def test_rows_can_be_pasted():
    page = opened("data")
    page.text_area(key="paste").set_value("query_id,doc_id,score,relevance\nq,a,1,1\nq,b,1,0\n").run()
    assert board_name(page).startswith("pasted · ")


WRONG = {
    "picture_csv": (b"\x89PNG\r\n\x1a\n\x00\x00", ", line 1: this is a PNG picture"),
    "empty_trec": (b"", ": the file is empty"),
    "bare_csv": (b"query_id,doc_id,text\n1,2,x\n", ", line 1: no score column"),
    "word_trec": (b"1 Q0 a 1 0.5 t\n1 Q0 b 2 high t\n", ", line 2: score 'high' is not a number"),
}


def test_a_wrong_file_is_named_with_its_line_and_loses_nothing():
    page = drop(opened("data"), strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS)
    name, address = board_name(page), dict(page.query_params)
    assert name.startswith("strict vs coarse · ")
    for file, (content, message) in WRONG.items():
        drop(page, **{file: content})
        assert f"{file.replace('_', '.')}{message}" in said(page)
        assert (board_name(page), dict(page.query_params)) == (name, address)
    assert set(table(opened("leaderboard", **address), "All rerankers")["reranker"]) == {"strict", "coarse"}


BROKEN = {"bad_json": '{"q0": ', "header_csv": "query_id,doc_id,score\n"}
BOTH_BROKEN = ("bad.json, line 1", "header.csv, line 1: the file has only a header")


@pytest.mark.parametrize("is_addition", [True, False])
def test_every_unreadable_file_is_named_and_a_button_reads_the_others(is_addition):
    page = drop(opened("data"), strict_trec=STRICT, qrels_txt=QRELS)
    go_to_data(page).toggle(key="add").set_value(is_addition).run()
    drop(page, strict_trec=STRICT, qrels_txt=QRELS, **BROKEN, coarse_trec=COARSE)
    assert [text in said(page) for text in BOTH_BROKEN] == [True, True]
    button = page.button(key="without-errors")
    assert plain(button.label) == "Continue without bad.json, header.csv"
    button.click().run()
    assert (said(page), board_name(page).partition(" · ")[0]) == ("", "strict vs coarse")


CASES = [
    ("query", "passage", "grade", "relevant"),
    *(
        (f"query {query}", f"d{query}{document}", (query * document) % 4, int(query == document % 3))
        for query in range(1, 4)
        for document in range(4)
    ),
]


def csv(columns, *, flip=False):
    places = [CASES[0].index(name) for name in columns]
    head, *body = [[row[place] for place in places] for row in CASES]
    body = [[*row[:2], 3 - row[2], *row[3:]] if flip else row for row in body]
    return "\n".join(",".join(map(str, row)) for row in [head, *body])


ALONE = ("query", "passage", "grade")
GRADES = {"old_csv": csv(ALONE), "new_csv": csv(ALONE, flip=True)}


def test_grades_beside_relevance_or_with_labels_lead_to_the_leaderboard_which_says_how_they_were_read():
    labels = csv(("query", "passage", "relevant"))
    beside = {"old_csv": csv(CASES[0]), "new_csv": csv(CASES[0], flip=True)}
    for files in (beside, GRADES | {"labels_csv": labels}):
        page = drop(opened("data"), **files)
        assert (said(page), title(page)) == ("", "Leaderboard")
        assert set(table(page, "All rerankers")["reranker"]) == {"old", "new"}
        assert "grade is read as the score" in plain(texts(page))
        others = ", new.csv" if len(files) == 2 else " and 2 more"
        assert f"from old.csv{others}" in plain(texts(page))
        page.button(key="check-data").click().run()
        assert (title(page), board_name(page).partition(" · ")[0]) == ("Data", "old vs new")
        assert not page.toggle(key="add").value


def test_more_files_are_added_to_the_board_from_the_leaderboard():
    page = opened("leaderboard", data=drop(opened("data"), old_csv=csv(CASES[0])).query_params["data"])
    page.button(key="drop-data").click().run()
    assert page.toggle(key="add").value
    drop(page, new_csv=csv(CASES[0], flip=True))
    assert set(table(page, "All rerankers")["reranker"]) == {"old", "new"}


ELSEWHERE = {
    f"{name}_{ending}": text.replace("q", "t")
    for name, ending, text in (("other", "trec", COARSE), ("gold", "txt", QRELS))
}


def test_files_that_share_no_query_with_the_board_open_as_a_board_of_their_own():
    page = drop(opened("data"), strict_trec=STRICT, qrels_txt=QRELS)
    address = page.query_params["data"]
    go_to_data(page).toggle(key="add").set_value(True).run()
    drop(page, **ELSEWHERE)
    question = "other.trec, gold.txt and **strict** share no query: the files have 't0', the board has 'q0'."
    assert question in plain(texts(page))
    assert page.query_params["data"] == address
    page.button(key="open-apart").click().run()
    assert (said(page), title(page)) == ("", "Leaderboard")
    assert table(page, "All rerankers")["reranker"].to_list() == ["other"]


def test_files_that_share_no_query_with_the_board_are_added_only_on_request():
    page = drop(opened("data"), strict_trec=STRICT, qrels_txt=QRELS)
    go_to_data(page).toggle(key="add").set_value(True).run()
    drop(page, other_trec=ELSEWHERE["other_trec"])
    page.button(key="add-anyway").click().run()
    assert title(page) == "Leaderboard"
    cause = "The judgments seem to belong to another collection."
    message = f"No query of the run is judged: it has 't0', the judgments have 'q0'. {cause}"
    assert said(page) == f"**other.trec**: {message}"
    page.button(key="check-data").click().run()
    assert title(page) == "Data"


def test_a_board_without_judgments_shows_ties_and_agreement_and_asks_for_judgments_elsewhere():
    page = drop(opened("data"), **GRADES)
    assert (said(page), board_name(page).partition(" · ")[0]) == ("", "old vs new")
    address = {"data": page.query_params["data"]}
    page = opened("rerankers", **address)
    assert set(table(page, "Ties")["reranker"]) == {"old", "new"}
    assert len(table(page, "Agreement")) == 1
    for name in ("leaderboard", "ties", "query", "compare", "audit", "share", "present"):
        page = opened(name, **address)
        assert "Nothing says which documents are relevant" in texts(page)
        assert not page.dataframe
    next(button for button in page.button if button.label == "Add judgments").click().run()
    page.switch_page("views/data/data.py").run()  # AppTest would draw the page before again
    assert page.toggle(key="add").value
    drop(page, labels_csv=csv(("query", "passage", "relevant")))
    assert set(table(page, "All rerankers")["reranker"]) == {"old", "new"}


def test_judgments_that_are_dropped_alone_are_added_to_the_board_by_a_button():
    labels = csv(("query", "passage", "relevant"))
    page = drop(opened("data"), labels_csv=labels)
    columns = "query, passage, relevant and no score column, so it is read as judgments."
    assert f"labels.csv has {columns} Give a run: a file" in said(page)
    assert "add-judgments" not in {button.key for button in page.button}  # there is only the sample
    page = drop(opened("data"), **GRADES)
    assert "nothing can be scored before you add judgments" in plain(texts(page))
    page = drop(opened("data", data=page.query_params["data"]), labels_csv=labels)
    page.button(key="add-judgments").click().run()
    assert (said(page), title(page)) == ("", "Leaderboard")
    assert set(table(page, "All rerankers")["reranker"]) == {"old", "new"}


def test_columns_that_may_be_either_are_asked_for_once_and_nothing_of_the_sample_is_shown():
    rows = [("query", "passage", "ada", "grace"), *((*row[:3], row[3] + 1) for row in CASES[1:])]
    page = drop(opened("data"), both_csv="\n".join(",".join(map(str, row)) for row in rows))
    assert "which of ada, grace is the score" in said(page)
    assert "see-results" not in {button.key for button in page.button}
    assert "--" not in plain(texts(page))
    page.button(key="reading-1").click().run()
    assert (said(page), title(page), board_name(page).partition(" · ")[0]) == ("", "Data", "both")
    assert "grace is read as the score and ada as the relevance" in plain(texts(page))


def test_an_error_shows_nothing_of_the_sample_and_no_options_of_commands():
    page = drop(opened("data"), llm_csv="query_id,doc_id,score,relevance\nq,a,Error code: 429,1\nq,b,2,0\n")
    assert "'Error code: 429' is not a number" in said(page)
    assert "--" not in said(page)
    assert "see-results" not in {button.key for button in page.button}
    page.button(key="missing-last").click().run()
    assert board_name(page).startswith("llm · ")


def test_grades_in_which_files_disagree_may_be_scored_before_one_is_kept():
    graded = {"a_csv": csv(ALONE), "b_csv": csv(ALONE, flip=True), "strict_trec": STRICT}
    page = drop(opened("data"), **graded)
    keys = [button.key for button in page.button]
    assert keys.index("score-grades") < keys.index("keep-first")
    page.button(key="score-grades").click().run()
    assert (said(page), board_name(page).partition(" · ")[0]) == ("", "a, b, strict")


@pytest.mark.parametrize("is_private", [False, True])
def test_an_upload_whose_page_was_closed_is_offered_again_unless_it_was_for_that_session_only(
    monkeypatch, is_private
):
    monkeypatch.setattr("dashboard.boards.session_id", lambda: "first")
    page = opened("data")
    page.toggle(key="only-here").set_value(is_private).run()
    drop(page, waits_csv="hello\n")
    assert said(page), "it waits"
    monkeypatch.setattr("dashboard.boards.session_id", lambda: "second")
    monkeypatch.setattr("dashboard.boards.is_active_session", lambda _: False)
    again = opened("data")
    assert ("waits.csv" in texts(again)) == (not is_private)
    assert [button.key for button in again.button].count("read-interrupted") == (not is_private)
