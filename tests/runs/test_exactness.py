from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from metrics import read_runs
from metrics.evaluation import ScoringOptions, score_runs
from metrics.runs import File, read
from metrics.runs.conversion import holds
from metrics.runs.from_paths import check
from metrics.runs.model import Runs

LOSSY = ["9007199254740993", "1e-400", "-2E-400", "1e400"]
EXACT = ["9007199254740992", "0", "-0.0", "5e-324", "1e308", "3.4028234663852886e+38", "0.1", "1e22"]
TEXTS = [*LOSSY, *EXACT]
WRITERS = {
    "csv": "query_id,doc_id,score\n" + "".join(f"q,d{row},{text}\n" for row, text in enumerate(TEXTS)),
    "trec": "".join(f"q Q0 d{row} {row} {text} llm\n" for row, text in enumerate(TEXTS)),
    "jsonl": "".join(
        f'{{"query_id": "q", "doc_id": "d{row}", "score": {text}}}\n' for row, text in enumerate(TEXTS)
    ),
    "json": '{"q": {' + ", ".join(f'"d{row}": {text}' for row, text in enumerate(TEXTS)) + "}}",
}
COLUMNS = {
    "int64": np.array([2**53, 2**53 + 1]),
    "uint64": np.array([2**63, 2**64 - 1], dtype=np.uint64),
    "objects": np.array([2**70, 2**70 + 1], dtype=object),
    "decimals": [Decimal(2**53), Decimal(2**53 + 1)],
    "texts": [str(2**53), str(2**53 + 1)],
    "longdouble": np.array([str(2**53), str(2**53 + 1)], dtype=np.longdouble),
}


def inexact(noted):
    return [(finding.count, finding.message) for finding in noted if finding.code == "numbers-inexact"]


@pytest.mark.parametrize("text", LOSSY)
def test_a_number_that_no_float_holds_is_told(text):
    assert not holds(text, float(text))


@pytest.mark.parametrize("text", [*EXACT, "inf", "-Infinity", "nan", "4.9406564584124654e-324", "true"])
def test_a_number_that_a_float_holds_or_that_is_none_is_not(text):
    assert holds(text, 1.0 if text == "true" else float(text))


@pytest.mark.parametrize("ending", WRITERS)
def test_numbers_read_as_others_are_counted_in_each_format(ending):
    source = read(File(f"run.{ending}", WRITERS[ending].encode()))
    ((count, message),) = inexact(source.noted)
    column = "value" if ending == "json" else "score"
    assert count == len(LOSSY)
    assert f"{column} of 4 of 12 rows" in message
    assert "9007199254740993 is read as 9007199254740992" in message


@pytest.mark.parametrize("kind", COLUMNS)
def test_numbers_of_frames_read_as_others_are_counted(kind):
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": COLUMNS[kind], "relevance": [1, 0]})
    ((count, message),) = inexact(Runs.from_frame(frame).noted)
    assert (count, "the score of" in message) == (1, True)


@pytest.mark.parametrize("kind", ["int64", "uint64", "decimals", "texts"])
def test_numbers_of_parquet_read_as_others_are_counted(kind, tmp_path):
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": COLUMNS[kind]})
    frame.to_parquet(tmp_path / "run.parquet")
    assert [count for count, _ in inexact(read(File.open(tmp_path / "run.parquet")).noted)] == [1]


def test_a_table_without_rows_is_a_finding(write):
    findings = check(write("empty.csv", "query_id,doc_id,score,relevance\n"))
    assert findings["message"][findings["code"] == "no-rows"].to_list() == ["The file has no rows."]


def test_grades_above_500_are_a_finding_and_leave_ndcg_right(write):
    path = write("runs.csv", "query_id,doc_id,score,relevance\nq,a,2,600\nq,b,1,700\n")
    runs = read_runs(path)
    (finding,) = [finding for finding in runs.noted if finding.code == "grades-large"]
    assert finding.message == (
        "Grades above 500 in relevance: 2 of 2 rows, such as 600; DCG counts each as 500."
    )
    assert (finding.line, finding.count) == (2, 2)
    value = score_runs(runs, ["nDCG"], ["expected"], ScoringOptions()).scores.iloc[0, 0]
    assert 0.6 < value < 0.64


def test_a_missing_score_hides_no_inexact_number_beside_it(write):
    text = "query_id,doc_id,score,relevance\nq,a,N/A,1\nq,b,1e-400,0\nq,c,2e-400,0\n"
    runs = read_runs(write("runs.csv", text), missing_score="last")
    assert [count for count, _ in inexact(runs.noted)] == [2]


@pytest.mark.parametrize(
    "text",
    [
        '[{"query_id": "q", "doc_id": "a", "score": 1e400}, {"query_id": "q", "doc_id": "b", "score": 1.5}]',
        '{"query_id": "q", "doc_id": "a", "score": 1E+400}\n{"query_id": "q", "doc_id": "b", "score": 1}',
        '{"q": {"a": -1e400, "b": 0.5}}',
        '[{"query_id": "q", "doc_id": "a", "score": 12345678901234567890}]',
    ],
)
def test_a_number_of_json_that_no_float_holds_is_told_as_in_csv(text):
    assert [count for count, _ in inexact(read(File("a.json", text.encode())).noted)] == [1]


def test_decimals_of_parquet_are_read_to_the_last_digit_and_longer_ones_are_told(tmp_path):
    texts = ["0.1234", "0.3", "0.12345678901234567890", "0.12345678901234567891"]
    columns = {"query_id": ["q"] * 4, "doc_id": [*"abcd"], "score": [*map(Decimal, texts)]}
    schema = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.decimal128(38, 20))])
    parquet.write_table(pa.table(columns, schema=schema), tmp_path / "a.parquet")
    source = read(File.open(tmp_path / "a.parquet"))
    assert source.table["score"].to_pylist() == [*map(float, texts)]
    assert [count for count, _ in inexact(source.noted)] == [2]
