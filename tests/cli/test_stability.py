import csv
import io
import json

import pytest

PAIRS = ["measure", "reranker", "other", "above", "equal", "below", "method", "standard_error", "reversible"]
PLACES = ["measure", "reranker", "place", "chance", "method", "standard_error"]


@pytest.fixture
def table(write):
    """Tied puts its relevant document anywhere among four; second has it second, last has it last."""
    lines = ["reranker,query_id,doc_id,score,relevance"]
    lines += [f"tied,q,{doc},1,{int(doc == 'a')}" for doc in "abcd"]
    lines += [f"second,q,{doc},{4 - place},{int(place == 1)}" for place, doc in enumerate("abcd")]
    lines += [f"last,q,{doc},{4 - place},{int(place == 3)}" for place, doc in enumerate("abcd")]
    return write("runs.csv", "\n".join(lines) + "\n")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_says_how_likely_each_run_is_above_each_other(call, table):
    code, out, err = call("stability", table, "-m", "RR", "--format", "csv")
    assert (code, out.splitlines()[0].split(",")) == (0, PAIRS)
    pairs = {(row["reranker"], row["other"]): row for row in rows(out)}
    chances = [float(pairs["tied", "second"][name]) for name in ("above", "equal", "below")]
    assert chances == pytest.approx([0.25, 0.25, 0.5])
    assert float(pairs["second", "last"]["above"]) == 1
    assert {(row["measure"], row["method"], float(row["standard_error"])) for row in rows(out)} == {
        ("RR", "exact", 0)
    }
    assert "RR: second has a higher MRR than tied in 50% of all tie orders" in err


def test_places_are_chances_that_sum_to_one(call, table):
    _, out, _ = call("stability", table, "-m", "RR", "--places", "--format", "csv")
    assert out.splitlines()[0].split(",") == PLACES
    chances = {(row["reranker"], row["place"]): float(row["chance"]) for row in rows(out)}
    assert [chances["tied", place] for place in "123"] == pytest.approx([0.5, 0.5, 0])
    assert [chances["second", place] for place in "123"] == pytest.approx([0.75, 0.25, 0])
    assert [chances["last", place] for place in "123"] == pytest.approx([0, 0.25, 0.75])


def test_what_is_drawn_says_its_standard_error_and_is_the_same_for_the_same_seed(call, write):
    lines = ["reranker,query_id,doc_id,score,relevance"]
    lines += [f"{name},q{q},{doc},1,{int(doc < 6)}" for name in "AB" for q in range(2) for doc in range(30)]
    path = write("runs.csv", "\n".join(lines) + "\n")
    arguments = ["stability", path, "-m", "AP", "--format", "json"]
    pair = json.loads(call(*arguments)[1])[0]
    assert (pair["method"], 0 < pair["standard_error"] < 0.005) == ("sampled", True)
    assert pair["above"] == pytest.approx(0.5, abs=4 * pair["standard_error"])
    assert json.loads(call(*arguments)[1]) == [pair]
    assert json.loads(call(*arguments, "--seed", "1")[1]) != [pair]


def test_options_are_those_of_the_other_commands(call, write, tmp_path):
    runs = [
        write(f"{name}.trec", f"q1 Q0 a 1 {score} t\nq1 Q0 b 2 1 t\n")
        for name, score in (("one", 1.01), ("two", 1.04))
    ]
    qrels, target = write("qrels.txt", "q1 0 b 1\nq2 0 a 1\n"), tmp_path / "out.md"
    options = ["--precision", "decimals:1", "--missing", "skip", "--relevant-from", "1", "--format", "markdown"]
    code, out, err = call("stability", *runs, "--qrels", qrels, "-m", "RR", *options, "-o", target)
    assert (code, out) == (0, "")
    assert "one: 1 of 2 queries has no rows, left out" in err
    header, _, line = target.read_text(encoding="utf-8").splitlines()
    assert header == f"| {' | '.join(PAIRS)} |"
    assert line == "| RR | one | two | 0.2500 | 0.5000 | 0.2500 | exact | 0.0000 | True |"


def test_the_help_lists_it_and_one_run_has_no_pair_but_a_place(call, write):
    assert "stability" in call("--help")[1]
    path = write("alone.csv", "reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nA,q,b,1,0\n")
    code, out, err = call("stability", path, "-m", "TsRR", "--format", "csv")
    assert (code, out.strip()) == (0, ",".join(PAIRS))
    assert "There is one reranker" in err
    assert rows(call("stability", path, "-m", "TsRR", "--places", "--format", "csv")[1])[0]["chance"] == "1.0"
