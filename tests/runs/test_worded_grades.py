import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import columns, refusal

from metrics import read_runs
from metrics.runs import File, read
from metrics.runs.worded_grades import parse_grade

HEADER = "query_id,doc_id,answer\n"
ANSWERS = f'{HEADER}q,a,Score: 7/10\nq,b,"**Relevance: 3**, for it is long"\nq,c,I cannot say.\nq,d,5\n'


@pytest.mark.parametrize(
    ("text", "value", "scale"),
    [
        ("Score: 7/10", 7, 10),
        ("**Relevance: 3**", 3, None),
        ("I'd rate this 2.", 2, None),
        ("7", 7, None),
        ("Score - 4", 4, None),
        ("score: -2", -2, None),
        ("The score is 3 out of 5.", 3, 5),
        ("80%", 80, 100),
        ("(4)", 4, None),
        ("[[7]]", 7, None),
        ("3 of 5.", 3, 5),
        ("relevance_score=2", 2, None),
        ('```json\n{"value": 4, "why": "it names 3 of 4 facts"}\n```', 4, None),
        ("Relevance score: 0.75 (0-1)", 0.75, None),
        ('{"score": 3}', 3, None),
        ("Score: 3. I repeat: score 3", 3, None),
        ("<think>perhaps 2</think>Score: 3", 3, None),
        ("Relevance: 3 of 3, on topic 7", 3, 3),
    ],
)
def test_a_grade_is_a_number_alone_or_after_a_label_or_in_json(text, value, scale):
    assert parse_grade(text) == (value, scale)


@pytest.mark.parametrize(
    "text",
    [
        *("", "no", "between 2 and 3", "Score: 1-3", "Score: 3 or 4", "12:30", "2026-11-22", "1,000", "v2"),
        *("Rating: 3. Final rating: 2", "3 of 4 and 5 of 6", "x_1", "1e5x", "Score: high"),
        *("Error code: 429 - rate limit exceeded", "Error 429: rate 60 per minute", "429 Too Many Requests"),
        *("Timed out after 30 seconds", "HTTP 503", '{"error": "overloaded", "code": 529}', "GPT-4 says 3"),
    ],
)
def test_errors_several_numbers_ranges_and_other_texts_are_no_grade(text):
    assert parse_grade(text) is None


@given(
    st.integers(-50, 50) | st.floats(-10, 10).map(lambda value: round(value, 3)),
    st.sampled_from(
        ["Score: {}", "**Relevance: {}**", "I'd rate this {}.", "Rating is {}/100", "{}", "Grade = {}\n"]
    ),
)
def test_a_grade_reads_back_from_the_words_around_it(value, words):
    grade = parse_grade(words.format(f"{value:f}".rstrip("0").rstrip(".") if value % 1 else int(value)))
    assert grade is not None
    assert grade.value == value


def test_what_holds_no_grade_is_refused_with_its_line_and_value():
    error = str(refusal(ANSWERS.encode()))
    assert "line 4: score 'I cannot say.' is not a number (column 'answer')" in error


@pytest.mark.parametrize(("rule", "last"), [("last", [7, 3, float("-inf"), 5]), ("drop", [7, 3, 5])])
def test_what_holds_no_grade_goes_the_way_of_missing_scores_counted(rule, last, tmp_path):
    (tmp_path / "llm.csv").write_text(ANSWERS)
    (tmp_path / "qrels").write_bytes(b"q 0 a 1\n")
    runs = read_runs(tmp_path / "llm.csv", tmp_path / "qrels", missing_score=rule)
    assert runs.tables["llm"]["score"].to_pylist() == last
    counts = dict(zip(runs.findings["code"], runs.findings["count"], strict=True))
    assert (counts["scores-missing"], counts["grades-in-words"]) == (1, 2)


def test_what_grades_are_said_to_be_out_of_is_compared():
    file = f"{HEADER}q,a,7/10\nq,b,3/5\nq,c,2/10\n".encode()
    noted = {one.code: one for one in read(File("llm.csv", file)).noted}
    assert noted["grades-scales"].count == 3
    assert "out of 5, 10" in noted["grades-scales"].message
    assert "grades-scales" not in {one.code for one in read(File("llm.csv", file.replace(b"3/5", b"3"))).noted}


def test_answers_stand_in_a_column_of_scores_and_in_json_too():
    assert columns(ANSWERS.replace("answer", "score").replace("I cannot say.", "1").encode())["score"] == [
        7,
        3,
        1,
        5,
    ]
    records = [
        {"query_id": "q", "doc_id": "a", "response": "Score: 7"},
        {"query_id": "q", "doc_id": "b", "response": 2},
    ]
    for text in (json.dumps(records), "\n".join(map(json.dumps, records))):
        assert columns(text.encode())["score"] == [7, 2]


def test_the_example_of_grades_in_words_is_a_row_of_the_rarest_form():
    rows = "".join(f"q,d{number},Score: {number}\n" for number in range(5))
    (finding,) = read(File("llm.csv", f'{HEADER}{rows}q,odd,"Rating: 9, of 3 pages"\n{rows}'.encode())).noted
    assert (finding.line, "'Rating: 9, of 3 pages' is read as 9" in finding.message) == (7, True)


def test_a_score_column_precedes_answers_and_worded_judgments_stay_judgments():
    assert columns(b"query_id,doc_id,answer,score\nq,a,Score: 7,0.5\n")["score"] == [0.5]
    judged = read(File("qrels.csv", b"query_id,doc_id,relevance,answer\nq,a,1,yes it is\n"))
    assert judged.kind == "qrels"
    assert read(File("llm.csv", b"query_id,doc_id,relevance,answer\nq,a,1,Score: 2\n")).kind == "run"


@pytest.mark.parametrize("piece", ["score ", "score is of as at ", "score:", "1 to ", "1 - ", " ", "-", "1"])
def test_a_long_text_takes_no_square_of_work(piece):
    assert parse_grade(piece * 50_000 + "x") is None
