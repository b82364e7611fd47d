"""Values list by list against the real packages: trec_eval's code, ir_measures, scikit-learn."""

import gzip
import random
import shutil
from collections import defaultdict

import ir_measures
import pyarrow as pa
import pytest
import pytrec_eval
from ir_measures import AP, ERR, RR, Judged, P, R, Rprec, Success, nDCG
from repository import REAL_RUNS
from sklearn.metrics import ndcg_score

from metrics import Runs, evaluate, read_runs

TREC_EVAL = {
    "recip_rank": "RR",
    "map": "AP",
    "map_cut_10": "AP@10",
    "ndcg": "nDCG-linear",
    "ndcg_cut_10": "nDCG-linear@10",
    "P_10": "P@10",
    "recall_10": "R@10",
    "success_5": "Hits@5",
    "Rprec": "Rprec",
}
BY_TREC_EVAL = {
    RR: "RR",
    AP: "AP",
    AP @ 10: "AP@10",
    nDCG @ 10: "nDCG-linear@10",
    P @ 5: "P@5",
    R @ 10: "R@10",
    Success @ 3: "Hits@3",
    Rprec: "Rprec",
}
"""What ir_measures leaves to pytrec_eval; the cut `RR@k` and `Judged@k` it computes itself."""

BY_ITSELF = {RR @ 1: "RR@1", RR @ 10: "RR@10", Judged @ 3: "Judged@3"}
REAL = [
    *(("trec-dl-2019", f"{name}.trec", "qrels.txt") for name in ("ada2", "bm25", "rankgpt35")),
    *(("trec-dl-2019", f"{name}.trec", "qrels.txt") for name in ("repllama", "spladepp")),
    ("robust-2003", "rutcor03100.trec.gz", "qrels.txt.gz"),
]


def random_run_and_qrels(seed):
    """{query: {document: score}} and {query: {document: grade}}; some queries are in one of them only."""
    chance = random.Random(seed)  # noqa: S311
    names = ["é", "\uffff", "\U0001f600", *map(str, range(8, 30)), *"aAzZ"]
    scores = chance.choice([(0.0,), (1.0, 1.00000001, 2.0), (-1.0, 0.5, 0.25, 3e8)])
    run, qrels = {}, {}
    for number in range(60):
        query = str(number)
        documents = chance.sample(names, chance.randint(3, 20))
        if number % 10:
            run[query] = {name: chance.choice(scores) for name in documents}
        if number % 7:
            judged = chance.sample(names, chance.randint(1, 20))
            qrels[query] = {name: chance.choice((-1, 0, 0, 1, 2, 3)) for name in judged}
    return run, qrels


def runs_of(run, qrels):
    def table(nested, value):
        rows = [(query, name, float(each)) for query, docs in nested.items() for name, each in docs.items()]
        return pa.table(dict(zip(("query_id", "doc_id", value), zip(*rows, strict=True), strict=True)))

    return Runs({"A": table(run, "score")}, table(qrels, "relevance"))


def parsed(path, value, kind):
    nested = defaultdict(dict)
    content = path.read_bytes()
    for line in (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines():
        fields = line.split()
        nested[fields[0]][fields[2]] = kind(fields[value])
    return dict(nested)


def per_query(runs, measures, ties, **options):
    """{measure: {query: value}}."""
    scores = evaluate(runs, measures, [ties], **options).scores.droplevel("reranker")
    return {measure: scores[measure, ties].to_dict() for measure in measures}


def by_trec_eval(run, qrels):
    values_by_query = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL)).evaluate(run)
    return {
        ours: {query: values_by_query[query][theirs] for query in values_by_query}
        for theirs, ours in TREC_EVAL.items()
    }


def by_ir_measures(run, qrels, measures):
    values_by_measure = {ours: {} for ours in measures.values()}
    for metric in ir_measures.iter_calc(list(measures), qrels, run):
        values_by_measure[measures[metric.measure]][metric.query_id] = metric.value
    return values_by_measure


def assert_same(actual, expected):
    for measure, values in expected.items():
        assert actual[measure] == pytest.approx(values, rel=1e-12, abs=1e-15), measure


@pytest.mark.parametrize("seed", range(20))
def test_trec_eval_and_ir_measures_are_a_tie_order_a_precision_and_a_policy(seed):
    run, qrels = random_run_and_qrels(seed)
    runs, exact = runs_of(run, qrels), {"precision": "float32"}
    values = per_query(runs, list(TREC_EVAL.values()), "docid_desc", missing="skip", **exact)
    assert_same(values, by_trec_eval(run, qrels))
    values = per_query(runs, list(BY_TREC_EVAL.values()), "docid_desc", missing="zero", **exact)
    assert_same(values, by_ir_measures(run, qrels, BY_TREC_EVAL))
    values = per_query(runs, list(BY_ITSELF.values()), "docid_asc", missing="zero")
    assert_same(values, by_ir_measures(run, qrels, BY_ITSELF))


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
@pytest.mark.parametrize("seed", range(5))
def test_err_in_falling_ids_is_that_of_gdeval_to_its_five_decimals(seed):
    run, qrels = random_run_and_qrels(seed)
    runs = runs_of(run, qrels)
    for measure, name in ((ERR @ 3, "ERR@3"), (ERR @ 20, "ERR@20")):
        theirs = by_ir_measures(run, qrels, {measure: name})[name]
        ours = per_query(runs, [name], "docid_desc")[name]
        assert any(theirs.values())
        assert ours == pytest.approx(theirs, abs=6e-6)


@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_the_expected_linear_ndcg_is_that_of_scikit_learn(k):
    measure = f"nDCG-linear@{k}" if k else "nDCG-linear"
    for seed in range(10):
        run, _ = random_run_and_qrels(seed)
        chance = random.Random(seed)  # noqa: S311
        judged = {query: {name: chance.choice((0, 0, 1, 2, 3)) for name in run[query]} for query in run}
        expected = {
            query: ndcg_score([list(judged[query].values())], [list(run[query].values())], k=k) for query in run
        }
        values = per_query(runs_of(run, judged), [measure], "expected")
        assert values[measure] == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.skipif(not REAL_RUNS.is_dir(), reason="the real runs are not beside the repository")
@pytest.mark.parametrize(("folder", "run", "qrels"), REAL, ids=lambda name: name.split(".")[0])
def test_a_real_run_scores_as_trec_eval_and_ir_measures_score_it_list_by_list(folder, run, qrels):
    paths = REAL_RUNS / folder / run, REAL_RUNS / folder / qrels
    ranked, judged = parsed(paths[0], 4, float), parsed(paths[1], 3, int)
    runs = read_runs([paths[0]], paths[1])
    exact = {"precision": "float32", "missing": "skip"}
    assert_same(per_query(runs, list(TREC_EVAL.values()), "docid_desc", **exact), by_trec_eval(ranked, judged))
    values = per_query(runs, list(BY_ITSELF.values()), "docid_asc", missing="zero")
    assert_same(values, by_ir_measures(ranked, judged, BY_ITSELF))
