"""The cases for other tools, which no formula of ours has made."""

import json
import math
import re
from fractions import Fraction
from statistics import mean, pvariance

import numpy as np
import pyarrow as pa
import pytest
from enumeration import SORTS, Doc, JudgedList, count_relevant, every_value, tie_groups, value_in_order
from repository import ROOT

from metrics import ReadError, Runs, evaluate
from metrics.conformance import (
    CASES_FILE,
    ORDERS,
    PRECISIONS,
    compare_results,
    expected_value,
    load_cases,
    order_sentences,
    read_results,
)
from metrics.studies.permutations import possible_values
from metrics.ties import Ranking

CASES = load_cases()
TREATMENTS = {
    "tied": "expected",
    "worst": "pessimistic",
    "best": "optimistic",
    "std": "std",
    "input": "input",
    "docid_asc": "docid_asc",
    "docid_desc": "docid_desc",
}
"""Tie order of a case → our treatment."""


def results_by(order, precision="float64", among=CASES):
    return {case["id"]: expected_value(case, order, precision) for case in among if order in case["values"]}


def as_runs(case):
    documents, scores = zip(*case["run"], strict=True)
    run = {"query_id": ["q"] * len(scores), "doc_id": documents, "score": pa.array(scores, pa.float64())}
    grades = pa.array(case["qrels"].values(), pa.float64())
    qrels = {"query_id": ["q"] * len(grades), "doc_id": [*case["qrels"]], "relevance": grades}
    return Runs({"A": pa.table(run)}, pa.table(qrels))


def enumerated_values(case, precision):
    """The values of a case in every tie order, by all orders one by one."""
    score = np.float32 if precision == "float32" else float
    docs = tuple(
        Doc(name, score(x), case["qrels"].get(name, 0), name in case["qrels"]) for name, x in case["run"]
    )
    seen = JudgedList(docs, tuple((grade, name) for name, grade in case["qrels"].items()))
    sorts = SORTS | {"input_reversed": lambda docs: docs[::-1]}
    values = {name: value_in_order(case["measure"], seen, sort(docs)) for name, sort in sorts.items()}
    every = every_value(case["measure"], seen)
    variance = pvariance(every)
    values |= {"tied": mean(every), "worst": min(every), "best": max(every)}
    values |= {"variance": variance, "std": math.sqrt(variance)}
    if case["measure"] == "RR":
        values["mean_rank"] = 1 / mean([1 / value for value in every]) if min(every) else Fraction(0)
    if case["measure"] == "AP":
        values["tie_as_step"] = tie_as_step(seen)
    return values


def tie_as_step(seen):
    """AP where all of a tie is retrieved at once, as scikit-learn's average precision has it."""
    total, depth, hits = Fraction(0), 0, 0
    for group in tie_groups(seen.docs):
        relevant = sum(doc.grade >= 1 for doc in group)
        depth, hits = depth + len(group), hits + relevant
        total += relevant * Fraction(hits, depth)
    return total / (count_relevant(seen) or 1)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_value_in_the_file_is_that_of_all_orders(precision):
    for case in CASES:
        values, block = enumerated_values(case, precision), case.get(PRECISIONS[precision], case["values"])
        decimals = {order: value["decimal"] for order, value in block.items()}
        assert {order: float(value) for order, value in values.items()} == pytest.approx(decimals, rel=1e-12), (
            case
        )
        exact = {order: Fraction(value["exact"]) for order, value in block.items() if "exact" in value}
        assert exact.items() <= values.items(), case


@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_case_is_what_we_evaluate_under_every_treatment(precision):
    differences = []
    for case in CASES:
        scores = evaluate(as_runs(case), [case["measure"]], [*TREATMENTS.values()], precision=precision).scores
        for order, ours in zip(TREATMENTS, scores.iloc[0], strict=True):
            exact = expected_value(case, order, precision)
            if not math.isclose(ours, exact, rel_tol=1e-12, abs_tol=1e-13):
                differences.append((case["id"], order, ours, exact))
    assert differences == []


def test_the_possible_values_of_every_case_add_up_to_its_tied_value():
    for case in CASES:
        possible = possible_values(Ranking.of(as_runs(case), "A"), "q", case["measure"], "input")
        error = 0.03 if possible.draws else 1e-13
        total = possible.rows["value"] @ possible.rows["chance"]
        assert total == pytest.approx(expected_value(case, "tied", "float64"), rel=1e-12, abs=error), case["id"]
        assert not possible.draws or case["measure"] == "bpref"


