"""bpref: as trec_eval computes it, in ties of any size, and where a pool was judged in part."""

import gzip
import math
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from repository import REAL_RUNS

from metrics import evaluate, parse, read_runs
from metrics.ties import Judgments, TieGroups

MILLION = 1_000_000
NAMES = ["bpref"]


def tie(size, grades, above=0, further=()):
    """One tie with the grades of those that have one, and grades of documents that are not listed."""
    grades = np.array(grades, dtype=float)
    judged = np.append(grades, further)
    judgments = Judgments(pa.array(["q"]), 1, np.zeros(len(judged), np.int64), judged)
    zero = np.zeros(1, np.int64)
    return TieGroups(judgments, zero + size + above, zero, zero + above, zero + size, zero, grades)


def of_pytrec_eval(judged, ranked, relevant_from=1):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(NAMES), relevance_level=relevant_from)
    return pd.DataFrame(evaluator.evaluate(ranked)).T[NAMES]


def nested(path, column, number):
    lists = {}
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            fields = line.split()
            lists.setdefault(fields[0], {})[fields[2]] = number(fields[column])
    return lists


@pytest.mark.parametrize(
    ("run", "judgments", "relevant_from"),
    [
        *((f"trec-dl-2019/{name}.trec", "trec-dl-2019/qrels.txt", 2) for name in ("bm25", "repllama")),
        ("robust-2003/rutcor03100.trec.gz", "robust-2003/qrels.txt.gz", 1),
    ],
)
def test_a_real_run_has_the_values_of_pytrec_eval(run, judgments, relevant_from):
    if not (REAL_RUNS / run).is_file():
        pytest.skip("the real runs are not beside the repository")
    ranked, judged = nested(REAL_RUNS / run, 4, float), nested(REAL_RUNS / judgments, 3, int)
    runs = read_runs([REAL_RUNS / run], REAL_RUNS / judgments)
    exact = of_pytrec_eval(judged, ranked, relevant_from)
    by = {"precision": "float32", "relevant_from": relevant_from}
    scores = evaluate(runs, NAMES, "docid_desc", **by).scores.droplevel(0).droplevel(1, axis=1)
    assert len(exact) > 40
    assert scores.loc[exact.index].to_numpy() == pytest.approx(exact.to_numpy(), abs=1e-14)


def drawn(seed, n_docs=12):
    """One list of different scores and its judgments, some below 0, some of documents it lacks."""
    chance = random.Random(seed)  # noqa: S311
    ranked = {f"d{place}": float(n_docs - place) for place in range(n_docs)}
    names = [*ranked, "x", "y"]
    grades = chance.choice([(0, 1), (-1, 0, 1), (-2, -1, 1, 2), (1,), (0, 0, 0, 1)])
    judged = chance.sample(names, chance.randint(1, len(names)))
    return ranked, {name: chance.choice(grades) for name in judged} | {"unlisted": chance.choice([0, 1])}


def runs_of(ranked, judged):
    tables = [
        pd.DataFrame([(q, doc, float(value)) for q, docs in part.items() for doc, value in docs.items()])
        for part in (ranked, judged)
    ]
    names = ["query_id", "doc_id"]
    run, qrels = (
        part.set_axis([*names, own], axis=1) for part, own in zip(tables, ["score", "relevance"], strict=True)
    )
    return read_runs(run, qrels)


def test_grades_below_zero_are_of_the_pool_and_unjudged_as_pytrec_eval_has_it():
    lists = {f"q{number}": drawn(number) for number in range(300)}
    ranked, judged = ({query: part[place] for query, part in lists.items()} for place in (0, 1))
    exact = of_pytrec_eval(judged, ranked)
    scores = evaluate(runs_of(ranked, judged), NAMES, "input").scores.droplevel(0)
    assert scores.loc[exact.index].to_numpy() == pytest.approx(exact.to_numpy(), abs=1e-15)


@pytest.mark.parametrize(("relevant", "others", "n_above"), [(1, 1, 0), (3, 40, 0), (500_000, 499_999, 7)])
def test_bpref_of_a_million_tied_documents_and_its_spread(relevant, others, n_above):
    grades = np.repeat([1.0, 0.0], [relevant, others])
    groups = tie(MILLION, grades, n_above)
    smaller = min(relevant, others)
    worths = [max(smaller - above, 0) for above in range(others + 1)]
    mean = Fraction(sum(worths), (others + 1) * smaller)
    squares = Fraction(sum(worth**2 for worth in worths), (others + 1) * smaller**2) - mean**2
    spread = math.sqrt(Fraction(others + relevant + 1, relevant * (others + 2)) * squares)
    assert parse("bpref").values(groups)[0] == pytest.approx(float(mean), rel=1e-12)
    assert math.sqrt(parse("bpref").variances(groups)[0]) == pytest.approx(spread, rel=1e-9)


def test_bpref_is_the_same_without_unjudged_documents():
    lists = {f"q{number}": drawn(number) for number in range(20)}
    ranked = {query: {doc: score // 4 for doc, score in part.items()} for query, (part, _) in lists.items()}
    runs = runs_of(ranked, {query: part for query, (_, part) in lists.items()})
    ties = ["expected", "std", "pessimistic", "optimistic", "input"]
    full, condensed = (
        evaluate(runs, "bpref", ties, unjudged=way).scores.to_numpy() for way in ("nonrelevant", "leave_out")
    )
    assert condensed == pytest.approx(full, abs=1e-15)
