import csv
import io
import json
import subprocess
import sys

import pytest
from repository import ROOT

from metrics import evaluate, read_runs, swapped_orders
from metrics.studies.pair_tests import TESTS
from metrics.studies.pairs import COLUMNS, CORRECTIONS, compare

QUERIES = 40


@pytest.fixture
def table(write):
    """Lucky ties all in the order that pays; plain does not tie; third does as plain but once."""
    rows = ["reranker,query_id,doc_id,score,relevance"]
    for query in range(QUERIES):
        rows += [f"lucky,q{query},{doc},1,{int(doc == 'a')}" for doc in "abcd"]
        first = query % 2
        rows += [f"plain,q{query},x,2,{first}", f"plain,q{query},y,1,{1 - first}"]
        first = first if query else 1
        rows += [f"third,q{query},x,2,{first}", f"third,q{query},y,1,{1 - first}"]
    return write("runs.csv", "\n".join(rows) + "\n")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_holds_what_compare_says_for_each_measure_and_treatment_to_the_last_bit(call, table):
    code, out, _ = call("compare", table, "--baseline", "plain", "--format", "csv")
    assert code == 0
    assert out.splitlines()[0].split(",") == ["measure", "ties", *COLUMNS, "changed"]
    evaluation = evaluate(read_runs([table]), ["RR", "nDCG@10"], ["input", "expected"])
    comparisons = rows(out)
    order = [
        (measure, ties, name)
        for measure in ("RR", "nDCG@10")
        for name in ("lucky", "third")
        for ties in ("input", "expected")
    ]
    assert [(row["measure"], row["ties"], row["reranker"]) for row in comparisons] == order
    for row in comparisons:
        expected = compare(evaluation, row["measure"], row["ties"], "plain")
        expected = expected[expected["reranker"] == row["reranker"]].iloc[0]
        assert {name: type(expected[name])(row[name]) for name in COLUMNS} == expected.to_dict()


def test_a_verdict_that_rests_on_sort_order_is_marked_and_told_on_stderr(call, table):
    _, out, err = call("compare", table, "--baseline", "plain", "-m", "RR", "--format", "csv")
    assert {(row["reranker"], row["changed"]) for row in rows(out)} == {("lucky", "True"), ("third", "False")}
    assert "RR: 1 of 2 rerankers is significantly worse than plain, and none is significantly better" in err
    assert "1 of 2 verdicts depends on tie order. By file order, lucky beats plain by 0.250 MRR" in err


def test_without_a_baseline_all_pairs_are_compared(call, table):
    _, out, _ = call("compare", table, "-m", "RR", "--ties", "expected", "--format", "csv")
    comparisons = rows(out)
    assert [(row["baseline"], row["reranker"]) for row in comparisons] == [
        ("lucky", "plain"),
        ("lucky", "third"),
        ("plain", "third"),
    ]
    assert "changed" not in comparisons[0]


@pytest.mark.parametrize(
    "options",
    [
        {"test": "flips", "seed": 4},
        {"family": "baseline", "baseline": "third"},
        {"test": "t", "correction": "benjamini-hochberg"},
        {"test": "mann-whitney", "correction": "none"},
    ],
    ids=lambda options: options.get("test", "default"),
)
def test_test_correction_and_seed_are_those_asked_for(call, table, options):
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    _, out, _ = call("compare", table, "-m", "RR", "--ties", "expected", *arguments, "--format", "csv")
    expected = compare(evaluate(read_runs([table]), ["RR"], ["expected"]), "RR", "expected", **options)
    for name in ("p_adjusted", "low", "high"):
        assert [float(row[name]) for row in rows(out)] == expected[name].to_list()


def test_policies_are_those_of_evaluate_and_are_told(call, write):
    runs = [write(f"{name}.trec", "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n") for name in ("one", "two")]
    qrels = write("qrels.txt", "q1 0 b 1\nq2 0 a 1\n")
    arguments = ["--qrels", qrels, "-m", "RR", "--ties", "input", "--format", "csv"]
    for options, n in (([], "2"), (["--missing", "skip"], "1")):
        _, out, err = call("compare", *runs, *arguments, *options)
        assert rows(out)[0]["n"] == n
        assert "one: 1 of 2 queries has no rows" in err


