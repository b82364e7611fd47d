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


def test_a_baseline_is_not_held_to_itself(call, run_and_qrels):
    code, out, _ = call("gate", *run_and_qrels, "-r", "RR>=baseline-1", "--baseline", "strict")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()] == ["coarse"]


def test_a_preset_brings_its_targets(call, run_and_qrels):
    code, out, _ = call("gate", *run_and_qrels, "--preset", "retrieval")
    assert code == 1
    assert len(out.splitlines()) == 22


def test_a_gate_as_json_holds_every_figure(call, run_and_qrels):
    code, out, _ = call("gate", *run_and_qrels, "-r", "RR>=0.99", "--format", "json")
    rows = json.loads(out)
    assert code == 1
    assert {row["reranker"] for row in rows} == {"strict", "coarse"}
    assert all(row["value"] + row["missed_by"] == pytest.approx(0.99) for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "at least one target"),
        (["-r", "RR>>1"], "is no target"),
        (["-r", "RR>=baseline"], "needs a baseline"),
        (["-r", "RR>=baseline", "--baseline", "none"], "no reranker 'none'"),
        (["--preset", "none"], "no preset 'none'"),
        (["-r", "RR>=1", "--ties", "best"], "treatment"),
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
