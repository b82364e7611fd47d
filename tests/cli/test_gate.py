import json

import pytest
from boards import COARSE, QRELS, STRICT


@pytest.fixture
def run_and_qrels(write):
    return [write("strict.trec", STRICT), write("coarse.trec", COARSE), "--qrels", write("qrels.txt", QRELS)]


def test_a_gate_that_holds_exits_with_0_and_prints_a_line_a_target(call, run_and_qrels):
    code, out, _ = call("gate", *run_and_qrels, "--require", "MTRR>=0.1", "-r", "TMHits@3>=0.1")
    assert code == 0
    assert len(out.splitlines()) == 4
    assert all(line.startswith("pass") for line in out.splitlines())


def test_a_missed_target_exits_with_1_and_says_by_how_much(call, run_and_qrels):
    code, out, _ = call("gate", *run_and_qrels, "--require", "MTRR>=0.99")
    assert code == 1
    assert "MISS  coarse  MTRR" in out
    assert "missed by 0." in out


def test_a_preset_brings_its_targets(call, run_and_qrels):
    code, out, _ = call("gate", *run_and_qrels, "--preset", "retrieval")
    assert code == 1
    assert len(out.splitlines()) == 24


def test_a_gate_as_json_holds_every_figure(call, run_and_qrels):
    code, out, _ = call("gate", *run_and_qrels, "-r", "RR>=0.99", "--format", "json")
    rows = json.loads(out)
    assert code == 1
    assert {row["reranker"] for row in rows} == {"strict", "coarse"}
    assert all(row["tied"] + row["missed_by"] == pytest.approx(0.99) for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "at least one target"),
        (["-r", "RR>>1"], "is not a target"),
        (["-r", "RR>=baseline"], "needs a baseline"),
        (["-r", "RR>=baseline", "--baseline", "none"], "no reranker 'none'"),
        (["--preset", "none"], "'none' is not a preset"),
        (["-r", "RR>=1", "--traditional", "best"], "There is no tie order 'best'"),
    ],
)
def test_a_gate_that_cannot_be_held_exits_with_2(call, run_and_qrels, arguments, message):
    code, _, err = call("gate", *run_and_qrels, *arguments)
    assert code == 2
    assert message in err


def test_a_gate_says_what_counts_as_0(call, write):
    judged = write("qrels.txt", QRELS + "absent 0 d1 1\n")
    code, out, err = call("gate", write("strict.trec", STRICT), "--qrels", judged, "-r", "RR>=0")
    assert code == 0
    assert "1 of 5 queries has no rows, counted as 0" in err
    assert "absent" not in out


def test_no_target_is_met_on_judgments_of_other_queries(call, write):
    runs = [write("strict.trec", STRICT), write("coarse.trec", COARSE)]
    judged = write("qrels.txt", "".join(f"other-{line}\n" for line in QRELS.splitlines()))
    code, out, err = call("gate", *runs, "--qrels", judged, "--baseline", "strict", "-r", "MTRR>=baseline-0.01")
    assert (code, out) == (2, "")
    assert "No query of the run is judged" in err
    assert "The data has errors (above)" in err


ALPHABETICAL = """reranker,query_id,doc_id,score,relevance
tied,q1,b,1,1
tied,q1,c,1,0
tied,q2,b,1,1
tied,q2,c,1,0
strict,q1,b,2,1
strict,q1,c,1,0
strict,q2,b,1,1
strict,q2,a,1,0
"""


def test_a_missed_relative_target_says_which_baseline_another_order_meets(call, write):
    arguments = ["gate", write("runs.csv", ALPHABETICAL), "-r", "RR>=baseline", "--baseline"]
    out = call(*arguments, "strict", "--traditional", "docid_asc")[1]
    assert "0.7500 >= baseline = 0.8750: missed by 0.1250; " in out
    assert out.endswith(" gives 1.0000, which meets the target against the baseline in that order\n")


def test_a_relative_target_without_shared_queries_says_so(call, write):
    table = "reranker,query_id,doc_id,score,relevance\nold,q1,a,1,1\nnew,q2,a,1,1\n"
    out = call("gate", write("runs.csv", table), "-r", "RR>=baseline", "--baseline", "old")[1]
    assert "no list was scored for a query of the baseline" in out