def test_swaps_alone_are_each_pair_whose_order_the_ties_decide(call, table):
    code, out, err = call("compare", table, "--swaps", "-m", "RR", "-m", "TsRR", "--format", "csv")
    assert code == 0
    expected = swapped_orders(evaluate(read_runs([table]), "RR", ["input", "expected"]), "RR", "input")
    assert [(row["a"], row["b"], float(row["p_adjusted"])) for row in rows(out)] == [
        *zip(expected["a"], expected["b"], expected["p_adjusted"], strict=True)
    ]
    assert {row["measure"] for row in rows(out)} == {"RR"}
    assert all(0 <= float(row["above"]) < 0.5 for row in rows(out))
    assert "RR: 2 of 3 pairs change order when ties are averaged, all of them significant. By file" in err
    assert "TsRR settles ties by its own rule." in err
    assert call("compare", table, "--swaps", "--ties", "expected")[0] == 2


def test_json_has_no_infinity(call, write):
    text = "reranker,query_id,doc_id,score,relevance\n"
    text += "".join(f"A,q{q},a,1,1\nB,q{q},b,1,0\n" for q in range(5))
    runs = write("runs.csv", text)
    _, out, _ = call("compare", runs, "-m", "RR", "--ties", "input", "--format", "json")
    record = json.loads(out, parse_constant=pytest.fail)[0]
    assert (record["difference"], record["p"], record["low"], record["high"]) == (-1, 1 / 16, -1, 1)
    _, out, _ = call("compare", runs, "-m", "DCG", "--ties", "input", "--format", "json")
    record = json.loads(out, parse_constant=pytest.fail)[0]
    assert (record["low"], record["high"]) == (None, None)


UNTESTED = ("low", "high", "p", "p_adjusted")
FIGURES = ("mean_baseline", "mean", "difference")


@pytest.mark.parametrize(("grade", "n", "blank"), [(0, "0", {*UNTESTED, *FIGURES}), (1, "1", {*UNTESTED})])
def test_fewer_than_two_common_queries_leave_the_figures_of_a_test_blank(call, write, grade, n, blank):
    text = f"reranker,query_id,doc_id,score,relevance\nA,q,a,1,{grade}\nB,q,b,2,0\nB,q,a,1,{grade}\n"
    arguments = ["compare", write("runs.csv", text), "--empty", "skip", "-m", "RR"]
    code, out, err = call(*arguments, "--format", "csv")
    assert code == 0
    for row in rows(out):
        assert (row["n"], row["stars"]) == (n, "–")
        assert {name for name, value in row.items() if not value} == blank
    assert "low and high" not in err
    assert ">0.9999" not in call(*arguments)[1]
    for row in rows(call(*arguments, "--table", "--format", "csv")[1]):
        assert [row[name] for name in ("low", "high", "p", "p_adjusted", "stars")] == [""] * 5


def test_one_run_is_refused_with_what_to_do(call, write):
    path = write("one.csv", "query_id,doc_id,score,relevance\nq,a,1,1\nq,b,1,0\n")
    code, out, err = call("compare", path)
    assert (code, out) == (2, "")
    assert "There is only one run. Give two runs or more, or use tiescope evaluate." in err


def test_tests_and_corrections_are_listed(call):
    code, out, _ = call("compare", "--list-tests")
    assert code == 0
    assert all(f"--test {one.name} " in out for one in TESTS)
    assert all(f"--correction {one} " in out for one in CORRECTIONS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--baseline", "plane"],
            "There is no reranker 'plane'. Choose the baseline among: lucky, plain, third.",
        ),
        (["--test", "permutaton"], "There is no test 'permutaton'. Choose from: flips, t,"),
        (["--correction", "sidak"], "There is no correction 'sidak'. Choose from: largest, holm"),
        (["--seed", "-1"], "seed"),
        (["-m", "Foo"], "'Foo'"),
        (["--traditional", "input", "--ties", "expected"], "Give either --traditional or --ties."),
    ],
)
def test_bad_usage_exits_2_with_a_message_on_stderr_alone(call, table, options, words):
    code, out, err = call("compare", table, *options)
    assert (code, out) == (2, "")
    assert words in err


def test_no_command_and_no_default_test_waits_for_scipy():
    modules = "metrics.cli, metrics.studies.pair_findings"
    script = f"import sys, {modules}; print({{'scipy'}} & set(sys.modules))"
    finished = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert finished.stdout == "set()\n"


@pytest.mark.parametrize("ties", ["std", "expected"])
def test_what_is_no_order_of_ties_is_neither_traditional_nor_swapped(call, table, ties):
    code, _, err = call("compare", table, "--traditional", ties)
    assert code == 2
    assert f"{ties} does not order ties" in err
    code, _, err = call("compare", table, "--swaps", "--ties", ties, "--ties", "expected")
    assert code == 2
    assert "--swaps needs expected (tied scores) and a tie order" in err
