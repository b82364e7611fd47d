"""Time the Dask engine on runs that are large: python tests/benchmarks/larger_than_memory.py.

Prints what was measured beside the target. Makes its files in `--folder` (0.9 GB), a temporary one by
default; `--small` takes a hundredth of the rows, to see that it runs.
"""

import argparse
import logging
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
from distributed import LocalCluster
from pyarrow import parquet

import metrics

MEASURES = ["RR", "RR@10", "Hits@1", "Hits@3", "Hits@10", "P@10", "R@10", "F1@10", "AP", "nDCG@10"]
TIES = ["input", "expected", "optimistic", "pessimistic"]
OPTIONS = {"measures": MEASURES, "ties": TIES}
_INTERVAL = 0.2


class Watched:
    """Seconds that pass inside, and the most memory that this process and all its children hold in them."""

    def __enter__(self):
        self.seconds, self.peak, self._over = time.perf_counter(), 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.seconds
        self._over.set()
        self._thread.join()

    def __str__(self):
        return f"{self.seconds:.1f} s, {self.peak / 2**30:.2f} GB"

    def _watch(self):
        this = psutil.Process()
        while not self._over.wait(_INTERVAL):
            self.peak = max(self.peak, sum(map(_resident_bytes, [this, *this.children(recursive=True)])))


def _resident_bytes(process):
    """Bytes a process holds, what it shares counted in each; none once it is gone."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def tracin(path, lists, documents):
    """A TracIn-like table: few relevant, half the scores 0, the others to four decimals; list after list."""
    draw = np.random.default_rng(1)
    names = pa.array([f"train-{at:06d}" for at in range(documents)])
    kinds = (pa.string(), pa.string(), pa.float64(), pa.bool_())
    columns = ("test_triple", "train_triple", "TracInScore", "In_path")
    schema = pa.schema(list(zip(columns, kinds, strict=True)))
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for number in range(lists):
            relevant = draw.random(documents) < 1e-4
            score = np.round(draw.normal(0.2 * relevant, 0.05), 4) * (draw.random(documents) < 0.5)
            order = names.take(pa.array(draw.permutation(documents)))
            query = pa.repeat(f"test-{number}", documents)
            writer.write_table(pa.table([query, order, score, relevant], schema=schema))
    return path


def torn(folder, lists, documents, files):
    """Tables over which the rows of every list are spread, in no order."""
    folder.mkdir(exist_ok=True)
    draw = np.random.default_rng(2)
    order = draw.permutation(lists * documents)
    for number, rows in enumerate(np.array_split(order, files)):
        query, document = np.divmod(rows, documents)
        table = {
            "query_id": pa.array([f"q{one}" for one in range(lists)]).take(pa.array(query)),
            "doc_id": pa.array([f"doc-{one}" for one in range(documents)]).take(pa.array(document)),
            "score": np.round(draw.random(len(rows)), 2),
            "relevance": draw.random(len(rows)) < 1e-3,
        }
        parquet.write_table(pa.table(table), folder / f"{number:03d}.parquet", compression="zstd")
    return folder


def in_memory(path):
    """Reading and scoring in one process: what it gives, and the seconds of both."""
    start = time.perf_counter()
    runs = metrics.read_runs([path])
    read = time.perf_counter()
    evaluation = metrics.evaluate(runs, **OPTIONS)
    return evaluation, read - start, time.perf_counter() - read


def contiguous(folder, lists, documents):
    """The rows of the table for lists that stand together."""
    few = tracin(folder / "tenth.parquet", lists // 10, documents)
    _, read, scored = min((in_memory(few) for _ in range(2)), key=lambda result: sum(result[1:]))
    many = tracin(folder / "whole.parquet", lists, documents)
    with Watched() as watched:
        stored = metrics.evaluate_dataset(many, **OPTIONS)
    n_rows, n_few = lists * documents, lists // 10 * documents
    print(f"{n_few:,} rows in memory: read {read:.2f} s, scored {scored:.2f} s")
    print(f"{n_rows:,} rows, {stored.n_lists:,} lists: {watched} (4)")
    per_row = watched.seconds / n_rows
    for label, seconds in (("read and scored", read + scored), ("scored alone", scored)):
        print(f"  per row, against {label} in memory: {per_row / (seconds / n_few):.2f} (1.5)")


def shuffled(folder, lists, documents):
    """The rows of the table for lists that are torn over all files."""
    files = torn(folder / "torn", lists, documents, 20)
    quiet = {"dashboard_address": None, "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="2GB", **quiet) as cluster:
        with Watched() as watched:
            stored = metrics.evaluate_dataset(files, scheduler=cluster.scheduler_address, **OPTIONS)
        scores = stored.load().scores
    table_path = folder / "torn.parquet"
    parquet.write_table(parquet.read_table(files), table_path)
    expected = in_memory(table_path)[0].scores.droplevel("reranker")
    gap = np.abs(scores.droplevel("reranker").reindex(expected.index) - expected).to_numpy().max()
    print(f"{lists * documents:,} torn rows, two workers of 2 GB: {watched}")
    print(f"  largest difference from memory: {gap:.1e} (1e-12)")


def main():
    """Make the files, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    times = 1 if arguments.small else 10
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        contiguous(folder, 100 * times, 10_000 * times)
        shuffled(folder, 200 * times, 1_000 * times)


if __name__ == "__main__":
    main()
