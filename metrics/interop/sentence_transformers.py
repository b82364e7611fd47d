"""An evaluator for sentence-transformers that selects models by tied scores instead of one arbitrary tie order.

from metrics.interop.sentence_transformers import TiedRerankingEvaluator
evaluator = TiedRerankingEvaluator(samples, name="dev")  # query, positive, negative, as its RerankingEvaluator
evaluator(model)  # dev_tied_ndcg@10, dev_worst_ndcg@10, dev_best_ndcg@10 ... dev_tie_ratio
SentenceTransformerTrainer(model, evaluator=evaluator, ...)

Documents tie if the model gives them equal scores, in its own precision. To tie scores that differ only by
rounding errors, pass a similarity that rounds: `lambda a, b: model.similarity(a, b).round(decimals=6)`.
"""

import csv
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import evaluate
from metrics.interop.logged import TREATMENTS, tied_means
from metrics.support.arrays import from_tensor

with needs("sentence-transformers"):
    from sentence_transformers.base.evaluation import BaseEvaluator

_LOGGER = logging.getLogger(__name__)
Model = Any
"""A SentenceTransformer or a CrossEncoder."""
Similarity = Callable[[Any, Any], Any]
"""From (n, d) and (m, d) embeddings to their (n, m) scores."""
Scores = npt.NDArray[np.floating]


def _as_array(scores: Any, shape: tuple[int, ...]) -> Scores:  # noqa: ANN401
    """Return scores of a model as an array in their precision; UsageError unless all are numbers."""
    array: Scores = np.asarray(from_tensor(scores))
    if array.shape != shape:
        raise UsageError(f"The model returned scores of shape {array.shape}, not one per document: {shape}.")
    if array.dtype.kind not in "biuf":
        raise UsageError(f"The model returned scores of type {array.dtype}. Scores must be numbers.")
    if n_missing := int(np.isnan(array).sum()):
        raise UsageError(f"{n_missing:,} of {array.size:,} scores of the model are not numbers.")
    return array


