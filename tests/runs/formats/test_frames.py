import decimal
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import ReadError, Running, Runs, TieScopeError, UsageError, evaluate, read_runs


def frame(**columns):
    plain = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0], "relevance": [0, 1]}
    return pd.DataFrame(plain | columns)


def column(name, **columns):
    return Runs.from_frame(frame(**columns)).tables["table"][name].to_pylist()


def test_rerankers_keep_the_order_they_come_in_and_their_rows():
    runs = Runs.from_frame(pd.concat([frame(reranker="z"), frame(reranker="a", score=[5, 6])]))
    assert runs.rerankers == ["z", "a"]
    assert runs.tables["a"]["score"].to_pylist() == [5, 6]


def test_rows_keep_the_order_of_the_frame_whatever_its_index():
    rows = frame(score=[1, 2]).set_index(pd.Index([9, 3]))
    assert Runs.from_frame(rows).tables["table"]["doc_id"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([7, 8], ["7", "8"]),
        (["007", "7"], ["007", "7"]),
        (pd.Categorical(["x", "y"]), ["x", "y"]),
        (pd.Series(["x", "y"], dtype=object), ["x", "y"]),
        (pd.Series([1, "b"], dtype=object), ["1", "b"]),
    ],
    ids=["integers", "text", "categories", "objects", "numbers and text"],
)
def test_ids_become_text(ids, text):
    assert column("doc_id", doc_id=ids) == text


@pytest.mark.parametrize(
    "scores",
    [
        [1, 2],
        ["1", "2.0"],
        np.array([1, 2], dtype=np.float16),
        np.array([1, 2], dtype=np.float32),
        pd.array([1, 2], dtype="Int64"),
        [decimal.Decimal(1), decimal.Decimal(2)],
        pd.Series(["1", "2"], dtype=object),
        pd.Categorical([1.0, 2.0]),
    ],
    ids=["integers", "text", "float16", "float32", "Int64", "decimals", "objects", "categories"],
)
def test_scores_of_any_numeric_kind_become_floats(scores):
    assert column("score", score=scores) == [1.0, 2.0]


@pytest.mark.parametrize(
    "grades",
    [[True, False], ["true", "false"], ["Yes", "no"], [1.0, 0.0], pd.Categorical(["true", "false"])],
    ids=["booleans", "text", "words", "floats", "categories"],
)
def test_grades_may_be_booleans_words_or_numbers(grades):
    assert column("relevance", relevance=grades) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("bad", "value"),
    [
        ({"score": [1, "high"]}, "high"),
        ({"score": ["1", "high"]}, "high"),
        ({"score": [1, float("nan")]}, "score"),
        ({"score": [1, None]}, "score"),
        ({"score": pd.array([1, None], dtype="Int64")}, "score"),
        ({"relevance": ["true", "maybe"]}, "maybe"),
        ({"doc_id": ["a", None]}, "doc_id"),
        ({"doc_id": ["a", ""]}, "doc_id"),
        ({"query_id": ["q", None]}, "query_id"),
        ({"doc_id": ["a", "a"]}, "'a'"),
    ],
)
def test_a_faulty_row_of_a_frame_is_named_by_its_number(bad, value):
    with pytest.raises(ReadError) as caught:
        Runs.from_frame(frame(**bad))
    assert caught.value.line == 2
    assert value in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        {"score": pd.to_datetime(["2020-01-01", "2020-01-02"])},
        {"score": [[1], [2]]},
        {"score": [1j, 2j]},
        {"doc_id": [["a"], ["b"]]},
        {"doc_id": [b"a", b"\xff"]},
    ],
    ids=["dates", "lists", "complex numbers", "list ids", "bytes"],
)
def test_values_that_are_no_ids_and_no_numbers_are_an_error_of_ours(bad):
    with pytest.raises(TieScopeError):
        Runs.from_frame(frame(**bad))


@pytest.mark.parametrize("name", ["doc_id", "score"])
def test_a_frame_that_lacks_a_column_says_which(name):
    with pytest.raises(ReadError, match=f"no {name} column"):
        Runs.from_frame(frame().drop(columns=name))
    with pytest.raises(UsageError, match=r"relevant.*relevance column"):
        Runs.from_frame(frame().drop(columns="relevance"))


