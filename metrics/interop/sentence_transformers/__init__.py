"""Evaluators for sentence-transformers that select models by the tied value, not by the luck of the sort.

from metrics.interop.sentence_transformers import TiedRerankingEvaluator
evaluator = TiedRerankingEvaluator(samples, name="dev")  # query, positive, negative, as its RerankingEvaluator
evaluator(model)  # dev_tied_ndcg@10, dev_worst_ndcg@10, dev_best_ndcg@10 ... dev_tie_ratio
SentenceTransformerTrainer(model, evaluator=evaluator, ...)

Documents are tied where the model gives them equal scores, in its own precision. A similarity that rounds,
such as `lambda a, b: model.similarity(a, b).round(decimals=6)`, ties what differs by rounding alone.
"""

from metrics.interop.sentence_transformers.reranking import TiedRerankingEvaluator
from metrics.interop.sentence_transformers.retrieval import TiedInformationRetrievalEvaluator

__all__ = ["TiedInformationRetrievalEvaluator", "TiedRerankingEvaluator"]