def _append_row(path: Path, row: Mapping[str, float]) -> None:
    """Append a row to a CSV file, which has a header if it is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[Iterable[object]] = [row.values()] if path.exists() else [row.keys(), row.values()]
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


class _Sample(NamedTuple):
    """A query, the documents that are ranked for it, and whether each is relevant."""

    query: str
    documents: list[str]
    relevance: list[bool]


class TiedRerankingEvaluator(BaseEvaluator):  # type: ignore[misc] # the package need not be installed
    """AP, RR@k and nDCG@k with ties, on documents given with each query.

    Takes the samples of RerankingEvaluator and CrossEncoderRerankingEvaluator, and counts them in the same way:
    for a SentenceTransformer, samples without positives or without negatives are left out; for a CrossEncoder,
    a sample without relevant documents scores 0.
    """

    primary_metric: str | None

    def __init__(
        self,
        samples: Iterable[Mapping[str, Any]] | Mapping[Any, Mapping[str, Any]],
        at_k: int = 10,
        name: str = "",
        *,
        write_csv: bool = True,
        similarity_fct: Similarity | None = None,
        batch_size: int = 64,
        show_progress_bar: bool = False,
        truncate_dim: int | None = None,
        always_rerank_positives: bool = True,
        prompt_name: str | None = None,
    ) -> None:
        """Read the samples.

        Args:
            samples: each with `query`, `positive` (a text or several), and `negative` or, from a first stage,
                `documents`.
            at_k: cut-off of RR and nDCG.
            name: name of the data, the prefix of every metric.
            write_csv: whether to write `TiedRerankingEvaluator_NAME_results_@K.csv`.
            similarity_fct: from (n, d) and (m, d) embeddings to (n, m) scores; None for the model's own.
            batch_size: texts or pairs per batch of the model.
            show_progress_bar: whether the model shows its progress.
            truncate_dim: number of dimensions of an embedding to use; None for the model's own.
            always_rerank_positives: whether to add positives that `documents` lack.
            prompt_name: prompt of a CrossEncoder; None for the model's own.

        Raises:
            UsageError: a sample lacks a part.
        """
        super().__init__()
        self.name = name
        self.write_csv = write_csv
        self.csv_file = "_".join(filter(None, [type(self).__name__, name, f"results_@{at_k}.csv"]))
        self.truncate_dim = truncate_dim
        self.of_model = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
        rows = samples.values() if isinstance(samples, Mapping) else samples
        self.samples = [_read(row, number, always_rerank_positives) for number, row in enumerate(rows, 1)]
        self.at_k = at_k
        self.similarity_fct = similarity_fct
        self.prompt_name = prompt_name
        self.primary_metric = self._prefixed(f"tied_ndcg@{at_k}")

    def __call__(
        self, model: Model, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Rank the documents of all samples.

        Args:
            model: a SentenceTransformer or a CrossEncoder.
            output_path: folder of the CSV file; None for none.
            epoch: epoch of the training.
            steps: steps of the training.

        Returns:
            metric → mean: tied_map, tied_mrr@k, tied_ndcg@k, the same with worst_ and best_, and tie_ratio.

        Raises:
            UsageError: no sample has documents, or the model does not return one number per document.
        """
        is_cross_encoder = hasattr(model, "predict")
        samples = self.samples
        if not is_cross_encoder:
            samples = [each for each in samples if any(each.relevance) and not all(each.relevance)]
        if not any(sample.documents for sample in samples):
            raise UsageError("No sample has documents to rank. Give samples with positives and negatives.")
        scores = self._predicted(model, samples) if is_cross_encoder else self._similarities(model, samples)
        sizes = [len(sample.documents) for sample in samples]
        relevance = np.concatenate([sample.relevance for sample in samples]).astype(np.int64)
        columns = {"query_id": np.repeat(np.arange(len(samples)), sizes), "doc_id": np.arange(len(scores))}
        lists = pd.DataFrame({**columns, "score": scores, "relevance": relevance})
        names = {"AP": "map", f"RR@{self.at_k}": f"mrr@{self.at_k}", f"nDCG@{self.at_k}": f"ndcg@{self.at_k}"}
        means = tied_means(evaluate(lists, list(names), TREATMENTS), names, len(samples))
        metrics = {self._prefixed(key): value for key, value in means.items()}
        _LOGGER.info("%s, epoch %d, steps %d: %s", type(self).__name__, epoch, steps, metrics)
        if output_path is not None and self.write_csv:
            _append_row(Path(output_path) / self.csv_file, {"epoch": epoch, "steps": steps, **means})
        if hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        return {"at_k": self.at_k} | ({"truncate_dim": self.truncate_dim} if self.truncate_dim else {})

    def _prefixed(self, key: str) -> str:
        return f"{self.name}_{key}" if self.name else key

    def _embed(self, model: Model, texts: Sequence[str], kind: str) -> Any:  # noqa: ANN401
        """Return the (n_texts, d) embeddings of texts of a kind, `query` or `document`."""
        encode = getattr(model, f"encode_{kind}", model.encode)
        dimensions = {} if self.truncate_dim is None else {"truncate_dim": self.truncate_dim}
        return encode(texts, convert_to_tensor=True, **self.of_model, **dimensions)

    def _predicted(self, model: Model, samples: Sequence[_Sample]) -> Scores:
        pairs = [[sample.query, document] for sample in samples for document in sample.documents]
        return _as_array(model.predict(pairs, prompt_name=self.prompt_name, **self.of_model), (len(pairs),))

    def _similarities(self, model: Model, samples: Sequence[_Sample]) -> Scores:
        similarity = self.similarity_fct or model.similarity
        texts = [document for sample in samples for document in sample.documents]
        queries = self._embed(model, [sample.query for sample in samples], "query")
        documents = self._embed(model, texts, "document")
        sizes = [len(sample.documents) for sample in samples]
        rows = [
            _as_array(similarity(queries[number : number + 1], documents[end - size : end]), (1, size))[0]
            for number, (size, end) in enumerate(zip(sizes, np.cumsum(sizes), strict=True))
        ]
        return np.concatenate(rows)


def _read(row: Mapping[str, Any], number: int, always_rerank_positives: bool) -> _Sample:  # noqa: FBT001
    """Return a sample, numbered from 1, with the documents to rank; UsageError if a part is missing."""
    keys = [key for key, value in row.items() if value is not None] if isinstance(row, Mapping) else []
    if not {"query", "positive"} <= {*keys} or ("negative" in keys) == ("documents" in keys):
        raise UsageError(
            f"Sample {number} has {', '.join(keys) or 'nothing'}. A sample needs query, positive, and either "
            "negative or documents."
        )
    positive = _texts(row["positive"])
    if "negative" in keys:
        documents = positive + _texts(row["negative"])
        return _Sample(row["query"], documents, [place < len(positive) for place in range(len(documents))])
    documents, relevant = _texts(row["documents"]), set(positive)
    if always_rerank_positives:
        documents = positive + [document for document in documents if document not in relevant]
    return _Sample(row["query"], documents, [document in relevant for document in documents])


def _texts(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