@pytest.mark.parametrize(
    "rows",
    [
        pd.DataFrame([["q", "a", 1, 2, 1]], columns=["query_id", "doc_id", "score", "score", "relevance"]),
        pd.concat({"level": frame()}, axis=1),
        pd.DataFrame(),
    ],
    ids=["two columns of one name", "columns of two levels", "empty"],
)
def test_a_frame_without_plain_columns_is_an_error_of_ours(rows):
    with pytest.raises(TieScopeError):
        Runs.from_frame(rows)


def test_a_frame_is_left_as_it_was():
    rows = frame()
    Runs.from_frame(rows)
    pd.testing.assert_frame_equal(rows, frame())


def test_a_frame_without_queries_is_one_list_and_a_finding_says_so():
    runs = read_runs(frame(noise=[0.5, 0.25]).drop(columns="query_id"))
    assert runs.queries["table"].to_pylist() == ["1"]
    (finding,) = [one for one in runs.noted if one.code == "one-list"]
    assert finding.message == "The table has no query column, so its 2 rows are treated as one list."


@pytest.mark.parametrize("other", [["p", "q"], [1, 2]], ids=["text", "whole numbers"])
def test_a_frame_whose_queries_have_another_name_is_not_taken_for_one_list(other):
    rows = frame().rename(columns={"query_id": "key"}).assign(key=other)
    with pytest.raises(ReadError, match="no query_id column among key, doc_id, score, relevance") as caught:
        evaluate(rows)
    assert "columns={'query_id': NAME}" in str(caught.value)
    with pytest.raises(ReadError, match="no query_id column among none"):
        evaluate(pd.DataFrame())
    assert len(evaluate(read_runs(rows, columns={"query_id": "key"})).scores) == 2
    assert len(evaluate(read_runs(rows, columns={"query_id": ""})).scores) == 1


def test_judgments_may_be_a_frame_of_their_own():
    rows, judgments = frame().drop(columns="relevance"), frame(relevance=[1, 0]).drop(columns="score")
    assert evaluate(rows, "RR", "expected", qrels=judgments).scores.iloc[0, 0] == 0.5
    assert read_runs({"LLM": rows}, judgments).rerankers == ["LLM"]


def test_a_judgment_that_is_none_names_its_row():
    with pytest.raises(ReadError, match="judgments, row 2: relevance 'maybe' is not a grade"):
        evaluate(frame(), qrels=frame(relevance=["1", "maybe"]))
    with pytest.raises(ReadError, match="judgments: no relevance column among query_id, doc_id"):
        evaluate(frame(), qrels=frame()[["query_id", "doc_id"]])
    with pytest.raises(ReadError, match="Rename the correct column to relevance"):
        read_runs(frame(), frame().drop(columns="relevance"))


def test_levels_of_the_index_that_are_named_as_columns_are_columns():
    rows = frame(query_id=["q", "r"])
    expected = Runs.from_frame(rows).tables["table"].to_pydict()
    for levels in (["query_id"], ["query_id", "doc_id"]):
        assert Runs.from_frame(rows.set_index(levels)).tables["table"].to_pydict() == expected
    assert Runs.from_frame(rows.set_index("query_id", drop=False)).tables["table"].to_pydict() == expected


def test_text_is_read_whatever_pandas_keeps_it_in():
    parts = pd.concat([pd.Series(["a", "b"]), pd.Series(["c"])], ignore_index=True)
    for documents in (parts, parts.astype("string[python]"), parts.astype(object), parts.astype("category")):
        frame = pd.DataFrame({"doc_id": documents, "score": [3, 2, 1], "relevance": 1})
        assert read_runs(frame).tables["table"]["doc_id"].to_pylist() == ["a", "b", "c"]
    lone = pd.Series(["a", "\ud800", "c"], dtype="string[python]")
    with pytest.raises(ReadError, match="text that is not Unicode"):
        read_runs(pd.DataFrame({"doc_id": lone, "score": 1, "relevance": 1}))


