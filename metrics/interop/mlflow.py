"""Log an evaluation to MLflow: one run per reranker, with tied, traditional, worst and best values.

import mlflow, metrics
from metrics.interop.mlflow import log_evaluation
with mlflow.start_run():
    log_evaluation(metrics.evaluate(metrics.read_runs(["run.trec", "qrels.txt"])))
"""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from metrics.errors import needs
from metrics.evaluation import Evaluation
from metrics.interop.logged import LoggedEvaluation, write_files
from metrics.runs import Runs

with needs("mlflow"):
    import mlflow

_FOLDER = "tiescope"
"""Folder of the artifacts, and prefix of parameters and tags."""


def log_evaluation(
    evaluation: Evaluation,
    *,
    traditional: str | None = None,
    runs: Runs | None = None,
    link: str | None = None,
) -> dict[str, str]:
    """Log the means of an evaluation to MLflow, with its tables as artifacts.

    A single reranker is logged to the active run, or to a new run of its name. Several rerankers get a run
    each, nested in the active run, which holds the tables. Metric names consist of measure and treatment, such
    as `nDCG_at_10/tied`; unknown means are left out.

    Args:
        evaluation: as `metrics.evaluate` returns it.
        traditional: the treatment logged as traditional; None for the first order that was evaluated.
        runs: the runs to store as Parquet with the tables; None stores only values.
        link: address of the board, logged as the tag `tiescope.board`.

    Returns:
        Reranker → ID of its MLflow run.

    Raises:
        UsageError: the traditional treatment was not evaluated.
    """
    logged = LoggedEvaluation.of(evaluation, traditional)
    values, is_nested = logged.values(), len(logged.rerankers) > 1
    active = mlflow.active_run()
    name = "TieScope" if is_nested else logged.rerankers[0]
    run_ids = {}
    with mlflow.start_run(run_name=name) if active is None else nullcontext(active) as parent:
        if link is not None:
            mlflow.set_tag(f"{_FOLDER}.board", link)
        with TemporaryDirectory() as folder:
            write_files(logged, runs, Path(folder))
            mlflow.log_artifacts(folder, _FOLDER)
        for reranker in logged.rerankers:
            own = mlflow.start_run(run_name=reranker, nested=True) if is_nested else nullcontext(parent)
            with own as run:
                mlflow.set_tag(f"{_FOLDER}.reranker", reranker)
                mlflow.log_params({f"{_FOLDER}.{key}": text for key, text in logged.settings.items()})
                mlflow.log_metrics(values.loc[reranker].dropna().to_dict())
                run_ids[reranker] = run.info.run_id
    return run_ids
