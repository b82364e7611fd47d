"""JSON: an array of records, a record a line, and scores by query and document."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import QRELS, RUN, columns, refusal

from metrics import ReadError, Runs, TieScopeError, evaluate, read_runs
from metrics.runs import File, read

ROW = {"query_id": "q", "doc_id": "d", "score": 1}
SHAPES = {
    "records": json.dumps,
    "records over many lines": lambda records: json.dumps(records, indent=4),
    "a record a line": lambda records: "\n".join(map(json.dumps, records)),
    "a record a line, apart": lambda records: "\n\n".join(map(json.dumps, records)) + "\n \n",
}
IN_ANY_SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
IN_EITHER_SHAPE = pytest.mark.parametrize(
    ("shape", "unit"),
    [(SHAPES["records"], "record"), (SHAPES["a record a line"], "line")],
    ids=["array", "lines"],
)


def records(shape, *rows, **choice):
    return columns(shape([ROW | row for row in rows]).encode(), **choice)


@IN_ANY_SHAPE
def test_records_may_name_their_columns_in_any_order(shape):
    rows = [ROW | {"doc_id": "a"}, dict(reversed((ROW | {"doc_id": "b"}).items()))]
    assert columns(shape(rows).encode()) == {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1, 1]}


@IN_ANY_SHAPE
@given(
    ids=st.lists(
        st.integers() | st.sampled_from([0.5, 1e300, 2.0, 1e16]) | st.booleans() | st.text(min_size=1),
        min_size=2,
    ).filter(lambda ids: any(isinstance(one, str) for one in ids))
)
def test_ids_of_which_some_are_texts_are_the_text_that_stands_there(shape, ids):
    doc_ids = records(shape, *[{"doc_id": one} for one in ids])["doc_id"]
    assert doc_ids == [one if isinstance(one, str) else json.dumps(one) for one in ids]


@IN_ANY_SHAPE
def test_decimal_numbers_as_ids_are_read_as_whole_ones_with_a_finding(shape):
    source = read(File("f", shape([ROW | {"doc_id": 1.0}, ROW | {"doc_id": 20.0}]).encode()))
    assert source.table["doc_id"].to_pylist() == ["1", "20"]
    assert [(one.code, one.count) for one in source.noted] == [("ids-from-numbers", 2)]


@IN_EITHER_SHAPE
@pytest.mark.parametrize("bad", [1.5, math.nan, math.inf, -math.inf, 1e300])
def test_a_number_that_is_no_id_is_refused_by_its_place(shape, unit, bad):
    error = refusal(shape([ROW | {"doc_id": 1.0}, ROW | {"doc_id": bad}]).encode(), "run.json")
    assert str(error).startswith(f"run.json, {unit} 2: ")


@IN_ANY_SHAPE
@pytest.mark.parametrize(
    ("column", "written", "values"),
    [
        ("doc_id", [2**53 + 1, 1.0], [str(2**53 + 1), "1.0"]),
        ("relevance", [True, False], [1, 0]),
        ("relevance", [2, 0.5], [2, 0.5]),
        ("relevance", ["true", False], [1, 0]),
        ("score", ["0.1", math.inf, 10**400], [0.1, math.inf, math.inf]),
    ],
)
def test_values_of_several_types_are_read_as_ids_grades_and_scores(shape, column, written, values):
    assert records(shape, *[{column: value} for value in written])[column] == values


@IN_ANY_SHAPE
def test_other_columns_of_numbers_are_kept_if_every_record_has_them(shape):
    rows = [
        ROW | {"second": 1, "third": 2.5, "some": 1, "note": "x"},
        ROW | {"second": 2, "third": 1, "note": 2},
    ]
    source = read(File("f", shape(rows).encode()))
    assert source.table.column_names == ["query_id", "doc_id", "score", "second", "third"]
    assert source.unused == ("some", "note")


@IN_EITHER_SHAPE
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"score": math.nan}, "score nan"),
        ({"score": None}, "score None"),
        ({"score": "high"}, "score 'high'"),
        ({"relevance": "maybe"}, "relevance 'maybe'"),
        ({"doc_id": None}, "doc_id is empty"),
        ({"query_id": ""}, "query_id is empty"),
        ({"doc_id": [1]}, "doc_id holds [1]"),
        ({"score": {"bm25": 1}}, 'score holds {"bm25": 1}'),
    ],
)
def test_a_faulty_record_is_named_by_its_place(shape, unit, bad, words):
    rows = [ROW | {"relevance": 1}, ROW | {"doc_id": "e", "relevance": 1} | bad]
    error = refusal(shape(rows).encode(), "run.json")
    assert str(error).startswith(f"run.json, {unit} 2: ")
    assert words in str(error)


@IN_EITHER_SHAPE
@pytest.mark.parametrize("bad", [1, None, True, "x", [ROW], []])
def test_what_is_no_record_is_named_by_its_place(shape, unit, bad):
    error = refusal(shape([ROW, bad]).encode(), "run.json")
    assert str(error).startswith(f"run.json, {unit} 2: {json.dumps(bad)[:40]}")


def test_blank_lines_between_records_count():
    text = "\n\n" + json.dumps(ROW) + "\n\r\n\n" + json.dumps(ROW | {"score": "x"})
    assert refusal(text.encode()).line == 6


@pytest.mark.parametrize("cut", range(1, len(json.dumps([ROW, ROW]))))
def test_an_array_cut_short_is_refused_as_no_json(cut):
    error = refusal(json.dumps([ROW, ROW])[:cut].encode(), "run.json")
    assert error.file == "run.json"
    assert error.line == 1


@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_line_that_is_no_json_is_named(line):
    lines = [json.dumps(ROW | {"doc_id": str(n)}) for n in range(3)]
    lines[line - 1] = lines[line - 1][:-1] if line > 1 else lines[0] + "}"
    assert refusal("\n".join(lines).encode()).line == line


@pytest.mark.parametrize("text", ["[]", "{}", "[{}]", "{}\n{}", " [\n] "])
def test_json_without_records_is_refused(text):
    assert "no record" in str(refusal(text.encode(), "run.json"))


TWICE = ['[{"query_id": "q", "doc_id": "d", "doc_id": "e", "score": 1}]', '{"q": {"d": 1.5, "e": 1, "d": 2}}']


@pytest.mark.parametrize(("text", "name"), [(TWICE[0], "doc_id"), (TWICE[1], "d"), (TWICE[0][1:-1], "doc_id")])
def test_a_name_twice_in_one_object_is_refused_rather_than_one_taken(text, name):
    assert f"'{name}'" in str(refusal(text.encode(), "run.json"))


SURROGATE = "\ud800"


@pytest.mark.parametrize(
    "value",
    [
        *([ROW | {name: SURROGATE}] for name in ("query_id", "doc_id", "score", "relevance", "segment")),
        *([ROW | {SURROGATE: value}] for value in (1, "x")),
        [ROW | {"doc_id": [SURROGATE]}],
        {SURROGATE: {"d": 1.5}},
        {"q": {SURROGATE: 1.5}},
        {"q": {"d": SURROGATE}},
    ],
    ids=str,
)
def test_half_a_letter_is_read_past_or_refused_in_words_that_can_be_shown(value):
    try:
        runs = Runs.from_sources([read(File("run.json", json.dumps(value).encode()))], judged=False)
        message = "".join(runs.findings["message"])
    except TieScopeError as error:
        message = str(error)
    assert message.encode().decode() == message


@pytest.mark.parametrize(("before", "line"), [("", 1), ("\n", 2), (json.dumps(ROW) + "\n", 2)])
@pytest.mark.parametrize("letter", [b"\xe9", b"\xed\xa0\x80"], ids=["Latin-1", "half a surrogate pair"])
def test_json_that_is_not_utf8_is_named_with_its_line(before, line, letter):
    data = before.encode() + b'{"query_id": "q", "doc_id": "caf' + letter + b'", "score": 1}'
    error = refusal(data, "run.json")
    assert (error.file, error.line) == ("run.json", line)
    assert "UTF-8" in str(error)


@pytest.mark.parametrize("digits", [19, 20, 308, 309, 4300])
def test_a_whole_number_of_many_digits_is_read(digits):
    row = json.dumps([ROW | {"doc_id": 0, "note": 0}])
    for column in ("doc_id", "note"):
        row = row.replace(f'"{column}": 0', f'"{column}": {"9" * digits}')
    rows = columns(row.encode())
    assert (rows["doc_id"], rows["note"]) == (["9" * digits], [float("9" * digits)])
    error = refusal(row.replace("9", "9" * 4301).encode(), "run.json")
    assert str(error).startswith("run.json: a number has too many digits")


NESTED = {"q1": {"d2": 0.9, "d1": 0.9}, "q2": {"d1": -1.5}}


def test_whole_numbers_by_query_and_document_are_grades_unless_given_as_a_run(write):
    run, whole = write("run.json", json.dumps(NESTED)), write("whole.json", '{"q1": {"d1": 3, "d2": 5}}')
    assert (read(File.open(run)).kind, read(File.open(whole)).kind) == ("run", "qrels")
    assert read_runs([whole], write("qrels.txt", QRELS)).tables["whole"]["score"].to_pylist() == [3, 5]
    halves = write("qrels.json", '{"q1": {"d1": 0.5, "d3": 1.0}}')
    assert read_runs([write("run.trec", RUN)], halves).qrels["relevance"].to_pylist() == [0.5, 1]
    assert evaluate(read_runs([run], whole), "RR", "optimistic").scores["RR"].to_numpy().tolist()[0] == [1]


@pytest.mark.parametrize("bad", ["Infinity", "-Infinity", "1e400", "NaN"])
def test_a_grade_by_query_and_document_is_finite(write, bad):
    with pytest.raises(ReadError, match=r"qrels\.json"):
        read_runs([write("run.trec", RUN)], write("qrels.json", f'{{"q1": {{"d1": 1, "d2": {bad}}}}}'))


@pytest.mark.parametrize("bad", ['"high"', "null", "NaN"])
def test_a_faulty_entry_is_named_by_its_place(bad):
    error = refusal(f'{{"q1": {{"d1": 0.5}}, "q2": {{"d1": {bad}}}}}'.encode(), "run.json")
    assert str(error).startswith("run.json, entry 2: ")


@pytest.mark.parametrize("bad", ["1", "null", "[]", '"x"', '{"d1": [1]}', '{"d1": {"score": 1}}'])
def test_a_query_that_holds_no_documents_and_scores_is_named(bad):
    error = refusal(f'{{"q1": {{"d1": 0.5}}, "q2": {bad}}}'.encode(), "run.json")
    assert error.file == "run.json"
    assert "'q2'" in str(error)


def test_a_query_without_documents_gives_no_rows():
    assert columns(b'{"q1": {}, "q2": {"d": 0.5}}')["query_id"] == ["q2"]


def test_a_query_named_like_a_column_is_a_query():
    assert columns(b'{"query_id": {"doc_id": 0.5}}')["doc_id"] == ["doc_id"]
