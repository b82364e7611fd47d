"""Add tied values to the scores of MTEB: a mixin for its retrieval and reranking tasks.

import mteb
from metrics.interop.mteb import TiedScores
class NFCorpus(TiedScores, type(mteb.get_task("NFCorpus"))): pass
mteb.evaluate(model, NFCorpus())  # scores have tied_ndcg_at_10, worst_ndcg_at_10, best_ndcg_at_10 ...
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.evaluation import evaluate
from metrics.interop.logged import TREATMENTS, tied_means

_NAMES = {"nDCG-linear": "ndcg", "RR": "mrr", "R": "recall", "P": "precision", "Hits": "hit_rate"}
"""Measure → its name in MTEB."""


class TiedScores:
    """Adds tied, worst and best values to the scores of a task; goes before the task's class.

    MTEB keeps the documents of a list down to its largest cut-off, 1,000. A tie that extends further counts
    with the documents that were kept.

    Attributes:
        k_values: cut-offs of the task.
        skip_first_result: whether the task ignores the first document of each list.
    """

    k_values: Sequence[int]
    skip_first_result: bool = False

    def task_specific_scores(
        self,
        scores: dict[str, dict[str, float]],
        qrels: Mapping[str, Mapping[str, float]],
        results: Mapping[str, Mapping[str, float]],
        hf_split: str,
        hf_subset: str,
    ) -> dict[str, float]:
        """Return the task's own scores, and tied, worst and best values of the same lists.

        Args:
            scores: query → measure of trec_eval → value.
            qrels: query → document → grade.
            results: query → document → score.
            hf_split: split of the data set.
            hf_subset: subset of the data set.

        Returns:
            name, such as `tied_ndcg_at_10`, → mean over the queries of the results; and `tie_ratio`.
        """
        base: Any = super()
        task_scores: dict[str, float] = base.task_specific_scores(
            scores, qrels, results, hf_split=hf_split, hf_subset=hf_subset
        )
        lists = {query: self._scored(documents) for query, documents in results.items() if query in qrels}
        names = {f"{measure}@{k}": f"{name}_at_{k}" for k in self.k_values for measure, name in _NAMES.items()}
        evaluation = evaluate(lists, list(names), TREATMENTS, qrels=qrels, missing="skip")
        return task_scores | tied_means(evaluation, names, len(lists))

    def _scored(self, documents: Mapping[str, float]) -> Mapping[str, float]:
        if not self.skip_first_result:
            return documents
        return dict(sorted(documents.items(), key=lambda item: item[1], reverse=True)[1:])
