"""What the emulation says a tool reports, held against the tool itself on random boards."""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score
from tool_packages import PACKAGES

from metrics import Runs, evaluate, parse
from metrics.studies.emulation import emulate
from metrics.studies.tools import TOOLS

MEASURES = (
    "RR", "RR@3", "RR@10", "AP", "AP@3", "AP@10", "AP-cap@3", "Rprec", "nDCG", "nDCG@3", "nDCG-linear",
    "nDCG-linear@10", "P@3", "R@10", "Hits@3", "bpref",
)  # fmt: skip
TOLERANCE = {"BEIR": 6e-6, "MTEB": 6e-6, "torchmetrics": 3e-6}
"""Two print five decimals, one counts in 32 bits; the others agree to nine."""
SEEDS = range(8)
PACKAGE = {
    "ranx": "ranx",
    "BEIR": "beir",
    "MTEB": "mteb",
    "sentence-transformers CrossEncoder reranking": "sentence_transformers",
    "sentence-transformers bi-encoder reranking": "sentence_transformers",
    "sentence-transformers retrieval": "sentence_transformers",
    "PyKEEN realistic": "pykeen",
    "torchmetrics": "torchmetrics",
}
"""What the tests do without where it is not installed."""
TOOL = {tool.name: tool for tool in TOOLS}


def draw(seed):
    """A run with many ties and its qrels as nested dictionaries, and the smallest relevant grade.

    By seed: two grades or four, grades below 0, lists of up to 8, 15 or 40 documents, documents the run lacks,
    unjudged ones, queries the run lacks, with nothing relevant or not judged, one answer a query, a document
    named as its query, scores that only 64 bits tell apart, and scores that are not positive.
    """
    rng = np.random.default_rng(seed)
    top = (2, 4, 4, 2)[seed % 4]
    run, qrels = {}, {}
    for number in range(12):
        query = f"q{number}"
        names = [f"d{n}" for n in rng.permutation(60)[: rng.integers(1 + seed % 2, (8, 41, 16)[seed % 3])]]
        scores = rng.integers(1 - (seed == 4), (3, 1000)[seed % 5 == 3], len(names))
        noise = 1e-9 * rng.integers(0, 2, len(names)) * (seed % 2)
        run[query] = dict(zip(names, (scores + noise).tolist(), strict=True))
        judged = [f"d{n}" for n in rng.permutation(60)[:25]]
        grades = rng.integers(-(seed == 6), top, 25) * (number % 7 > 0)
        if seed in (0, 7):
            judged, grades = names, [int(name == names[-1]) for name in names]
        qrels[query] = {name: int(grade) for name, grade in zip(judged, grades, strict=True)}
    if seed == 3:
        run["q0"]["q0"] = 5.0
    if seed % 3 == 1:
        del run["q3"], run["q5"]
    if seed % 4 == 2:
        del qrels["q8"]
    return run, qrels, 1 + (top > 2 and seed % 4 == 1)


def as_runs(run, qrels):
    def table(nested, value):
        rows = [(query, name, float(x)) for query, docs in nested.items() for name, x in docs.items()]
        return pa.table(dict(zip(("query_id", "doc_id", value), zip(*rows, strict=True), strict=True)))

    return Runs({"A": table(run, "score")}, table(qrels, "relevance"))


@cache
def emulated(seed, relevant_from):
    """What is emulated of a board for all tools."""
    return emulate(as_runs(*draw(seed)[:2]), MEASURES, TOOLS, relevant_from=relevant_from)


