"""Evaluations in experiment trackers: a real MLflow store, and Weights & Biases without a network."""

import io
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import metrics
from metrics.errors import UsageError
from metrics.interop.logged import LoggedEvaluation, plain_name

TIES = ("docid_desc", "expected", "optimistic", "pessimistic")
RUN = "q1 Q0 a 1 3 {0}\nq1 Q0 b 2 3 {0}\nq2 Q0 a 1 2 {0}\nq2 Q0 c 2 1 {0}\n"
of_mlflow = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its store
QRELS = "q1 0 a 1\nq2 0 c 1\n"


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name in ("one", "two"):
        (tmp_path / f"{name}.trec").write_text(RUN.format(name))
    return metrics.read_runs([tmp_path / "one.trec", tmp_path / "two.trec"], tmp_path / "qrels.txt")


@pytest.fixture
def evaluation(runs):
    return metrics.evaluate(runs, ["RR", "nDCG@10"], ties=TIES)


def test_names_have_letters_that_trackers_take_and_no_two_are_alike(evaluation):
    assert plain_name("nDCG@10") == "nDCG_at_10"
    assert plain_name("a/b+(c) é") == "a_b_c_ _"
    odd = evaluation.scores.rename({"one": "A+", "two": "a?"}, level="reranker")
    policies = evaluation.policies.rename({"one": "A+", "two": "a?"})
    renamed = metrics.Evaluation(odd, evaluation.lists, policies, evaluation.measures, evaluation.ties)
    assert list(LoggedEvaluation.of(renamed, None).keys.values()) == ["A_", "a_-2"]


def test_an_order_that_was_not_evaluated_is_refused_with_those_that_were(evaluation):
    with pytest.raises(UsageError, match=r"'input' was not evaluated\. Choose among docid_desc, expected"):
        LoggedEvaluation.of(evaluation, "input")
    with pytest.raises(UsageError, match="expected is logged as tied"):
        LoggedEvaluation.of(evaluation, "expected")


def test_values_are_the_means_of_the_evaluation_and_those_of_a_list_its_scores(evaluation):
    logged = LoggedEvaluation.of(evaluation, None)
    assert logged.values().loc["one", "RR/traditional"] == evaluation.means("RR").loc["one", "docid_desc"]
    assert logged.values().loc["one", "nDCG_at_10/tied"] == evaluation.means("nDCG@10").loc["one", "expected"]
    assert list(logged.per_query("two")["RR/worst"]) == [0.5, 0.5]
    assert logged.settings["traditional"] == "trec_eval: id, descending"


def check_in_mlflow(mlflow, evaluation, runs):
    from metrics.interop.mlflow import log_evaluation  # noqa: PLC0415 only where MLflow is

    with mlflow.start_run() as parent:
        run_ids = log_evaluation(evaluation, runs=runs, link="http://127.0.0.1/?data=b1")
    client, means = mlflow.MlflowClient(), LoggedEvaluation.of(evaluation, None).values()
    assert list(run_ids) == ["one", "two"]
    for reranker, run_id in run_ids.items():
        run = client.get_run(run_id)
        assert run.data.metrics == means.loc[reranker].to_dict()
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert run.data.params["tiescope.missing"] == "zero"
    assert client.get_run(parent.info.run_id).data.tags["tiescope.board"] == "http://127.0.0.1/?data=b1"
    folder = Path(mlflow.artifacts.download_artifacts(run_id=parent.info.run_id, artifact_path="tiescope"))
    table = pd.read_csv(io.BytesIO((folder / "leaderboard.csv").read_bytes()))
    assert table["RR/tied"].tolist() == means["RR/tied"].tolist()
    assert pq.read_table(folder / "runs" / "two.parquet").num_rows == 4
    assert sorted(path.name for path in (folder / "per_query").iterdir()) == ["one.csv", "two.csv"]


@of_mlflow
def test_mlflow_has_a_nested_run_for_each_reranker_and_the_tables_of_all(evaluation, runs, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("ties", (tmp_path / "artifacts").as_uri()))
    check_in_mlflow(mlflow, evaluation, runs)


@of_mlflow
def test_one_reranker_is_logged_to_the_active_run_of_mlflow(evaluation, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    from metrics.interop.mlflow import log_evaluation  # noqa: PLC0415 only where MLflow is

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("ties", (tmp_path / "artifacts").as_uri()))
    with mlflow.start_run() as active:
        assert log_evaluation(evaluation.only(["one"])) == {"one": active.info.run_id}
    assert mlflow.MlflowClient().get_run(active.info.run_id).data.metrics["RR/tied"] == 0.625


def test_weights_and_biases_has_means_settings_and_tables_without_a_network(
    evaluation, runs, tmp_path, monkeypatch
):
    wandb = pytest.importorskip("wandb", reason="Weights & Biases is not installed")
    from metrics.interop.wandb import log_evaluation  # noqa: PLC0415 only where it is

    monkeypatch.setenv("WANDB_SILENT", "true")
    with pytest.raises(UsageError, match=r"Start one: wandb\.init"):
        log_evaluation(evaluation)
    with wandb.init(project="ties", mode="offline", dir=tmp_path) as run:
        log_evaluation(evaluation, runs=runs, link="http://127.0.0.1/?data=b1")
        assert run.summary["two/nDCG_at_10/worst"] == evaluation.means("nDCG@10").loc["two", "pessimistic"]
        assert run.config["tiescope"]["board"] == "http://127.0.0.1/?data=b1"
    assert list(tmp_path.glob("wandb/offline-run-*/files/media/table/tiescope/leaderboard_*.table.json"))
