"""The column score_std: read by name or choice, from every format, never negative."""

from io import StringIO

import pandas as pd
import pytest

from metrics import ReadError, draws, read_runs, read_table

HEADER = "query_id,doc_id,score,relevance,score_std\n"


def test_it_is_read_by_name_and_by_choice(write):
    rows = "q,a,0.5,1,0.1\nq,b,0.5,0,1\n"
    named = read_table(write("named.csv", HEADER + rows))
    chosen = read_table(
        write("chosen.csv", HEADER.replace("score_std", "sd") + rows), columns={"score_std": "sd"}
    )
    json = '{"query_id": "q", "doc_id": "%s", "score": 0.5, "relevance": %d, "score_std": %s}\n'
    lines = read_table(write("lines.jsonl", json % ("a", 1, 0.1) + json % ("b", 0, 1)))
    for runs in (named, chosen, lines):
        (table,) = runs.tables.values()
        assert table["score_std"].to_pylist() == [0.1, 1]


@pytest.mark.parametrize("spread", ["-0.1", "nan", "", "inf", "wide"])
def test_a_standard_deviation_that_is_none_is_refused_with_its_line(write, spread):
    path = write("noisy.csv", HEADER + f"q,a,0.5,1,0.1\nq,b,0.5,0,{spread}\n")
    with pytest.raises(ReadError, match=r"noisy\.csv, line 3: score_std .* is not a standard deviation"):
        read_runs([path])


@pytest.mark.parametrize("blank", ["", "nan"])
def test_a_blank_one_beside_a_missing_score_is_0(tmp_path, write, blank):
    rows = f"q,a,0.5,1,0.1\nq,b,0.5,0,0.1\nq,c,,1,{blank}\n"
    if blank:
        path = tmp_path / "missing.parquet"
        pd.read_csv(StringIO(HEADER + rows)).to_parquet(path)
    else:
        path = write("missing.csv", HEADER + rows)
    runs = read_table(path, missing_score="last")
    (table,) = runs.tables.values()
    assert table["score_std"].to_pylist() == [0.1, 0.1, 0]
    assert set(draws(runs, "RR", n=50, noise="score_std").means.iloc[:, 0]) == {0.5, 1}
    with pytest.raises(ReadError, match="line 3"):
        read_table(write("blank.csv", HEADER + "q,a,,1,0.1\nq,b,0.5,0,\n"), missing_score="last")


def test_the_refusal_of_a_blank_one_names_the_way_out(write):
    path = write("half.csv", "reranker," + HEADER + "A,q,a,0.5,1,0.1\nB,q,a,0.5,1,\n")
    with pytest.raises(ReadError, match=r"--column score_std= "):
        read_runs([path])
    runs = read_runs([path], columns={"score_std": ""})
    assert all("score_std" not in table.column_names for table in runs.tables.values())