def numbers(tool, seed, relevant_from):
    """What is emulated of a board for one tool, where that is a number."""
    values = emulated(seed, relevant_from)
    return values[(values["tool"] == tool.name) & (values["refusal"] == "")]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_reports_what_is_emulated(tool, seed):
    if tool.name in PACKAGE:
        pytest.importorskip(PACKAGE[tool.name])
    run, qrels, level = draw(seed)
    values = numbers(tool, seed, level)
    is_fixed = values["question"].str.startswith("relevant from grade 1")
    for rows, grade in ((values[is_fixed], 1), (values[~is_fixed], level)):
        if len(rows):
            reported = PACKAGES[tool.name](rows["spelling"].unique(), run, qrels, grade)
            emulated = dict(zip(rows["spelling"], rows["value"], strict=True))
            assert emulated == pytest.approx(reported, abs=TOLERANCE.get(tool.name, 1e-9))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_boards_ask_every_rule_of_a_tool_for_a_number(tool):
    spellings = {rule.spelling for name in MEASURES if (rule := tool.rule(parse(name)))}
    assert {name for seed in SEEDS for name in numbers(tool, seed, 1)["spelling"]} == spellings


@pytest.mark.parametrize(
    ("name", "measure", "run", "qrels"),
    [
        ("scikit-learn", "nDCG-linear", {"a": 1.0}, {"a": 1}),
        ("scikit-learn", "nDCG-linear", {"a": 1.0, "b": 0.0}, {"a": 1, "b": -1}),
        ("scikit-learn", "AP", {"a": float("inf"), "b": 0.0}, {"a": 1}),
        ("pytrec_eval", "RR", {"a": 1.0, "b": 0.0}, {"a": 1, "b": 0.5}),
        ("ir_measures", "P@3", {"a": 1.0, "b": 0.0}, {"a": 1, "b": 0.5}),
        ("sentence-transformers CrossEncoder reranking", "nDCG@3", {"a": 1.0}, {"a": 1}),
    ],
)
def test_where_an_error_is_the_reason_for_no_number_the_tool_raises_it(name, measure, run, qrels):
    if name in PACKAGE:
        pytest.importorskip(PACKAGE[name])
    row = emulate(as_runs({"q": run}, {"q": qrels}), [measure], [TOOL[name]]).iloc[0]
    assert row["refusal"]
    with pytest.raises((ValueError, TypeError)):
        PACKAGES[name]([row["spelling"]], {"q": run}, {"q": qrels}, 1)


@pytest.mark.parametrize("name", ["BEIR", "MTEB"])
def test_mrr_of_a_query_nobody_judged_is_an_error(name):
    pytest.importorskip(PACKAGE[name])
    with pytest.raises(KeyError):
        PACKAGES[name](["MRR@3"], {"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1}}, 1)


def test_scikit_learns_lrap_exceeds_the_worst_case_with_tied_relevant_documents():
    worst_order = (1 / 2 + 2 / 3) / 2
    mean_of_orders = (1 + (1 + 2 / 3) / 2 + worst_order) / 3
    for measure in (label_ranking_average_precision_score, lambda y, x: average_precision_score(y[0], x[0])):
        scikit_learns = measure([[1, 1, 0]], [[1.0, 1.0, 1.0]])
        assert scikit_learns == pytest.approx(2 / 3)
        assert worst_order < scikit_learns < mean_of_orders


def test_reranking_mrr_with_argsort_is_certain_only_without_ties():
    rule = TOOL["sentence-transformers CrossEncoder reranking"].rule(parse("RR@10"))
    assert rule.stable == 0
    scores = np.random.default_rng(0).integers(0, 3, (200, 40)).astype(np.float32)
    place = np.arange(40)
    orders = [np.argsort(row)[::-1] for row in scores]
    as_listed = [np.lexsort((place, -row)) for row in scores]
    last_first = [np.lexsort((-place, -row)) for row in scores]
    assert not np.array_equal(orders, as_listed)
    assert not np.array_equal(orders, last_first)


def test_judged_of_ir_measures_breaks_ties_by_ascending_document_id():
    import ir_measures  # noqa: PLC0415 as in tool_packages

    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    value = ir_measures.calc_aggregate([ir_measures.Judged @ 1], qrels, run)[ir_measures.Judged @ 1]
    assert value == evaluate(run, "Judged@1", "docid_asc", qrels=qrels).scores.iloc[0, 0] == 1
