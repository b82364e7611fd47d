"""What goes to workers in other processes."""

import pickle

import numpy as np
import pytest
from runs.written import WRITERS

from metrics.runs import File
from metrics.scale.dask import read_judgments
from metrics.scale.dataset_parts import dataset_files

LAID_OUT = ("trec-run", "ranked", "table", "parquet")


@pytest.mark.parametrize(
    "writer",
    [writer for writer in WRITERS if writer.format in ("trec-qrels", "beir-qrels")],
    ids=lambda writer: writer.name,
)
def test_judgments_can_be_sent(writer):
    judged = read_judgments(File("qrels", writer.sample()), {}, "error")
    again = pickle.loads(pickle.dumps(judged))  # noqa: S301 our own
    places = np.arange(len(judged.pairs.queries))
    assert again.rows_of(places).equals(judged.rows_of(places))


@pytest.mark.parametrize(
    "writer", [writer for writer in WRITERS if writer.format in LAID_OUT], ids=lambda writer: writer.name
)
def test_what_is_to_be_read_of_a_file_can_be_sent(writer, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(writer.sample())
    (member,) = dataset_files(path, {})
    again = pickle.loads(pickle.dumps(member))  # noqa: S301 our own
    assert again.table.read().table.equals(member.table.read().table)
