"""What the emulation says a tool reports, held against the tool itself."""

import ir_measures
import numpy as np
import pyarrow as pa
import pytest
import pytrec_eval
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, ndcg_score

from metrics import Runs, parse
from metrics.studies.tools.tools import emulate, find_tool

EXACT = 1e-6
SEEDS = range(6)


def draw(seed, grades=4, documents=(2, 40)):
    """A tie-heavy run and its qrels as nested dictionaries.

    Documents the run lacks, unjudged ones, queries the run lacks, with nothing relevant or not judged,
    and scores that only 64 bits tell apart.
    """
    rng = np.random.default_rng(seed)
    run, qrels = {}, {}
    for number in range(30):
        query = f"q{number}"
        names = [f"d{n}" for n in rng.permutation(60)[: rng.integers(*documents)]]
        scores = rng.integers(0, 4, len(names)) + rng.integers(0, 2, len(names)) * 1e-9
        run[query] = dict(zip(names, scores.tolist(), strict=True))
        judged = rng.permutation(60)[:25]
        grade = rng.integers(0, grades, 25) * (number % 7 > 0)
        qrels[query] = {f"d{n}": int(g) for n, g in zip(judged, grade, strict=True)}
    for lost in ("q3", "q5"):
        del run[lost]
    del qrels["q8"]
    return run, qrels


def as_runs(run, qrels):
    def table(nested, value):
        rows = [(query, name, float(x)) for query, docs in nested.items() for name, x in docs.items()]
        return pa.table(dict(zip(("query_id", "doc_id", value), zip(*rows, strict=True), strict=True)))

    return Runs({"A": table(run, "score")}, table(qrels, "relevance"))


def emulated(name, measures, run, qrels):
    """{spelling in the tool: value}"""
    values = emulate(as_runs(run, qrels), measures, [find_tool(name)])
    assert len(values) == len(measures)
    return dict(zip(values["spelling"], values["value"], strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_pytrec_eval_reports_what_is_emulated(seed):
    run, qrels = draw(seed)
    measures = ["RR", "AP", "Rprec", "nDCG-linear", "nDCG-linear@10", "P@10", "R@10", "Hits@10"]
    values = emulated("pytrec_eval", measures, run, qrels)
    each = pytrec_eval.RelevanceEvaluator(qrels, set(pytrec_eval.supported_measures)).evaluate(run)
    real = {name: np.mean([query[name] for query in each.values()]) for name in values}
    assert values == pytest.approx(real, abs=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_ir_measures_reports_what_is_emulated(seed):
    run, qrels = draw(seed)
    measures = ["RR", "RR@10", "AP", "Rprec", "nDCG-linear", "nDCG-linear@10", "P@10", "R@10", "Hits@10"]
    values = emulated("ir_measures", measures, run, qrels)
    measures_asked = [ir_measures.parse_measure(name) for name in values]
    real = {str(name): mean for name, mean in ir_measures.calc_aggregate(measures_asked, qrels, run).items()}
    assert values == pytest.approx(real, abs=EXACT)


@pytest.mark.parametrize("k", [None, 3, 10])
@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn_ndcg_of_the_listed_documents_is_what_is_emulated(seed, k):
    run, qrels = draw(seed)
    measure = "nDCG-linear" if k is None else f"nDCG-linear@{k}"
    (reported,) = emulated("scikit-learn", [measure], run, qrels).values()
    real = np.mean(
        [
            ndcg_score([truth(qrels[query], docs)], [[*docs.values()]], k=k)
            for query, docs in judged_lists(run, qrels)
        ]
    )
    assert reported == pytest.approx(real, abs=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_sentence_transformers_reranking_calls_scikit_learn_with_relevant_or_not(seed):
    run, qrels = draw(seed)
    values = emulated("sentence-transformers reranking", ["nDCG@10"], run, qrels)
    real = [
        ndcg_score([np.minimum(truth(qrels[query], docs), 1)], [np.float32([*docs.values()])], k=10)
        for query, docs in judged_lists(run, qrels)
    ]
    assert values == pytest.approx({"ndcg@10": np.mean(real)}, abs=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn_average_precision_is_the_worst_order_for_one_relevant_document(seed):
    run, qrels = draw(seed)
    qrels = {query: dict.fromkeys(docs, 0) | {min(run.get(query, docs)): 1} for query, docs in qrels.items()}
    values = emulated("scikit-learn", ["AP"], run, qrels)
    pairs = [(truth(qrels[query], docs), [*docs.values()]) for query, docs in judged_lists(run, qrels)]
    one_by_one = np.mean([average_precision_score(grades, scores) for grades, scores in pairs])
    assert values == pytest.approx({"average_precision_score": one_by_one}, abs=EXACT)
    ranked = np.mean([label_ranking_average_precision_score([grades], [scores]) for grades, scores in pairs])
    assert ranked == pytest.approx(one_by_one, abs=EXACT)


def test_scikit_learn_label_ranking_ap_is_above_the_worst_order_where_relevant_documents_tie():
    worst_order = (1 / 2 + 2 / 3) / 2
    mean_of_orders = (1 + (1 + 2 / 3) / 2 + worst_order) / 3
    scikit_learns = label_ranking_average_precision_score([[1, 1, 0]], [[1.0, 1.0, 1.0]])
    assert scikit_learns == pytest.approx(2 / 3)
    assert worst_order < scikit_learns < mean_of_orders


def test_numpy_reversed_argsort_keeps_no_order_of_ties_so_reranking_mrr_has_no_rule():
    assert find_tool("sentence-transformers reranking").rule(parse("RR@10")) is None
    scores = np.random.default_rng(0).integers(0, 3, (200, 40)).astype(np.float32)
    place = np.arange(40)
    orders = [np.argsort(row)[::-1] for row in scores]
    as_listed = [np.lexsort((place, -row)) for row in scores]
    last_first = [np.lexsort((-place, -row)) for row in scores]
    assert not np.array_equal(orders, as_listed)
    assert not np.array_equal(orders, last_first)


def judged_lists(run, qrels):
    """Lists of the judged queries."""
    return [(query, docs) for query, docs in run.items() if query in qrels]


def truth(judged, docs):
    """Grades in the order of the list."""
    return [judged.get(name, 0) for name in docs]
