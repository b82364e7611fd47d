"""The column score_std: read by name or choice, from every format, never negative."""

import pytest

from metrics import ReadError, evaluate, read_runs, read_table

HEADER = "query_id,doc_id,score,relevance,score_std\n"


def test_it_is_read_by_name_and_by_choice(write):
    rows = "q,a,0.5,1,0.1\nq,b,0.5,0,1\n"
    named = read_table(write("named.csv", HEADER + rows))
    chosen = read_table(
        write("chosen.csv", HEADER.replace("score_std", "sd") + rows), columns={"score_std": "sd"}
    )
    json = '{"query_id": "q", "doc_id": "%s", "score": 0.5, "relevance": %d, "score_std": %s}\n'
    lines = read_table(write("lines.jsonl", json % ("a", 1, 0.1) + json % ("b", 0, 1)))
    values = [evaluate(runs, "RR", "noise").scores.iloc[0, 0] for runs in (named, chosen, lines)]
    assert values == pytest.approx([0.75] * 3, abs=1e-6)


@pytest.mark.parametrize("spread", ["-0.1", "nan", "", "inf", "wide"])
def test_a_standard_deviation_that_is_none_is_refused_with_its_line(write, spread):
    path = write("noisy.csv", HEADER + f"q,a,0.5,1,0.1\nq,b,0.5,0,{spread}\n")
    with pytest.raises(ReadError, match=r"noisy\.csv, line 3: score_std .* is not a standard deviation"):
        read_runs([path])
