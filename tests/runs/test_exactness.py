"""Scores that floats round, grades that DCG cuts, and tables without rows are findings."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from metrics import read_runs
from metrics.evaluation import ScoringOptions, score_runs
from metrics.runs import File, read
from metrics.runs.from_paths import check
from metrics.runs.model import Runs

TEXTS = ["-9007199254740993", "123456789012345678901234567890", "9007199254740991", "1e-400", "1e400", "0.1"]
"""The first two are beyond 2^53; the fifth is read as infinite."""
WRITERS = {
    "csv": "query_id,doc_id,score\n" + "".join(f"q,d{row},{text}\n" for row, text in enumerate(TEXTS)),
    "trec": "".join(f"q Q0 d{row} {row} {text} llm\n" for row, text in enumerate(TEXTS)),
    "jsonl": "".join(
        f'{{"query_id": "q", "doc_id": "d{row}", "score": {text}}}\n' for row, text in enumerate(TEXTS)
    ),
    "json": '{"q": {' + ", ".join(f'"d{row}": {text}' for row, text in enumerate(TEXTS)) + "}}",
}
COLUMNS = {
    "int64": np.array([0, 2**53 + 1]),
    "uint64": np.array([0, 2**64 - 1], dtype=np.uint64),
    "objects": np.array([0, 2**70 + 1], dtype=object),
    "decimals": [Decimal(0), Decimal(2**53 + 1)],
    "texts": ["0", str(2**53 + 1)],
}


def large(noted):
    return [(finding.count, finding.message) for finding in noted if finding.code == "numbers-inexact"]


@pytest.mark.parametrize("ending", WRITERS)
def test_scores_beyond_2_to_53_are_counted_in_each_format(ending):
    ((count, message),) = large(read(File(f"run.{ending}", WRITERS[ending].encode())).noted)
    assert count == 2
    assert f"{'value' if ending == 'json' else 'score'} of 2 of 6 rows is beyond 2^53" in message
    assert "The first is read as -9007199254740992." in message


@pytest.mark.parametrize("kind", COLUMNS)
def test_large_scores_of_frames_and_of_further_columns_are_counted(kind, tmp_path):
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": COLUMNS[kind], "relevance": [1, 0]})
    assert [count for count, _ in large(Runs.from_frame(frame).noted)] == [1]
    if kind != "objects":
        frame.assign(more=2.0**60).to_parquet(tmp_path / "run.parquet")
        assert [count for count, _ in large(read(File.open(tmp_path / "run.parquet")).noted)] == [1, 2]


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
