"""Evaluators for sentence-transformers that select models by tied scores instead of one arbitrary tie order.

from metrics.interop.sentence_transformers import TiedRerankingEvaluator
evaluator = TiedRerankingEvaluator(samples, name="dev")  # query, positive, negative, as its RerankingEvaluator
evaluator(model)  # dev_tied_ndcg@10, dev_worst_ndcg@10, dev_best_ndcg@10 ... dev_tie_ratio
SentenceTransformerTrainer(model, evaluator=evaluator, ...)

Documents tie if the model gives them equal scores, in its own precision. To tie scores that differ only by
rounding errors, pass a similarity that rounds: `lambda a, b: model.similarity(a, b).round(decimals=6)`.
"""

import csv
import logging
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import Evaluation, evaluate
from metrics.interop.logged import TREATMENTS, tied_means
from metrics.support.arrays import IntArray, from_tensor

with needs("sentence-transformers"):
    from sentence_transformers.base.evaluation import BaseEvaluator

_LOGGER = logging.getLogger(__name__)
Model = Any
"""A SentenceTransformer, or where documents are reranked, also a CrossEncoder."""
Similarity = Callable[[Any, Any], Any]
"""From (n, d) and (m, d) embeddings to their (n, m) scores."""
Scores = npt.NDArray[np.floating]
_Table = dict[int, dict[int, float]]


class TiedEvaluator(BaseEvaluator):  # type: ignore[misc] # the package need not be installed
    """Embeds texts, and reports metrics like the evaluators of sentence-transformers.

    Args:
        name: name of the data, the prefix of every metric.
        file_suffix: end of the name of the CSV file.
        of_model: keyword arguments of the model's `encode` and `predict`.
        write_csv: whether to write the file.
        truncate_dim: number of dimensions of an embedding to use; None for the model's own.
    """

    primary_metric: str | None

    def __init__(
        self,
        name: str,
        file_suffix: str,
        of_model: Mapping[str, Any],
        *,
        write_csv: bool,
        truncate_dim: int | None,
    ) -> None:
        super().__init__()
        self.name = name
        self.write_csv = write_csv
        self.csv_file = "_".join(filter(None, [type(self).__name__, name, f"{file_suffix}.csv"]))
        self.truncate_dim = truncate_dim
        self.of_model = of_model

    def embed(self, model: Model, texts: Sequence[str], kind: str, **prompts: str | None) -> Any:  # noqa: ANN401
        """Return the (n_texts, d) embeddings of texts of a kind, `query` or `document`."""
        encode = getattr(model, f"encode_{kind}", model.encode)
        further = {"truncate_dim": self.truncate_dim, **prompts}
        keywords = {key: value for key, value in further.items() if value is not None}
        return encode(texts, convert_to_tensor=True, **self.of_model, **keywords)

    def prefixed(self, key: str) -> str:
        """Return a metric with the evaluator's name as prefix."""
        return f"{self.name}_{key}" if self.name else key

    def report(
        self, model: Model, means: Mapping[str, float], folder: str | None, epoch: int, steps: int
    ) -> dict[str, float]:
        """Log metrics, write them to the CSV file and the model card, and return them with prefixes.

        `folder` is that of the CSV file, or None.
        """
        metrics = {self.prefixed(key): value for key, value in means.items()}
        _LOGGER.info("%s, epoch %d, steps %d: %s", type(self).__name__, epoch, steps, metrics)
        if folder is not None and self.write_csv:
            _append_row(Path(folder) / self.csv_file, {"epoch": epoch, "steps": steps, **means})
        if hasattr(model, "model_card_data"):
            self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics


