"""Tied values among the scores of MTEB's retrieval tasks, by a task of its contract and by a real one."""

import numpy as np
import pytest

import metrics
from metrics.interop.mteb import TiedScores

QRELS = {"q1": {"a": 2, "b": 1, "x": 1}, "q2": {"a": 1, "b": 0}, "not searched": {"a": 1}}
RESULTS = {
    "q1": {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.25},
    "q2": {"a": 0.5, "b": 0.5},
    "not judged": {"a": 1.0},
}


class Task:
    """A task's own scores."""

    k_values = (1, 3)

    def task_specific_scores(self, scores, qrels, results, hf_split, hf_subset):
        return {"n": len(scores), "split": hf_split, "subset": hf_subset}


class TiedTask(TiedScores, Task):
    """The same with tied scores."""


def scores_of(task):
    return task.task_specific_scores({"q1": {}}, QRELS, RESULTS, hf_split="test", hf_subset="default")


def test_tied_worst_and_best_join_the_scores_of_a_task():
    scores = scores_of(TiedTask())
    assert {"n": 1, "split": "test", "subset": "default"}.items() <= scores.items()
    lists = {query: RESULTS[query] for query in ("q1", "q2")}
    names = {"ndcg": "nDCG-linear", "mrr": "RR", "recall": "R", "precision": "P", "hit_rate": "Hits"}
    ties = {"tied": "expected", "worst": "pessimistic", "best": "optimistic"}
    measures = [f"{measure}@{k}" for measure in names.values() for k in (1, 3)]
    evaluation = metrics.evaluate(lists, measures, [*ties.values()], qrels=QRELS, missing="skip")
    for word, treatment in ties.items():
        for name, measure in names.items():
            for k in (1, 3):
                value = evaluation.means(f"{measure}@{k}")[treatment].item()
                assert scores[f"{word}_{name}_at_{k}"] == pytest.approx(value, abs=1e-15)
    assert scores["tied_mrr_at_3"] == pytest.approx((5 / 6 + 3 / 4) / 2)
    assert scores["tie_ratio"] == (3 / 4 + 1) / 2


def test_a_task_that_skips_the_first_result_is_scored_without_it():
    task = TiedTask()
    task.skip_first_result = True
    assert scores_of(task)["best_mrr_at_1"] == 0.5  # a leads both lists: b is next of the first


@pytest.fixture
def real_task():
    """A retrieval task of MTEB, with its data in memory."""
    mteb = pytest.importorskip("mteb", reason="MTEB is not installed")
    from datasets import Dataset  # noqa: PLC0415 only where MTEB is
    from mteb.abstasks.retrieval import AbsTaskRetrieval  # noqa: PLC0415 likewise

    unsaid = ["reference", "date", "domains", "task_subtypes", "license", "annotations_creators", "dialect"]
    metadata = mteb.TaskMetadata(
        name="Ties",
        description="Ties",
        dataset={"path": "none", "revision": "1"},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_3",
        sample_creation=None,
        bibtex_citation="",
        **dict.fromkeys(unsaid),
    )
    task = type("Ties", (TiedScores, AbsTaskRetrieval), {"metadata": metadata, "k_values": (1, 3)})()
    texts = {"a": "cat", "b": "dog", "c": "cat", "d": "bird"}
    task.dataset = {
        "default": {
            "test": {
                "queries": Dataset.from_list([{"id": "q1", "text": "cat"}, {"id": "q2", "text": "dog"}]),
                "corpus": Dataset.from_list(
                    [{"id": key, "title": "", "text": text} for key, text in texts.items()]
                ),
                "relevant_docs": {"q1": {"c": 1}, "q2": {"b": 2, "d": 1}},
                "top_ranked": None,
            }
        }
    }
    task.data_loaded = True
    return task


class Encoder:
    """Embeds a text as the words it has."""

    mteb_model_meta = None

    def encode(self, inputs, **_):
        rows = [text.split() for batch in inputs for text in batch["text"]]
        return np.array([[word in row for word in ("cat", "dog", "bird")] for row in rows], np.float32)

    def similarity(self, queries, documents):
        import torch  # noqa: PLC0415 only where MTEB is

        return torch.as_tensor(queries) @ torch.as_tensor(documents).T

    def similarity_pairwise(self, queries, documents):
        return (queries * documents).sum(axis=1)


@pytest.mark.filterwarnings("default")  # of other packages
def test_a_task_of_mteb_has_tied_scores_beside_its_own(real_task):
    scores = real_task.evaluate(Encoder(), split="test", encode_kwargs={"batch_size": 8})["default"]
    assert scores["tied_mrr_at_1"] == pytest.approx((1 / 2 + 1) / 2)  # of two cats, one is relevant
    for metric in ("ndcg_at_1", "mrr_at_3", "recall_at_1", "precision_at_1", "hit_rate_at_1"):
        assert scores[f"worst_{metric}"] <= scores[metric] <= scores[f"best_{metric}"]
