"""What evaluators of sentence-transformers have in common: how models are asked, and where metrics go."""

import csv
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.errors import MissingPackageError, UsageError
from metrics.support.arrays import from_tensor

try:
    from sentence_transformers.base.evaluation import BaseEvaluator
except ImportError as error:
    raise MissingPackageError("sentence-transformers", "sentence-transformers") from error

_LOGGER = logging.getLogger(__name__)
Similarity = Callable[[Any, Any], Any]
"""From (n, d) and (m, d) embeddings to their (n, m) scores."""
Scores = npt.NDArray[np.floating]


class TiedEvaluator(BaseEvaluator):  # type: ignore[misc] # the package need not be installed
    """Embeds texts, and reports metrics as the evaluators of sentence-transformers do.

    Args:
        name: of the data, before every metric.
        file_suffix: end of the name of the CSV.
        write_csv: whether to write one.
        of_model: keywords of the model's `encode` and `predict`.
    """

    primary_metric: str | None

    def __init__(self, name: str, file_suffix: str, *, write_csv: bool, of_model: Mapping[str, Any]) -> None:
        super().__init__()
        self.name = name
        self.write_csv = write_csv
        self.csv_file = "_".join(filter(None, [type(self).__name__, name, f"{file_suffix}.csv"]))
        self.of_model = dict(of_model)

    def embed(self, model: Any, texts: Sequence[str], kind: str, **further: Any) -> Any:  # noqa: ANN401
        """Return the (n_texts, d) embeddings of texts, by the model's own way to encode them.

        Args:
            model: that embeds.
            texts: what it embeds.
            kind: `query` or `document`.
            further: further keywords of `encode`; those that are None are left to the model.
        """
        encode = getattr(model, f"encode_{kind}", model.encode)
        keywords = {key: value for key, value in further.items() if value is not None}
        return encode(texts, convert_to_tensor=True, **self.of_model, **keywords)

    def prefixed(self, key: str) -> str:
        """Return a metric under the evaluator's name."""
        return f"{self.name}_{key}" if self.name else key

    def report(
        self,
        model: Any,  # noqa: ANN401
        means: Mapping[str, float],
        folder: str | None,
        epoch: int,
        steps: int,
    ) -> dict[str, float]:
        """Log metrics, write them to the CSV and the model card, and return them under the evaluator's name.

        Args:
            model: that was evaluated.
            means: metric → mean.
            folder: where the CSV goes; None for none.
            epoch: of the training.
            steps: of the training.
        """
        metrics = {self.prefixed(key): value for key, value in means.items()}
        _LOGGER.info("%s, epoch %d, steps %d: %s", type(self).__name__, epoch, steps, metrics)
        if folder is not None and self.write_csv:
            _append_row(Path(folder) / self.csv_file, {"epoch": epoch, "steps": steps, **means})
        if hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics


def as_array(scores: Any, shape: tuple[int, ...]) -> Scores:  # noqa: ANN401
    """Return scores of a model, on any device, as an array in their precision; UsageError for other scores."""
    array: Scores = np.asarray(from_tensor(scores))
    if array.shape != shape:
        raise UsageError(
            f"The model's scores have the shape {array.shape}: it must give a score a document, {shape}."
        )
    if array.dtype.kind not in "biuf":
        raise UsageError(f"The model's scores are of type {array.dtype}: they must be numbers.")
    if n_missing := int(np.isnan(array).sum()):
        raise UsageError(f"{n_missing:,} of {array.size:,} scores of the model are not numbers.")
    return array


def _append_row(path: Path, row: Mapping[str, float]) -> None:
    """Append a row to a CSV, or to the next one (`_2`) where that has other columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header, first = ",".join(row), path
    for number in count(2):
        if not path.exists() or path.read_text("utf-8").partition("\n")[0] == header:
            break
        path = first.with_stem(f"{first.stem}_{number}")
    rows: list[Iterable[object]] = [row.values()] if path.exists() else [row.keys(), row.values()]
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
