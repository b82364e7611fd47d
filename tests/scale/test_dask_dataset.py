"""Datasets give what the same rows give in memory, however they are split and whichever worker is lost."""

import os
import signal
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask_cluster import assert_same
from drawing import IDS, scored_frames
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import metrics
from metrics import Evaluation, evaluate, evaluate_dataset
from metrics.scale.cluster import connect
from metrics.scale.dask import Dataset
from metrics.scale.dataset_parts import cut_file, dataset_files, lists_in_several, parts_to_scan, scan_part
from metrics.support.progress import listening

MEASURES = ["RR", "Hits@2", "nDCG@3", "AP", "DR@2"]
TIES = ["input", "expected", "optimistic", "pessimistic", "docid_desc"]


@st.composite
def files(draw):
    """A table in the order of its files, cut anywhere into files and row groups, and perhaps judgments.

    Scores are as `scored_frames` has them; the last value says what is done about those that are missing.
    """
    table, missing_score = draw(scored_frames())
    if draw(st.booleans()):
        table = table.sort_values(draw(st.permutations(["reranker", "query_id"])), kind="stable")
    n_rows = len(table)
    cuts = sorted(draw(st.lists(st.integers(0, n_rows), max_size=4)))
    pieces = [table[first:end] for first, end in zip([0, *cuts], [*cuts, n_rows], strict=True)]
    groups = [draw(st.integers(1, 5)) for _ in pieces]
    judged = draw(st.lists(st.sampled_from(["q1", "Q1", "7", "absent"]), unique=True, min_size=1))
    documents = dict.fromkeys(draw(st.lists(IDS, max_size=3)) + table["doc_id"].to_list()[:2])
    grade = st.sampled_from([0, 1, 2])
    lines = "".join(f"{query} 0 {name} {draw(grade)}\n" for query in judged for name in documents)
    return table, list(zip(pieces, groups, strict=True)), lines if draw(st.booleans()) else None, missing_score


@settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
@given(
    split_table=files(),
    rows=st.sampled_from([1, 4, 100]),
    policy=st.sampled_from(["zero", "skip"]),
    unjudged=st.sampled_from(["nonrelevant", "leave_out"]),
)
def test_any_split_of_rows_over_files_and_row_groups_gives_the_values_of_the_whole(
    address, split_table, rows, policy, unjudged
):
    table, pieces, judgments, missing_score = split_table
    options = {"measures": MEASURES, "ties": TIES, "missing": policy, "empty": policy, "unjudged": unjudged}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for module in ("dataset_parts", "dask"):
            patch.setattr(f"metrics.scale.{module}.ROWS", rows)
        qrels = (
            Path(folder, "qrels.txt") if judgments and all(map(str.strip, judgments.split("\n")[:1])) else None
        )
        if qrels is not None:
            qrels.write_text(judgments, encoding="utf-8", newline="")
        parts, table_path = Path(folder, "parts"), Path(folder, "whole.parquet")
        parts.mkdir()
        for number, (piece, group) in enumerate(pieces):
            parquet.write_table(pa.Table.from_pandas(piece), parts / f"{number}.parquet", row_group_size=group)
        table.to_parquet(table_path)
        expected = evaluate(metrics.read_runs([table_path], qrels, missing_score=missing_score), **options)
        stored = evaluate_dataset(parts, qrels, scheduler=address, missing_score=missing_score, **options)
        evaluation = stored.load()
    assert_same(evaluation, expected)
    pd.testing.assert_frame_equal(
        stored.summary(), expected.summary().loc[stored.rerankers], rtol=0, atol=1e-12
    )


@settings(max_examples=20)
@given(split_table=files(), rows=st.sampled_from([1, 4, 100]))
def test_parts_hold_every_row_once_and_a_list_that_stands_together_lies_in_one(split_table, rows):
    table, pieces, *_ = split_table
    ids = list(zip(table["reranker"], table["query_id"], strict=True))
    is_contiguous = len(set(ids)) == 1 + sum(one != other for one, other in pairwise(ids))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("metrics.scale.dataset_parts.ROWS", rows)
        path = Path(folder, "table.parquet")
        parquet.write_table(pa.Table.from_pandas(table), path, row_group_size=pieces[0][1])
        (member,) = dataset_files(path, {})
        parts = list(cut_file(member, [scan_part(part) for part in parts_to_scan(member)]))
        read = [part.read(["doc_id", "query_id"]).table["doc_id"].to_pylist() for part, _ in parts]
    assert [name for some in read for name in some] == table["doc_id"].to_list()
    assert not is_contiguous or not len(lists_in_several([keys for _, keys in parts]))


@pytest.fixture(scope="module")
def cluster():
    """Address of a scheduler with two workers, each a process."""
    with connect(None) as client:
        yield client


@pytest.mark.parametrize("torn", [False, True], ids=["lists in one part", "lists over all parts"])
def test_a_worker_killed_in_the_middle_costs_time_and_no_result(cluster, tmp_path, monkeypatch, torn):
    for module in ("dataset_parts", "dask"):
        monkeypatch.setattr(f"metrics.scale.{module}.ROWS", 250)
    draw = np.random.default_rng(1)
    table = pd.DataFrame({"query_id": np.repeat([f"q{at}" for at in range(200)], 50)})
    table["doc_id"] = [f"d{at % 50}" for at in range(len(table))]
    table["score"] = draw.integers(0, 5, len(table))
    table["relevance"] = draw.random(len(table)) < 0.1
    table = table.sample(frac=1, random_state=1) if torn else table
    table.to_parquet(tmp_path / "run.parquet", row_group_size=250)
    killed = []

    def watch(step):
        if step.completed == step.total - 20 and step.total > 40 * (1 + torn) and not killed:
            killed.extend(cluster.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    address = cluster.scheduler_info()["address"]
    runs = Dataset(tmp_path / "run.parquet", scheduler=address)
    with listening(watch):
        merged = Evaluation.merge(*runs.parts(partial(evaluate, measures=MEASURES, ties=TIES)))
    assert killed
    assert_same(merged, evaluate(metrics.read_table(tmp_path / "run.parquet"), MEASURES, TIES))
