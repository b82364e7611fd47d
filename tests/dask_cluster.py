"""A dataset held against the same rows in memory."""

import logging
from contextlib import contextmanager
from functools import partial

import numpy as np
import pandas as pd
from distributed import Client

from metrics import Evaluation, evaluate
from metrics.evaluation import ScoringOptions
from metrics.scale.dask import Dataset

MEASURES = ["RR", "Hits@2", "nDCG@3", "AP", "DR@2", "Div@2"]
TIES = ["input", "expected", "optimistic", "pessimistic", "docid_desc", "random:3"]


@contextmanager
def scheduler():
    """Address of a scheduler in this process, whose workers are threads: what tests change, they see."""
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with Client(processes=False, n_workers=2, threads_per_worker=1, **quiet) as client:
        yield client.scheduler.address


def dataset_evaluation(address, files, qrels=None, *, reading=None, **options):
    """The evaluation of a dataset, and the dataset."""
    further = ScoringOptions(**options).further_columns
    dataset = Dataset(files, qrels, scheduler=address, score_columns=further, **(reading or {}))
    score = partial(evaluate, measures=MEASURES, ties=TIES, **options)
    return Evaluation.merge(*dataset.parts(score)), dataset


def assert_same(actual, expected):
    """Hold values, lists, counts and lists left out against each other; in any order."""
    assert set(actual.scores.index) == set(expected.scores.index)
    assert len(actual.scores) == len(expected.scores)
    assert set(actual.skipped) == set(expected.skipped)
    gaps = actual.scores.reindex(expected.scores.index).to_numpy() - expected.scores.to_numpy()
    assert np.abs(gaps).max(initial=0) <= 1e-12
    assert actual.policies.to_dict("index") == expected.policies.to_dict("index")
    lists = actual.lists.reindex(expected.lists.index)
    pd.testing.assert_frame_equal(lists, expected.lists, check_dtype=False)
