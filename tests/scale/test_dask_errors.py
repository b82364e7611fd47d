"""What goes wrong on workers, or with them, is said in our words: which file, which row, what to do."""

import shutil
import signal
import subprocess
import sys
from functools import partial
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from dask_cluster import assert_same, dataset_evaluation
from distributed import KilledWorker
from distributed.client import FutureCancelledError

from metrics import ReadError, UsageError, evaluate, evaluate_dataset, read_runs
from metrics.errors import MissingPackageError, RepeatError
from metrics.scale import cluster
from metrics.scale.dask import Dataset


def table():
    rows = pd.DataFrame({"query_id": np.repeat([f"q{at}" for at in range(30)], 8)})
    rows["doc_id"], rows["score"] = [f"d{at % 8}" for at in range(240)], np.arange(240) % 3 / 2
    return rows.assign(relevance=np.arange(240) % 5 % 3)


BAD = {
    "no score": ("score", None, "score None is not a number"),
    "an empty id": ("query_id", "", "query_id is empty"),
    "no document": ("doc_id", None, "doc_id is empty"),
    "a long id": ("doc_id", "x" * 70_000, "doc_id is longer than 65,536 bytes"),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_row_deep_in_a_file_is_named_as_in_memory(address, tmp_path, monkeypatch, bad):
    monkeypatch.setattr("metrics.scale.dataset_parts.ROWS", 40)
    column, value, words = BAD[bad]
    rows = table().astype({"relevance": float})
    rows.loc[201, column] = value
    path = tmp_path / "run.parquet"
    rows.to_parquet(path, row_group_size=20)
    with pytest.raises(ReadError) as refused:
        dataset_evaluation(address, path)
    with pytest.raises(ReadError) as expected:
        read_runs([path])
    assert str(refused.value) == str(expected.value)
    assert str(refused.value).startswith(f"run.parquet, row 202: {words}")


def test_a_word_among_scores_is_named_with_its_line(address, tmp_path):
    rows = table().astype({"score": str})
    rows.loc[17, "score"] = "high"
    rows.to_csv(tmp_path / "run.csv", index=False)
    with pytest.raises(ReadError, match=r"run\.csv, line 19: score 'high' is not a number\. Map words"):
        dataset_evaluation(address, tmp_path / "run.csv")


@pytest.fixture
def repeats(tmp_path):
    """A folder with a document in two files, its list torn between them, and the same rows in one file."""
    folder, rows = tmp_path / "torn", table().sample(frac=1, random_state=2)
    folder.mkdir()
    again = rows.iloc[[5, 9]].assign(score=[9.0, -9.0])
    rows[:130].to_parquet(folder / "0.parquet")
    pd.concat([rows[130:], again]).to_csv(folder / "1.csv", index=False)
    pd.concat([rows, again]).to_csv(tmp_path / "torn.csv", index=False)
    return folder, tmp_path / "torn.csv", rows.iloc[5]


def test_a_document_twice_in_a_torn_list_is_named_with_both_files(address, repeats):
    folder, _, row = repeats
    with pytest.raises(RepeatError) as refused:
        dataset_evaluation(address, folder)
    repeat_message = (
        f"document {row['doc_id']!r} is listed twice for query {row['query_id']!r}, first in 0.parquet on row 6"
    )
    assert str(refused.value).startswith(f"1.csv, row 111: {repeat_message}. Delete the extra rows")


@pytest.mark.parametrize("policy", ["first", "max"])
def test_one_row_of_a_repeated_document_may_be_kept(address, repeats, policy):
    folder, table_path, _ = repeats
    evaluation, dataset = dataset_evaluation(address, folder, reading={"repeated": policy})
    assert_same(
        evaluation,
        evaluate(read_runs([table_path], repeated=policy), list(evaluation.measures), list(evaluation.ties)),
    )
    dropped = dataset.left_out.set_index("code").loc["rows-dropped"]
    assert dropped["count"] == 2
    assert dropped["line"] == 111


def test_a_document_twice_in_one_torn_file_is_named_with_its_rows(address, tmp_path, monkeypatch):
    monkeypatch.setattr("metrics.scale.dataset_parts.ROWS", 40)
    rows = table().sample(frac=1, random_state=2)
    pd.concat([rows, rows[3:4]]).to_parquet(tmp_path / "run.parquet", row_group_size=40)
    with pytest.raises(RepeatError, match=r"run\.parquet, row 241: .* first in run\.parquet on row 4\. Delete"):
        dataset_evaluation(address, tmp_path / "run.parquet")


WRONG = {
    "measures": ({"measures": ["Foo"]}, "'Foo'"),
    "ties": ({"ties": ["foo"]}, "'foo'"),
    "precision": ({"precision": "foo"}, "'foo'"),
    "repeated": ({"repeated": "foo"}, "repeated must be .*, not 'foo'"),
    "tiebreak_by": ({"tiebreak_by": ["foo"]}, r"no score column 'foo' .*Its other score columns: other\."),
    "columns": ({"columns": {"score": "foo"}}, "No file has the chosen columns: foo"),
    "output": ({"output": "nowhere/scores.parquet"}, "nowhere/scores.parquet: cannot be written"),
    "folder": ({"output": "."}, "cannot be written"),
    "scheduler": ({"scheduler": "foo"}, "foo: no Dask scheduler answers"),
    "scheme": ({"scheduler": "http://127.0.0.1:1"}, "no Dask scheduler answers"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_does_not_exist_is_refused_before_a_worker_is_started(tmp_path, monkeypatch, name, kind):
    getattr(table().assign(other=1), f"to_{kind}")(tmp_path / "run", index=False)
    monkeypatch.setattr(cluster, "SpecCluster", None)
    options, words = WRONG[name]
    with pytest.raises(UsageError, match=words):
        evaluate_dataset(tmp_path / "run", **options)


def test_a_file_without_relevance_is_refused_by_name(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    table().drop(columns="relevance").to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(UsageError, match=r"which documents of 'b\.csv' are relevant"):
        Dataset([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_a_format_that_is_read_whole_is_refused_by_name(write):
    with pytest.raises(ReadError, match=r"run\.json: json cannot be read with Dask"):
        Dataset(write("run.json", '{"q": {"d": 1.5}}'), write("qrels.txt", "q 0 d 1\n"))


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", "100 ms")
    table().to_csv(tmp_path / "run.csv", index=False)
    with pytest.raises(UsageError, match=r"tcp://127\.0\.0\.1:1: no Dask scheduler answers"):
        evaluate_dataset(tmp_path / "run.csv", scheduler="tcp://127.0.0.1:1")


@pytest.mark.parametrize("error", [MemoryError("full"), OSError("no disk"), ModuleNotFoundError("no numpy")])
def test_a_worker_that_cannot_work_is_an_error_of_ours(address, tmp_path, error):
    table().to_csv(tmp_path / "run.csv", index=False)
    runs = Dataset(tmp_path / "run.csv", scheduler=address)
    score = partial(fail_where_there_are_rows, error)
    with pytest.raises(UsageError, match=f"A Dask worker failed: {type(error).__name__}: {error}"):
        list(runs.parts(score))


def fail_where_there_are_rows(error, runs):
    if any(len(one) for one in runs.tables.values()):
        raise error
    return evaluate(runs)


class Failed:
    def __init__(self, error):
        self.error = error

    def done(self):
        return True

    def result(self):
        raise self.error


LOST = {
    "The Dask scheduler was lost": FutureCancelledError("part", "scheduler-connection-lost"),
    "too large for 4 workers": KilledWorker("part", None, 3),
}


@pytest.mark.parametrize("words", LOST)
def test_a_lost_scheduler_and_parts_that_kill_are_errors_of_ours(words):
    with pytest.raises(UsageError, match=words):
        list(cluster.results_in_order([Failed(LOST[words])]))


def test_a_result_is_fetched_without_a_time_limit_once_its_part_is_done():
    part = Mock(**{"done.side_effect": [False, False, True], "exception.side_effect": TimeoutError})
    assert list(cluster.results_in_order([part])) == [part.result.return_value]
    part.result.assert_called_once_with()


def test_workers_that_are_all_gone_are_an_error_and_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))  # what each worker is
    monkeypatch.setattr(cluster, "_WITHOUT_WORKERS", "10 ms")
    table().to_parquet(tmp_path / "run.parquet")
    with pytest.raises(UsageError, match="All Dask workers were lost"):
        evaluate_dataset(tmp_path / "run.parquet", measures=["RR"])


def test_without_dask_the_package_is_named_and_the_rest_works(tmp_path, monkeypatch):
    table().to_csv(tmp_path / "run.csv", index=False)
    code = """
import sys
sys.modules.update(dict.fromkeys(["dask", "distributed"]))
import metrics
print(metrics.evaluate(metrics.read_table("run.csv"), ["RR"]).policies["n_scored"].item())
try:
    metrics.evaluate_dataset("run.csv")
except metrics.UsageError as error:
    print(type(error).__name__, error)
from dashboard import cli
sys.argv = ["tiescope", "evaluate", "run.csv", "--engine", "dask"]
cli.main()
"""
    monkeypatch.chdir(tmp_path)
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 our own
    message = (
        'dask is not installed, or its version is too old. Install it: pip install "tiescope[distributed]"'
    )
    assert process.stdout == f"30\nMissingPackageError {message}\n"
    assert (process.returncode, process.stderr) == (2, f"tiescope: {message}\n")
    assert issubclass(MissingPackageError, UsageError)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_all_workers_and_leaves_no_file(tmp_path, monkeypatch, number):
    table().to_csv(tmp_path / "run.csv", index=False)
    code = f"""
import signal, sys
from dashboard import cli
from metrics.scale import cluster
results_in_order = cluster.results_in_order
def a_signal_at_the_first_result(futures):
    for result in results_in_order(futures):
        signal.raise_signal({number})
        yield result
cluster.results_in_order = a_signal_at_the_first_result
sys.argv = ["tiescope", "evaluate", "run.csv", "--engine", "dask", "--save", "kept.parquet"]
cli.main()
"""
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 our own
        code = process.wait()
        out, err = process.communicate(timeout=10)  # workers that outlive it would hold these pipes open
    assert (code, out) == (128 + number, b"")
    assert err == (b"tiescope: interrupted.\n" if number == signal.SIGINT else b"")
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


def test_the_package_is_imported_without_what_only_some_need():
    code = "import sys; from metrics import evaluate; print(sorted(sys.modules.keys() & set(sys.argv[1:])))"
    unwanted = ["dask", "distributed", "upath", "fsspec", "rich"]
    process = subprocess.run(  # noqa: S603 our own
        [sys.executable, "-c", code, *unwanted], capture_output=True, text=True, check=True
    )
    assert process.stdout == "[]\n"


def test_a_file_that_nobody_keeps_goes_with_its_result(address, tmp_path):
    table().to_csv(tmp_path / "run.csv", index=False)
    stored = evaluate_dataset(tmp_path / "run.csv", measures=["RR"], scheduler=address)
    path = stored.path
    assert len(stored.load().scores) == 30
    del stored
    assert not path.parent.exists()
    output_path = evaluate_dataset(
        tmp_path / "run.csv", scheduler=address, output=tmp_path / "scores.parquet"
    ).path
    assert output_path.exists()
    assert list(tmp_path.glob(".*")) == []
