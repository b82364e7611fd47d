"""Each query's own documents, ranked by a SentenceTransformer or a CrossEncoder."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import evaluate
from metrics.interop.logged import TREATMENTS, tied_means
from metrics.interop.sentence_transformers.evaluator import Scores, Similarity, TiedEvaluator, as_array


class _Sample(NamedTuple):
    """A query, the documents that are ranked for it, and whether each is relevant."""

    query: str
    documents: list[str]
    relevance: list[bool]


class TiedRerankingEvaluator(TiedEvaluator):
    """AP, RR@k and nDCG@k over ties, of documents given with each query.

    Takes the samples of RerankingEvaluator and of CrossEncoderRerankingEvaluator, and counts them as these do:
    a sample without positives or without negatives is left out for a SentenceTransformer; a CrossEncoder has 0
    where nothing is relevant.
    """

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
            samples: of each, `query`, `positive` (a text or several), and `negative` or, of a first stage,
                `documents`.
            at_k: cut-off of RR and nDCG.
            name: of the data, before every metric.
            write_csv: whether to write `TiedRerankingEvaluator_NAME_results_@K.csv`.
            similarity_fct: from (n, d) and (m, d) embeddings to (n, m) scores; None: the model's own.
            batch_size: texts or pairs that the model takes at once.
            show_progress_bar: whether the model shows its progress.
            truncate_dim: dimensions of an embedding that count; None: as the model has it.
            always_rerank_positives: whether positives that `documents` lack are ranked, too.
            prompt_name: prompt of a CrossEncoder; None: as the model has it.

        Raises:
            UsageError: a sample lacks something.
        """
        of_model = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
        super().__init__(name, f"results_@{at_k}", write_csv=write_csv, of_model=of_model)
        rows = samples.values() if isinstance(samples, Mapping) else samples
        self.samples = [_read(row, number, always_rerank_positives) for number, row in enumerate(rows, 1)]
        self.at_k = at_k
        self.similarity_fct = similarity_fct
        self.truncate_dim = truncate_dim
        self.prompt_name = prompt_name
        self.primary_metric = self.prefixed(f"tied_ndcg@{at_k}")

    def __call__(
        self,
        model: Any,  # noqa: ANN401
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """Rank the documents of all samples.

        Args:
            model: a SentenceTransformer, or a CrossEncoder.
            output_path: folder of the CSV; None for none.
            epoch: of the training.
            steps: of the training.

        Returns:
            metric → mean: tied_map, tied_mrr@k, tied_ndcg@k, the same of worst_ and best_, and tie_ratio.

        Raises:
            UsageError: there is nothing to rank, or the model does not give each document a number.
        """
        is_cross_encoder = hasattr(model, "predict")
        samples = [
            sample
            for sample in self.samples
            if is_cross_encoder or (any(sample.relevance) and not all(sample.relevance))
        ]
        if not any(sample.documents for sample in samples):
            raise UsageError("No sample has documents to rank. Give samples with positives and negatives.")
        scores = self._predicted(model, samples) if is_cross_encoder else self._similarities(model, samples)
        sizes = [len(sample.documents) for sample in samples]
        lists = pd.DataFrame(
            {
                "query_id": np.repeat(np.arange(len(samples)), sizes),
                "doc_id": np.arange(len(scores)),
                "score": scores,
                "relevance": np.concatenate([sample.relevance for sample in samples]).astype(np.int64),
            }
        )
        names = {
            "AP": "map",
            f"RR@{self.at_k}": f"mrr@{self.at_k}",
            f"nDCG@{self.at_k}": f"ndcg@{self.at_k}",
        }
        means = tied_means(evaluate(lists, list(names), TREATMENTS), names, len(samples))
        return self.report(model, means, output_path, epoch, steps)

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings that the model card names."""
        return {"at_k": self.at_k} | ({"truncate_dim": self.truncate_dim} if self.truncate_dim else {})

    def _predicted(self, model: Any, samples: Sequence[_Sample]) -> Scores:  # noqa: ANN401
        """Return the (n_documents,) scores that a CrossEncoder gives, sample by sample."""
        pairs = [[sample.query, document] for sample in samples for document in sample.documents]
        return as_array(model.predict(pairs, prompt_name=self.prompt_name, **self.of_model), (len(pairs),))

    def _similarities(self, model: Any, samples: Sequence[_Sample]) -> Scores:  # noqa: ANN401
        """Return the (n_documents,) similarities to their queries, sample by sample."""
        similarity = self.similarity_fct or model.similarity
        texts = [document for sample in samples for document in sample.documents]
        queries = self.embed(
            model, [sample.query for sample in samples], "query", truncate_dim=self.truncate_dim
        )
        documents = self.embed(model, texts, "document", truncate_dim=self.truncate_dim)
        sizes = [len(sample.documents) for sample in samples]
        rows = [
            as_array(similarity(queries[number : number + 1], documents[end - size : end]), (1, size))[0]
            for number, (size, end) in enumerate(zip(sizes, np.cumsum(sizes), strict=True))
        ]
        return np.concatenate(rows)


def _read(row: Mapping[str, Any], number: int, always_rerank_positives: bool) -> _Sample:  # noqa: FBT001
    """Return a sample, numbered from 1, with all documents that are ranked; UsageError where a part lacks."""
    keys = [key for key, value in row.items() if value is not None] if isinstance(row, Mapping) else []
    if not {"query", "positive"} <= {*keys} or ("negative" in keys) == ("documents" in keys):
        raise UsageError(
            f"Sample {number} has {', '.join(keys) or 'nothing'}. It needs query, positive, and either "
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
