"""Judgments by name: read from the cache of ir_datasets alone, and recognised by its metadata."""

import logging
import subprocess
import sys
import threading

import pytest
from ir_datasets import lazy_libs

from metrics.runs.named_judgments import _downloads_refused, _Missing

READ = """
import sys
from unittest import mock
import pandas as pd
import requests
import tiescope

with mock.patch.object(requests, "get", side_effect=lambda **_: sys.exit("downloaded")):
    run = pd.DataFrame({"query_id": ["1", "1", "3"], "doc_id": ["31", "4", "14"], "score": [1.0, 1.0, 2.0]})
    try:
        print(tiescope.evaluate(run, "RR", "expected", qrels=sys.argv[1]).means("RR").iloc[0, 0])
    except tiescope.ReadError as error:
        print(error)
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Evaluates by judgments of a name, in a process whose cache holds the judgments of one dataset."""
    folder = tmp_path / "cache" / "beir" / "scifact"
    folder.mkdir(parents=True)
    (folder / "test.qrels").write_text("query-id\tcorpus-id\tscore\n1\t31\t1\n3\t14\t1\n")
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "cache"))

    def evaluate(name):
        command = [sys.executable, "-c", READ, f"ir_datasets:{name}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return evaluate


def test_what_is_in_the_cache_is_read_and_what_is_not_is_never_downloaded(read, tmp_path):
    assert float(read("beir/scifact/test")) == (0.75 + 1) / 2
    assert read("beir/scifact/train") == (
        "ir_datasets:beir/scifact/train: these judgments are not in the ir_datasets cache. "
        "Fetch them: ir_datasets export beir/scifact/train qrels > qrels.txt"
    )
    assert [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()] == ["test.qrels"]


def test_a_name_that_is_not_there_or_has_no_judgments_says_so(read):
    assert "has no dataset of this name" in read("beir/scifract")
    assert "has no judgments" in read("beir/scifact")


def test_what_the_caller_set_for_logging_stays():
    logging.disable(logging.WARNING)
    try:
        with _downloads_refused():
            assert logging.root.manager.disable == logging.WARNING
        assert logging.root.manager.disable == logging.WARNING
    finally:
        logging.disable(logging.NOTSET)


def test_only_the_thread_that_reads_is_refused_downloads():
    with _downloads_refused():
        others = []
        thread = threading.Thread(target=lambda: others.append(lazy_libs.requests().__name__))
        thread.start()
        thread.join()
        assert others == ["requests"]
        with pytest.raises(_Missing):
            lazy_libs.requests()
    assert lazy_libs.requests().__name__ == "requests"
