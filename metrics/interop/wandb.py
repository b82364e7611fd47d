"""Log an evaluation to Weights & Biases: means in the summary of a run, tables and runs as an artifact.

import metrics, wandb
from metrics.interop.wandb import log_evaluation
with wandb.init(project="rerankers"):
    log_evaluation(metrics.evaluate(metrics.read_runs(["run.trec", "qrels.txt"])))
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from metrics.errors import UsageError, needs
from metrics.evaluation import Evaluation
from metrics.interop.logged import LoggedEvaluation, write_files
from metrics.runs import Runs

with needs("wandb"):
    import wandb

_NAME = "tiescope"
"""Name of the artifact, and prefix of settings."""


def log_evaluation(
    evaluation: Evaluation,
    run: "wandb.Run | None" = None,
    *,
    traditional: str | None = None,
    runs: Runs | None = None,
    link: str | None = None,
) -> None:
    """Log the means of an evaluation to the summary of a run, and its tables as an artifact.

    Value names consist of measure and treatment, such as `nDCG_at_10/tied`, with the reranker as a prefix if
    there are several; unknown means are left out.

    Args:
        evaluation: as `metrics.evaluate` returns it.
        run: a run of Weights & Biases; None for the active run.
        traditional: the treatment logged as traditional; None for the first order that was evaluated.
        runs: the runs to store as Parquet with the tables; None stores only values.
        link: address of the board, logged in the settings.

    Raises:
        UsageError: no run is active, or the traditional treatment was not evaluated.
    """
    run = run or wandb.run
    if run is None:
        raise UsageError("Weights & Biases has no active run. Start one: wandb.init(project=...).")
    logged = LoggedEvaluation.of(evaluation, traditional)
    values = logged.values()
    for reranker, key in logged.keys.items():
        head = f"{key}/" if len(values) > 1 else ""
        means = values.loc[reranker].dropna()
        run.summary.update({head + name: float(value) for name, value in means.items()})
    run.config.update({_NAME: logged.settings | ({"board": link} if link else {})}, allow_val_change=True)
    run.log({f"{_NAME}/leaderboard": wandb.Table(dataframe=values.reset_index())})
    artifact = wandb.Artifact(f"{_NAME}-{run.id}", type="evaluation")
    with TemporaryDirectory() as folder:
        write_files(logged, runs, Path(folder))
        artifact.add_dir(folder)
        run.log_artifact(artifact)