def test_the_case_in_the_documentation_is_one_of_them():
    page = (ROOT / "docs/how-to/conformance.md").read_text(encoding="utf-8")
    shown = json.loads(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
    (case,) = (case for case in CASES if case["id"] == shown["id"])
    assert shown.pop("values").items() <= case["values"].items()
    assert shown.items() <= case.items()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_tool_that_keeps_one_tie_order_is_told_from_all_others_by_every_measure(order, precision):
    table = compare_results(results_by(order, precision))
    assert set(table["order"]) == {order}
    assert set(table["precision"]) == {precision}
    assert set(table["also"]) == {()}
    assert table["passes"].all()


def test_a_wrong_value_fails_and_the_order_of_its_measure_stays_known():
    table = compare_results(results_by("docid_asc") | {"AP-05": 0.123, "P@k-05": math.nan})
    assert list(table.loc[~table["passes"], "case"]) == ["P@k-05", "AP-05"]
    assert set(table["order"]) == {"docid_asc"}
    assert (
        len(compare_results(results_by("docid_asc") | {"AP-05": 0.123}, tolerance=1).query("not passes")) == 0
    )


def test_a_tool_that_mixes_orders_is_told_measure_by_measure():
    mixed = results_by("tied") | {
        name: value for name, value in results_by("worst").items() if name.startswith("AP")
    }
    by_ap, others = sorted(order_sentences(compare_results(mixed)), key=len)
    assert by_ap.startswith("AP: worst order. This order fits 17 of 17")
    assert "nDCG-linear@k: mean over all orders (tied score). This order fits 183 of 183" in others


def test_an_order_is_not_claimed_where_none_fits_or_others_fit_as_well():
    at_random = np.random.default_rng(0).random(len(CASES))
    sentences = order_sentences(
        compare_results({case["id"]: x for case, x in zip(CASES, at_random, strict=True)})
    )
    assert {sentence.partition(": ")[2] for sentence in sentences} == {
        "no known tie order fits half of the cases."
    }
    (sentence,) = order_sentences(compare_results({"RR-01": 1 / 3}))
    orders = "document ID descending, as in trec_eval; document ID ascending"
    assert f"Other orders that fit the same number of cases: {orders}" in sentence


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "not a JSON object"),
        ("[]", "not a JSON object"),
        ('{"RR-01": "1/3"}', 'RR-01: "1/3" is not a number'),
        ('{"RR-01": true}', "RR-01: true is not a number"),
        ('{"RR-999": 1}', "'RR-999' is not a test case"),
        ('{"RR-01": null}', "the file has no values"),
    ],
)
def test_a_file_that_holds_no_results_is_refused_with_what_to_write(write, text, problem):
    with pytest.raises(ReadError, match=problem):
        read_results(write("results.json", text))


PYTREC_EVAL = {
    "RR": "recip_rank", "Hits": "success", "P": "P", "R": "recall", "AP": "map", "Rprec": "Rprec",
    "bpref": "bpref", "nDCG-linear": "ndcg", "nDCG-linear@k": "ndcg_cut",
}  # fmt: skip


def test_the_command_names_the_order_of_trec_eval_for_the_values_of_pytrec_eval(call, write):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    results = {}
    for case in CASES:
        base, _, cutoff = case["measure"].partition("@")
        name = PYTREC_EVAL.get(f"{base}@k" if cutoff and base.startswith("nDCG") else base)
        if name and not (base == "RR" and cutoff):
            asked = f"{name}.{cutoff}" if cutoff else name
            run = {document: float(score) for document, score in case["run"]}
            values = pytrec_eval.RelevanceEvaluator({"q": case["qrels"]}, {asked}).evaluate({"q": run})
            results[case["id"]] = values["q"][asked.replace(".", "_")]
    code, out, err = call("conformance", write("results.json", json.dumps(results)))
    assert (code, out) == (0, "")
    order = "document ID descending, as in trec_eval, scores compared as 32-bit floats"
    assert re.fullmatch(rf"RR, .*: {order}\. This order fits (\d+) of \1 cases\.\n0 of .*\n", err)


def test_the_command_lists_the_cases_that_fail_and_all_of_them_as_csv(call, write):
    file = write("results.json", json.dumps(results_by("tied") | {"AP-05": 2}))
    code, out, err = call("conformance", file)
    assert (code, out.count("\n")) == (1, 2)
    assert "AP-05" in out
    assert "1 of 200 cases failed; 0 cases without a value." in err
    code, out, _ = call("conformance", file, "--format", "csv")
    assert (code, out.count("\n")) == (1, 201)


def test_the_command_alone_says_where_the_cases_are(call):
    code, out, err = call("conformance")
    assert (code, err) == (0, "")
    assert str(CASES_FILE) in out
    assert '{"RR-01": 0.5' in out