def as_array(scores: Any, shape: tuple[int, ...]) -> Scores:  # noqa: ANN401
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
    """Append a row to a CSV file; if its columns differ, to the next one (`_2`)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header, first = ",".join(row), path
    for number in count(2):
        if not path.exists() or path.read_text("utf-8").partition("\n")[0] == header:
            break
        path = first.with_stem(f"{first.stem}_{number}")
    rows: list[Iterable[object]] = [row.values()] if path.exists() else [row.keys(), row.values()]
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


class _Sample(NamedTuple):
    """A query, the documents that are ranked for it, and whether each is relevant."""

    query: str
    documents: list[str]
    relevance: list[bool]


class TiedRerankingEvaluator(TiedEvaluator):
    """AP, RR@k and nDCG@k with ties, on documents given with each query.

    Takes the samples of RerankingEvaluator and CrossEncoderRerankingEvaluator, and counts them in the same way:
    for a SentenceTransformer, samples without positives or without negatives are left out; for a CrossEncoder,
    a sample without relevant documents scores 0.
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
        of_model = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
        super().__init__(name, f"results_@{at_k}", of_model, write_csv=write_csv, truncate_dim=truncate_dim)
        rows = samples.values() if isinstance(samples, Mapping) else samples
        self.samples = [_read(row, number, always_rerank_positives) for number, row in enumerate(rows, 1)]
        self.at_k = at_k
        self.similarity_fct = similarity_fct
        self.prompt_name = prompt_name
        self.primary_metric = self.prefixed(f"tied_ndcg@{at_k}")

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
        return self.report(model, means, output_path, epoch, steps)

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        return {"at_k": self.at_k} | ({"truncate_dim": self.truncate_dim} if self.truncate_dim else {})

    def _predicted(self, model: Model, samples: Sequence[_Sample]) -> Scores:
        pairs = [[sample.query, document] for sample in samples for document in sample.documents]
        return as_array(model.predict(pairs, prompt_name=self.prompt_name, **self.of_model), (len(pairs),))

    def _similarities(self, model: Model, samples: Sequence[_Sample]) -> Scores:
        similarity = self.similarity_fct or model.similarity
        texts = [document for sample in samples for document in sample.documents]
        queries = self.embed(model, [sample.query for sample in samples], "query")
        documents = self.embed(model, texts, "document")
        sizes = [len(sample.documents) for sample in samples]
        rows = [
            as_array(similarity(queries[number : number + 1], documents[end - size : end]), (1, size))[0]
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


_MAX_ROWS = 1_000_000
"""Rows that are evaluated at a time."""


class TopScores:
    """The highest scores of each query, and how many documents have the lowest of these.

    Memory does not grow with a tie: if all documents have the same score, one number is kept, and all values
    down to the cut-off are those of the whole corpus.

    Args:
        depth: ranks that count.
        relevant: (n_relevant, 2) number of the query of each relevant document, and its position in the corpus;
            -1 if the corpus lacks it.
        n_queries: number of queries.
    """

    def __init__(self, depth: int, relevant: IntArray, n_queries: int) -> None:
        self.depth = depth
        self.queries, self.positions = relevant.T
        self.relevant_scores = np.full(len(relevant), -np.inf)
        self.highest = np.empty((n_queries, 0), np.float16)
        self.lowest = np.full(n_queries, np.nan)
        self.n_lowest = np.zeros(n_queries, np.int64)

    def add(self, scores: npt.NDArray[np.floating], first: int) -> None:
        """Add the (n_queries, n_docs) scores of a chunk that begins at the position `first` of the corpus."""
        values = _highest(np.concatenate([self.highest, _highest(scores, self.depth)], axis=1), self.depth)
        lowest = values.min(axis=1)
        n_before = (self.highest == lowest[:, np.newaxis]).sum(axis=1)
        n_before = np.where(lowest == self.lowest, self.n_lowest, n_before)
        self.n_lowest = n_before + (scores == lowest[:, np.newaxis]).sum(axis=1)
        self.highest, self.lowest = values, lowest.astype(np.float64)
        inside = (self.positions >= first) & (self.positions < first + scores.shape[1])
        self.relevant_scores[inside] = scores[self.queries[inside], self.positions[inside] - first]

    def lists(self) -> Iterator[tuple[_Table, _Table]]:
        """Yield the lists of some queries and their judgments: query → document → score or relevance.

        Documents are numbers: relevant ones from 0, others below 0.
        """
        run, judgments, n_rows = _Table(), _Table(), 0
        by_query = np.split(self.relevant_scores, np.searchsorted(self.queries, np.arange(1, len(self.lowest))))
        tops = zip(self.highest.tolist(), self.lowest.tolist(), self.n_lowest.tolist(), by_query, strict=True)
        for query, (highest, lowest, n_lowest, relevant) in enumerate(tops):
            hits = {place: score for place, score in enumerate(relevant.tolist()) if score >= lowest}
            counts = Counter(score for score in highest if score > lowest) + Counter({lowest: n_lowest})
            nonrelevant = (counts - Counter(hits.values())).elements()
            run[query] = hits | {-1 - place: score for place, score in enumerate(nonrelevant)}
            judgments[query] = dict.fromkeys(range(len(relevant)), 1)
            n_rows += len(run[query])
            if n_rows >= _MAX_ROWS:
                yield run, judgments
                run, judgments, n_rows = {}, {}, 0
        if run:
            yield run, judgments


def _highest(scores: npt.NDArray[np.floating], depth: int) -> npt.NDArray[np.floating]:
    """Return the (n_queries, depth) highest scores of each query, or all if there are fewer."""
    n_docs = scores.shape[1]
    return scores if n_docs <= depth else np.partition(scores, n_docs - depth, axis=1)[:, n_docs - depth :]


class TiedInformationRetrievalEvaluator(TiedEvaluator):
    """RR@k, nDCG@k, Hits@k, P@k, R@k and MAP@k with ties, on a whole corpus.

    Takes the arguments of InformationRetrievalEvaluator; MAP@k only with `map_at_k`. All values are those of
    the whole corpus: a tie at the largest cut-off counts with all its documents. The tie ratio covers the ranks
    down to the largest cut-off, and all documents of a tie that crosses it.
    """

    def __init__(
        self,
        queries: Mapping[Hashable, str],
        corpus: Mapping[Hashable, str],
        relevant_docs: Mapping[Hashable, Collection[Hashable]],
        corpus_chunk_size: int = 50_000,
        mrr_at_k: Sequence[int] = (10,),
        ndcg_at_k: Sequence[int] = (10,),
        accuracy_at_k: Sequence[int] = (1, 3, 5, 10),
        precision_recall_at_k: Sequence[int] = (1, 3, 5, 10),
        map_at_k: Sequence[int] = (),
        *,
        name: str = "",
        write_csv: bool = True,
        batch_size: int = 32,
        show_progress_bar: bool = False,
        truncate_dim: int | None = None,
        score_functions: Mapping[str, Similarity] | None = None,
        main_score_function: str | None = None,
        query_prompt: str | None = None,
        query_prompt_name: str | None = None,
        corpus_prompt: str | None = None,
        corpus_prompt_name: str | None = None,
    ) -> None:
        """Find the queries that have relevant documents.

        Args:
            queries: ID → text; queries without relevant documents are left out.
            corpus: ID → text.
            relevant_docs: ID of a query → IDs of its relevant documents; recall and nDCG count those that the
                corpus lacks, too.
            corpus_chunk_size: documents embedded and scored at a time.
            mrr_at_k: cut-offs of RR.
            ndcg_at_k: cut-offs of nDCG; the largest is that of the primary metric.
            accuracy_at_k: cut-offs of Hits.
            precision_recall_at_k: cut-offs of P and R.
            map_at_k: cut-offs of AP-cap, which InformationRetrievalEvaluator calls MAP.
            name: name of the data, the prefix of every metric.
            write_csv: whether to write `TiedInformationRetrievalEvaluator_NAME_results.csv`.
            batch_size: texts per batch of the model.
            show_progress_bar: whether the model shows its progress.
            truncate_dim: number of dimensions of an embedding to use; None for the model's own.
            score_functions: name → from (n, d) and (m, d) embeddings to (n, m) scores; None for the model's
                own.
            main_score_function: that of the primary metric; None for the best of the first call.
            query_prompt: as for the model's `encode`.
            query_prompt_name: likewise.
            corpus_prompt: likewise.
            corpus_prompt_name: likewise.

        Raises:
            UsageError: there is no document, no query with a relevant document or no cut-off of nDCG, or the
                chunk size is below 1.
        """
        of_model = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
        super().__init__(name, "results", of_model, write_csv=write_csv, truncate_dim=truncate_dim)
        self.queries = {query: text for query, text in queries.items() if relevant_docs.get(query)}
        if not self.queries or not corpus:
            raise UsageError("There is nothing to search: give documents, and queries with relevant documents.")
        if not ndcg_at_k or corpus_chunk_size < 1:
            raise UsageError("Give ndcg_at_k a cut-off, and set corpus_chunk_size to 1 document or more.")
        self.corpus = list(corpus.values())
        positions = {document: position for position, document in enumerate(corpus)}
        self.relevant = np.array(
            [
                (number, positions.get(document, -1))
                for number, query in enumerate(self.queries)
                for document in dict.fromkeys(relevant_docs[query])
            ]
        )
        self.corpus_chunk_size = corpus_chunk_size
        self.score_functions = score_functions
        self.main_score_function = main_score_function
        self.query_prompts = {"prompt": query_prompt, "prompt_name": query_prompt_name}
        self.corpus_prompts = {"prompt": corpus_prompt, "prompt_name": corpus_prompt_name}
        self.main_metric = f"tied_ndcg@{max(ndcg_at_k)}"
        self.measures = {
            f"{measure}@{k}": f"{metric}@{k}"
            for measure, metric, cutoffs in (
                ("Hits", "accuracy", accuracy_at_k),
                ("P", "precision", precision_recall_at_k),
                ("R", "recall", precision_recall_at_k),
                ("RR", "mrr", mrr_at_k),
                ("nDCG", "ndcg", ndcg_at_k),
                ("AP-cap", "map", map_at_k),
            )
            for k in cutoffs
        }
        self.depth = max(*mrr_at_k, *ndcg_at_k, *accuracy_at_k, *precision_recall_at_k, *map_at_k)

    def __call__(
        self, model: Model, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Search the corpus for all queries.

        Args:
            model: a SentenceTransformer.
            output_path: folder of the CSV file; None for none.
            epoch: epoch of the training.
            steps: steps of the training.

        Returns:
            metric → mean, such as cosine_tied_ndcg@10, cosine_worst_ndcg@10, cosine_best_ndcg@10; and
            cosine_tie_ratio.

        Raises:
            UsageError: the model does not return one number per document.
        """
        functions = self.score_functions or {str(model.similarity_fn_name): model.similarity}
        means = {
            f"{function}_{metric}": value
            for function, tops in self._search(model, functions).items()
            for metric, value in self._means(tops).items()
        }
        if self.primary_metric not in {self.prefixed(metric) for metric in means}:
            best = max(functions, key=lambda function: means[f"{function}_{self.main_metric}"])
            main = self.main_score_function or best
            self.primary_metric = self.prefixed(f"{main}_{self.main_metric}")
        return self.report(model, means, output_path, epoch, steps)

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        prompts = {f"query_{key}": value for key, value in self.query_prompts.items()}
        prompts |= {f"corpus_{key}": value for key, value in self.corpus_prompts.items()}
        settings = {"truncate_dim": self.truncate_dim, **prompts}
        return {key: value for key, value in settings.items() if value is not None}

    def _search(self, model: Model, functions: Mapping[str, Similarity]) -> dict[str, TopScores]:
        """Return the top scores of every query by each function; each text is embedded once."""
        queries = self.embed(model, list(self.queries.values()), "query", **self.query_prompts)
        tops = {name: TopScores(self.depth, self.relevant, len(self.queries)) for name in functions}
        for first in range(0, len(self.corpus), self.corpus_chunk_size):
            texts = self.corpus[first : first + self.corpus_chunk_size]
            documents = self.embed(model, texts, "document", **self.corpus_prompts)
            for name, similarity in functions.items():
                tops[name].add(as_array(similarity(queries, documents), (len(queries), len(documents))), first)
        return tops

    def _means(self, tops: TopScores) -> dict[str, float]:
        names = list(self.measures)
        parts = [evaluate(lists, names, TREATMENTS, qrels=judgments) for lists, judgments in tops.lists()]
        return tied_means(Evaluation.merge(*parts), self.measures, len(self.queries))
