"""Evaluate a dataset of any size, and keep what each list scored."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from weakref import finalize

from metrics.evaluation import AS_READ, Policy, ScoringOptions, Unjudged, score_runs
from metrics.evaluation.scoring import names_or_defaults
from metrics.runs import MissingScore, Repeated, with_names
from metrics.runs.writing import refuse_outputs
from metrics.scale.dask.dataset import Dataset
from metrics.scale.dask.files import Paths
from metrics.scale.stored import Stored
from metrics.ties import asks_for_bounds


def evaluate_dataset(
    files: Paths,
    qrels: str | PurePath | None = None,
    measures: Sequence[str] | str | None = None,
    ties: Sequence[str] | str | None = None,
    *,
    scheduler: str | None = None,
    output: str | PurePath | None = None,
    columns: Mapping[str, str] | None = None,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
    precision: str = "float64",
    missing: Policy = "zero",
    empty: Policy = "zero",
    relevant_from: float = 1,
    tiebreak_by: Sequence[str] = (),
    criteria: Sequence[str] = (),
    unjudged: Unjudged | None = None,
) -> Stored:
    """Score runs of any size on the workers of a Dask scheduler; to the same values as `evaluate`.

    Parquet is read by row groups, and only the columns needed; text file by file. Rows of a list that lie
    in several parts are brought together first. A worker that is lost costs time: its parts are scored
    again. Progress is shown where a person is watching.

    Args:
        files: a path, a URL, a pattern such as `runs/*.parquet`, several of these, or reranker → one of
            these. The files of a folder are parts of one table, as are those of a named reranker; a
            folder `reranker=BM25` names that of its files. Other files without a reranker column are
            runs named by their stems.
        qrels: judgments, path or URL; not needed where the tables hold relevance.
        measures: as of `evaluate`.
        ties: as of `evaluate`.
        scheduler: address of a Dask scheduler (`tcp://HOST:8786`), whose workers can open the files and
            have this package; None: one worker a core of this machine, for as long as this takes.
        output: the Parquet file to keep the values of each list in; None: one that goes with the result.
        columns: our column → the files', as of `read_runs`.
        repeated: as of `read_runs`.
        missing_score: as of `read_runs`.
        precision: as of `evaluate`.
        missing: as of `evaluate`.
        empty: as of `evaluate`.
        relevant_from: as of `evaluate`.
        tiebreak_by: as of `evaluate`.
        criteria: as of `evaluate`.
        unjudged: as of `evaluate`.

    Returns:
        what each list scored, in a file; `summary()` and `load()` give what `evaluate` gives.

    Raises:
        MissingPackageError: Dask is not installed (`pip install "tiescope[distributed]"`).
        ReadError: a file cannot be read; names file and row.
        UsageError: as of `evaluate` and `read_runs`; or the scheduler does not answer, a part is more
            than a worker's memory holds, or `output` cannot be written or is read.
    """
    from metrics.support.progress import progress  # noqa: PLC0415 its library need not be there where nothing is shown

    options = ScoringOptions(
        precision,
        missing,
        empty,
        relevant_from,
        tuple(tiebreak_by),
        tuple(criteria),
        unjudged or AS_READ.unjudged,
    )
    files = with_names(files)
    measures, ties = names_or_defaults(measures, ties)
    score = partial(score_runs, measures=measures, ties=ties, options=options)
    if output is not None:
        runs = [path for _, path in files]
        refuse_outputs([Path(str(output))], runs if qrels is None else [*runs, qrels])
    with ExitStack() as stack, progress("Scoring") as watch:
        path = Path(str(output))
        if output is None:
            path = Path(stack.enter_context(TemporaryDirectory(prefix="tiescope-")), "scores.parquet")
        dataset = Dataset(
            files,
            qrels,
            columns=columns,
            repeated=repeated,
            missing_score=missing_score,
            score_columns=options.further_columns,
            scheduler=scheduler,
            watch=watch,
            is_bounded=asks_for_bounds(ties),
        )
        stored = Stored.write(path, dataset.parts(score))
        finalize(stored, stack.pop_all().close)
    return stored
