"""Judgments of a real pool hidden: what all of them say lies within the joint bounds of the others."""

from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
from relevance_measures import with_cutoffs
from repository import REAL_RUNS

from metrics import evaluate, parse, read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.holes import drawn_values, estimated_means, joint_bounds

FOLDER = REAL_RUNS / "trec-dl-2019"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the real runs are not beside the repository")
RERANKERS = ("ada2", "bm25", "rankgpt35", "repllama", "spladepp")
NAMES = [str(parse(name)) for name in with_cutoffs(["@10"], ["@10"])]
JUDGED = [name for name in NAMES if name != "Judged@10"]


@pytest.fixture(scope="module")
def runs():
    return read_runs([FOLDER / f"{name}.trec" for name in RERANKERS], FOLDER / "qrels.txt")


def listed_by(runs, depth):
    """(n_rerankers, n_judgments) whether each reranker has each judged document among its first rows."""
    listed = np.zeros((len(RERANKERS), len(runs.qrels)), dtype=bool)
    for row, name in zip(listed, RERANKERS, strict=True):
        queries = runs.tables[name]["query_id"].to_pandas()
        places = runs.judgment_places(name)[(queries.groupby(queries).cumcount() < depth).to_numpy()]
        row[places[places >= 0]] = True
    return listed


@pytest.fixture(scope="module")
def ends(runs):
    return evaluate(runs, JUDGED, ["pessimistic", "expected", "optimistic"], relevant_from=2).scores


def refuse_outside(runs, ends, is_hidden):
    """Hold the values of all judgments against the bounds of those that are not hidden."""
    is_listed = listed_by(runs, 1000).any(axis=0)
    hidden_elsewhere = runs.qrels.filter(pa.array(is_hidden & ~is_listed))["query_id"].to_pandas()
    n_unlisted = int(hidden_elsewhere.value_counts().max()) if len(hidden_elsewhere) else 0
    rest = runs.judged_by(runs.qrels.filter(pa.array(~is_hidden)))
    bounds = joint_bounds(rest, JUDGED, ScoringOptions(relevant_from=2), n_unlisted=n_unlisted).loc[ends.index]
    assert is_hidden.any()
    for name in JUDGED:
        assert (bounds[name, "lowest"] <= ends[name, "pessimistic"] + 1e-12).all(), name
        assert (bounds[name, "highest"] >= ends[name, "optimistic"] - 1e-12).all(), name
        assert (bounds[name, "lowest"] <= bounds[name, "highest"]).all(), name


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_values_of_all_judgments_lie_within_the_bounds_of_those_left_at_random(runs, ends, share):
    is_hidden = np.random.default_rng(19).random(len(runs.qrels)) < share
    refuse_outside(runs, ends, is_hidden)


@pytest.mark.parametrize("place", range(len(RERANKERS)), ids=RERANKERS)
def test_values_of_all_judgments_lie_within_the_bounds_where_one_run_was_not_pooled(runs, ends, place):
    pools = listed_by(runs, 10)
    others = np.delete(pools, place, axis=0).any(axis=0)
    refuse_outside(runs, ends, pools[place] & ~others)


ESTIMATED = ["nDCG@10", "P@10", "RR", "AP"]
OPTIONS = ScoringOptions(relevant_from=2)


def estimation_errors(runs, is_hidden):
    """How far estimated means are off those of all judgments, and the share of lists within their 95 %."""
    rest = runs.judged_by(runs.qrels.filter(pa.array(~is_hidden)))
    documents = RankedDocuments.of(rest, OPTIONS)
    truth = evaluate(runs, ESTIMATED, "expected", relevant_from=2).scores
    draws = [
        values.reindex(truth.index) for values in islice(drawn_values(rest, documents, ESTIMATED, OPTIONS), 12)
    ]
    off = np.mean(draws, axis=0) - truth.to_numpy()
    is_inside = abs(off) <= 1.96 * np.std(draws, axis=0, ddof=1) + 1e-9
    means = [off[truth.index.get_level_values(0) == name].mean(axis=0) for name in RERANKERS]
    return dict(zip(ESTIMATED, np.transpose(means), strict=True)), dict(
        zip(ESTIMATED, is_inside.mean(axis=0), strict=True)
    )


def test_estimates_with_30_percent_hidden_are_near_the_full_means(runs):
    errors, shares = estimation_errors(runs, np.random.default_rng(19).random(len(runs.qrels)) < 0.3)
    for name, bound in (("nDCG@10", 0.04), ("P@10", 0.04), ("RR", 0.045), ("AP", 0.06)):
        assert abs(errors[name]).max() < bound, name
        assert abs(errors[name]).mean() < 0.025, name
    assert min(shares[name] for name in ESTIMATED[:3]) > 0.85
    assert shares["AP"] > 0.75


def test_rerankers_outside_the_pool_are_overestimated_and_flagged(runs, monkeypatch):
    pools = listed_by(runs, 10)
    is_hidden = pools[1] & ~np.delete(pools, 1, axis=0).any(axis=0)
    errors, _ = estimation_errors(runs, is_hidden)
    assert 0.03 < errors["P@10"][1] < 0.1
    rest = runs.judged_by(runs.qrels.filter(pa.array(~is_hidden)))
    monkeypatch.setattr("metrics.evaluation.holes.DRAWS", 2)
    known = {name: estimated_means(rest, name, OPTIONS).notna() for name in ("nDCG@10", "AP")}
    assert known["nDCG@10"].to_list() == [name != "bm25" for name in RERANKERS]
    assert not known["AP"].any()
