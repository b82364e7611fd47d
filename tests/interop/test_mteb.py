"""Tied values among the scores of MTEB's retrieval tasks, by a task of its contract and by a real one."""

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


def test_tied_worst_and_best_join_the_scores_of_a_task_as_means_of_the_queries_searched():
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
