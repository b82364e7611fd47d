"""Latencies on the command line: beside values in `evaluate`, with stars in `compare --table`."""

import csv
import io

import pytest

from metrics import evaluate, read_runs
from metrics.studies.experiment import experiment_measures, experiment_table
from metrics.studies.tradeoffs import latencies, with_latency

SECONDS = {"bm25": 0.0008, "llm": 1.25}
COLUMNS = "reranker,ties,measure,n,value,n_tested,difference,low,high,p,p_adjusted,stars,direction,note"


@pytest.fixture
def timed(write):
    lines = ["reranker,query_id,doc_id,score,relevance,latency"]
    for query in range(6):
        for name, base in SECONDS.items():
            hit = name == "llm" or query % 2
            latency = base * (1 + query % 2 / 10)
            lines += [f"{name},q{query},a,2,{int(hit)},{latency}", f"{name},q{query},b,2,{int(not hit)},"]
    lines += ["untimed,q0,a,1,1,"]
    return write("timed.csv", "\n".join(lines) + "\n")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_and_json_hold_no_latency_unless_it_is_asked_for(call, timed):
    for form in ("csv", "json"):
        assert "latency" not in call("evaluate", timed, "-m", "RR", "--format", form)[1]
    _, out, _ = call("evaluate", timed, "-m", "RR", "--ties", "expected", "--latency", "--format", "csv")
    assert out.splitlines()[0] == "reranker,measure,ties,value"
    values = {(line["reranker"], line["measure"]): float(line["value"]) for line in rows(out)}
    assert values["llm", "latency_s"] == pytest.approx(1.3125)
    assert values["bm25", "latency_s"] == pytest.approx(0.00084)
    assert ("untimed", "latency_s") not in values


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "TIMED", "--latency", "--engine", "dask"], "--latency needs runs in memory"),
        (["evaluate", "BARE", "--latency"], "the runs have no latencies"),
        (["compare", "TIMED", "--table", "--ties", "std"], "std measures the effect of ties"),
        (["compare", "TIMED", "--table", "--baseline", "lm"], "no reranker 'lm'"),
    ],
)
def test_what_cannot_be_timed_or_tested_exits_with_2(call, timed, write, arguments, words):
    bare = write("bare.csv", "query_id,doc_id,score,relevance\nq,a,1,1\n")
    files = {"TIMED": timed, "BARE": bare}
    code, out, err = call(*(files.get(word, word) for word in arguments))
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_one_table_holds_every_measure_and_latency_with_stars(call, timed):
    code, out, err = call("compare", timed, "--table", "--baseline", "llm")
    head, *lines = [line.split() for line in out.splitlines()]
    assert (code, head[:4]) == (0, ["reranker", "ties", "Hits@1", "Hits@5"])
    assert head[-4:] == ["DR@20", "Div@20", "Latency", "(s)"]
    assert [line[:2] for line in lines[:2]] == [["bm25", "input"], ["bm25", "expected"]]
    assert lines[1][-2:] == ["0.00084", "+*"]
    assert lines[-1][-1] == "–"
    assert "compared with llm by sign flips, corrected for 3 pairs by the largest statistic" in err
    assert "1 of 3 rerankers has no latencies." in err


def test_one_table_as_csv_is_what_the_study_gives_to_the_last_bit(call, timed):
    _, out, _ = call("compare", timed, "--table", "--test", "wilcoxon", "--format", "csv")
    assert out.splitlines()[0] == COLUMNS
    runs = read_runs([timed])
    evaluation = with_latency(evaluate(runs, experiment_measures(), ["input", "expected"]), latencies(runs))
    expected = experiment_table(evaluation, "bm25", test="wilcoxon")
    assert out == expected.to_csv(index=False, lineterminator="\n")
    assert {line["direction"] for line in rows(out)} == {"", "better", "worse", "equal"}
