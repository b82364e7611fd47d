"""Several columns of scores become one score and its spread, in every kind of table."""

import json

import pandas as pd
import pytest

from metrics import ReadError, Runs, UsageError, evaluate, read_runs, read_table

TABLE = "query_id,doc_id,score_1,score_2,score_3,relevance,note\nq,a,1,2,3,1,x\nq,b,,2,N/A,0,y\nq,c,4,4,4,0,z\n"


def scored(runs):
    (table,) = runs.tables.values()
    return table["score"].to_pylist(), table["score_std"].to_pylist()


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "frame"])
def test_numbered_scores_are_repeats_where_no_column_is_the_score(ending, write, tmp_path):
    frame = pd.read_csv(write("c.csv", TABLE))
    path = tmp_path / f"c.{ending}"
    if ending == "json":
        path.write_text(json.dumps(json.loads(frame.to_json(orient="records"))), encoding="utf-8")
    elif ending == "parquet":
        frame.to_parquet(path)
    runs = read_runs(frame if ending == "frame" else path, repeats_std="run")
    assert scored(runs) == ([2, 2, 4], pytest.approx([1, 0.5**0.5, 0]))  # pooled: (1 + 1 + 0) / (2 + 2)
    messages = runs.findings.set_index("code")["message"]
    assert "mean of 3 repeats (score_1, score_2, score_3)" in messages["repeats-combined"]
    assert "1 of 3 documents" in messages["repeats-incomplete"]
    assert messages["columns-unused"] == "Not read: note."


def test_columns_that_are_named_are_repeats_beside_a_score_too(write):
    path = write("c.csv", "query_id,doc_id,score,a,b,relevance\nq,x,9,1,3,1\nq,y,9,2,2,0\n")
    assert scored(read_runs([path], repeats=("a", "b"), repeats_std="run")) == (
        [2, 2],
        pytest.approx([2**0.5, 0]),
    )
    assert scored(read_runs([path], repeats=("a", "b")))[1] == pytest.approx([1, 1])
    assert scored(read_runs([path], repeats=("a", "b"), repeats_std="mean"))[1] == pytest.approx([1, 0])
    with pytest.raises(ReadError, match="no column 'd' among query_id"):
        read_runs([path], repeats=("a", "d"))
    with pytest.raises(UsageError, match="No file has the chosen columns: c, d"):
        read_runs([path], repeats=("c", "d"))


def test_the_tables_own_scatter_is_said_not_to_be_read_beside_repeats(write):
    path = write("c.csv", "query_id,doc_id,score_1,score_2,score_std,relevance\nq,x,1,3,9,1\nq,y,2,2,9,0\n")
    runs = read_runs([path], repeats_std="run")
    assert scored(runs)[1] == pytest.approx([2**0.5, 0])
    message = runs.findings.set_index("code")["message"]["columns-unused"]
    assert message == "Not read: score_std of the table. It is computed from score_1, score_2."


def test_a_frame_has_its_repeats_combined_however_it_is_read(write):
    frame = pd.read_csv(write("c.csv", TABLE))
    assert scored(Runs.from_frame(frame)) == scored(read_runs(frame))


def test_one_of_them_is_the_score_where_it_is_chosen(write):
    table = read_table(write("c.csv", TABLE), columns={"score": "score_2"}).tables["c"]
    assert table["score"].to_pylist() == [2, 2, 4]
    assert "score_std" not in table.column_names
    beside = read_runs([write("d.csv", TABLE.replace("score_2", "score"))]).tables["d"]
    assert beside["score"].to_pylist() == [2, 2, 4]


def test_a_row_without_any_score_is_refused_unless_missing_scores_are_settled(write):
    path = write("c.csv", TABLE.replace("q,b,,2,N/A", "q,b,,,"))
    with pytest.raises(ReadError, match=r"c\.csv, line 3: no number in any of score_1, score_2, score_3"):
        read_runs([path])
    assert scored(read_runs([path], missing_score="drop"))[0] == [2, 4]
    assert scored(read_runs([path], missing_score="last"))[0] == [2, -float("inf"), 4]


def test_a_column_without_a_number_and_too_many_columns_are_refused(write):
    with pytest.raises(ReadError, match="'note' holds no number"):
        read_runs([write("c.csv", TABLE)], repeats=("score_1", "note"))
    names = [f"score_{number}" for number in range(51)]
    wide = f"query_id,doc_id,relevance,{','.join(names)}\nq,a,1,{','.join('1' * 51)}\n"
    with pytest.raises(ReadError, match="51 score columns, more than 50"):
        read_runs([write("wide.csv", wide)])


def test_judgments_with_numbered_scores_beside_them_stay_judgments(write):
    run = write("run.csv", "query_id,doc_id,score\nq,a,1\nq,b,2\n")
    runs = read_runs([run], write("judged.csv", TABLE))
    assert evaluate(runs, "RR", "input").scores.iloc[0, 0] == 0.5