class Capsule:
    """A table that says nothing of itself but the capsule of Arrow's C interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


FORMS = {
    "pyarrow": lambda table: table,
    "batch": lambda table: table.to_batches()[0],
    "reader": lambda table: table.to_reader(),
    "capsule": Capsule,
}
LIBRARIES = [*FORMS, "narwhals", "polars", "duckdb"]


def in_library(name, rows):
    table = pa.Table.from_pandas(rows, preserve_index=False)
    if name in FORMS:
        return FORMS[name](table)
    library = pytest.importorskip(name)
    return library.from_native(table) if name == "narwhals" else library.from_arrow(table)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_of_any_library_scores_as_the_same_data_frame(library):
    rows = frame(reranker=["z", "a"], score=[1, 1], query_id=[7, 8])
    expected = evaluate(rows)
    assert evaluate(in_library(library, rows)).scores.equals(expected.scores)
    assert Runs.from_frame(in_library(library, rows)).rerankers == ["z", "a"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_runs_and_judgments_of_any_library_are_told_apart(library):
    rows, grades = frame().drop(columns="relevance"), frame().drop(columns="score")
    expected = evaluate(rows, qrels=grades).scores
    given = [in_library(library, table) for table in (rows, grades)]
    assert evaluate({"table": given[0]}, qrels=given[1]).scores.equals(expected)
    assert evaluate([in_library(library, table) for table in (rows, grades)]).scores.equals(expected)
    running, expected = Running(["RR"]), Running(["RR"])
    running.add(in_library(library, frame()))
    expected.add(frame())
    assert running.means().equals(expected.means())


@pytest.mark.parametrize("column", [pd.Series([1]), pa.chunked_array([[1]]), pa.array([1])])
def test_a_column_alone_is_no_table(column):
    with pytest.raises(ReadError, match="is not a table of named columns"):
        evaluate(column)


def test_a_table_of_any_library_in_place_of_measures_is_named_so():
    with pytest.raises(UsageError, match="the runs first"):
        evaluate(frame(), Capsule(pa.table({"a": [1]})))


class ScoredDoc(NamedTuple):
    """A row as ir_measures reads it."""

    query_id: str
    doc_id: str
    score: float


ROWS = [ScoredDoc("q", "a", 1.0), ScoredDoc("q", "b", 2.0)]
COLUMNS = {"query_id": ["q", "q"], "doc_id": np.array(["a", "b"]), "score": pd.Series([1.0, 2.0])}
NESTED = {"q": {"a": 1.0, "b": 2.0}}


@pytest.mark.parametrize(
    "files", [ROWS, iter(ROWS), COLUMNS, [NESTED]], ids=["named tuples", "iterator", "columns", "list"]
)
def test_rows_columns_and_lists_of_dictionaries_are_tables(files):
    table = read_runs(files, {"q": {"a": 1}}).tables["table"]
    rows = zip(*(table[name].to_pylist() for name in ("query_id", "doc_id", "score")), strict=True)
    assert list(rows) == ROWS


def test_rerankers_may_have_rows_or_columns_and_judgments_too():
    runs = read_runs({"A": ROWS, "B": COLUMNS}, {"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    assert evaluate(runs, "RR", "input").means("RR")["input"].to_list() == [0.5, 0.5]


@pytest.mark.parametrize("file", [ROWS, COLUMNS, NESTED, {"q": ["b", "a"]}], ids=["rows", "columns", "", "ids"])
def test_a_pair_of_a_name_and_a_table_may_hold_any_form(file):
    assert read_runs([("A", file), ("B", frame())], {"q": {"a": 1}}).rerankers == ["A", "B"]


@pytest.mark.parametrize(
    ("files", "error", "problem"),
    [
        (COLUMNS | {"score": [1.0]}, UsageError, "same length"),
        ([tuple(ROWS[0])], UsageError, "has type tuple"),
        ([()], UsageError, "has type tuple"),
        ([ROWS[0]._asdict(), {}], ReadError, "row 2: query_id is empty"),
    ],
)
def test_rows_and_columns_that_are_no_table_are_refused(files, error, problem):
    with pytest.raises(error, match=problem):
        read_runs(files, NESTED)
