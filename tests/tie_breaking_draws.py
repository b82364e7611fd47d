"""Leaderboards whose ties are broken at random many times, by a textbook that knows nothing of TieScope."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from metrics import Runs

MEASURES = ("RR", "RR@10", "Hits@3", "AP", "nDCG@10", "nDCG", "P@10", "R@10", "RBP(0.8)", "DR@10", "Div@10")
_ROUNDING = 1e-11
"""Means closer than this are level, as `EQUAL_MEANS` says."""


@dataclass(frozen=True)
class Board:
    """A leaderboard.

    Attributes:
        queries: how many.
        size: documents of each list.
        relevant: relevant ones of each list.
        shape: of ties: all, huge, small, boundary or mixed.
        graded: whether grades go from 1 to 3, not all 1.
        rerankers: how many.
        seed: of scores and grades.
    """

    queries: int
    size: int
    relevant: int
    shape: str
    graded: bool = False
    rerankers: int = 3
    seed: int = 0

    def __str__(self) -> str:
        graded = "graded" if self.graded else "binary"
        return f"{self.queries}x{self.size} r{self.relevant} {self.shape} {graded} {self.rerankers} rerankers"

    @cached_property
    def judgments(self):
        """(queries, size) grades and targets."""
        draw = np.random.default_rng([self.seed, 1])
        grades = np.zeros((self.queries, self.size))
        for row in grades:
            count = min(self.relevant, self.size)
            row[draw.choice(self.size, count, replace=False)] = draw.integers(1, 4, count) if self.graded else 1
        return grades, draw.integers(0, 1 + self.relevant // 2, grades.shape)

    @cached_property
    def scores(self):
        """(rerankers, queries, size) scores, higher for what is relevant the better a reranker is."""
        draw = np.random.default_rng([self.seed, 2])
        grades, _ = self.judgments
        shapes = ("all", "huge", "small", "boundary")
        scores = np.empty((self.rerankers, self.queries, self.size))
        for reranker, query in np.ndindex(scores.shape[:2]):
            signal = draw.random(self.size) + 0.1 * reranker * (grades[query] > 0)
            order = np.argsort(np.argsort(-signal))
            shape = shapes[(query + reranker) % 4] if self.shape == "mixed" else self.shape
            scores[reranker, query] = -tie_numbers(order, shape)
        return scores

    def runs(self, *, targets):
        """The board as runs; with targets that several documents satisfy, or each its own."""
        shape = self.scores.shape
        reranker, query, document = (index.ravel() for index in np.indices(shape))
        grades, target_ids = self.judgments
        table = {
            "reranker": np.char.add("r", reranker.astype(str)),
            "query_id": np.char.add("q", query.astype(str)),
            "doc_id": np.char.add("d", document.astype(str)),
            "score": self.scores.ravel(),
            "relevance": np.broadcast_to(grades, shape).ravel(),
        }
        if targets:
            table["target_id"] = np.broadcast_to(target_ids, shape).ravel().astype(str)
        return Runs.from_frame(pd.DataFrame(table))

    def drawn_means(self, draws, seed=0):
        """Measure → (rerankers, draws) means, every tie broken at random each time."""
        draw, (grades, targets) = np.random.default_rng([self.seed, seed, 3]), self.judgments
        means = {measure: np.zeros((self.rerankers, draws)) for measure in MEASURES}
        for reranker, query in np.ndindex(self.scores.shape[:2]):
            places, listed_grades, listed_targets = draw_places(
                self.scores[reranker, query], grades[query], targets[query], draws, draw
            )
            for measure, values in textbook(places, listed_grades, listed_targets).items():
                means[measure][reranker] += values / self.queries
        return means


def tie_numbers(order, shape):
    """The number of the tie that each place belongs to."""
    if shape == "all":
        return np.zeros_like(order)
    if shape == "huge":
        return order * 3 // len(order)
    if shape == "small":
        return order // 3
    first, last = (
        len(order) // 8,
        max(len(order) // 8 + 4, len(order) // 2),
    )  # boundary: one tie, all else strict
    return np.where((order >= first) & (order < last), first, order)


def draw_places(scores, grades, targets, draws, draw):
    """(draws, n_relevant) places of the relevant documents from 1, their grades and targets."""
    relevant = np.flatnonzero(grades > 0)
    relevant = relevant[np.argsort(-scores[relevant], kind="stable")]
    places = np.empty((draws, len(relevant)), dtype=np.int64)
    for score in np.unique(scores[relevant]):
        columns = np.flatnonzero(scores[relevant] == score)
        size, above = int((scores == score).sum()), int((scores > score).sum())
        places[:, columns] = 1 + above + distinct_places(size, len(columns), draws, draw)
    return places, grades[relevant], targets[relevant]


def distinct_places(size, count, draws, draw):
    """(draws, count) different places of one tie."""
    if size == 1:
        return np.zeros((draws, 1), dtype=np.int64)
    if count == 1:
        return draw.integers(0, size, (draws, 1))
    if count**2 > size:
        parts = [np.argsort(draw.random((part, size)), axis=1)[:, :count] for part in split(draws, size)]
        return np.concatenate(parts)
    places = draw.integers(0, size, (draws, count))
    while True:
        in_order = np.sort(places, axis=1)
        again = np.flatnonzero((np.diff(in_order, axis=1) == 0).any(axis=1))
        if not len(again):
            return places
        places[again] = draw.integers(0, size, (len(again), count))


def split(draws, size):
    step = max(1, 2**22 // size)
    return [min(step, draws - start) for start in range(0, draws, step)]


def textbook(places, grades, targets):
    """Measure → (draws,) values of one list, by the places of its relevant documents."""
    in_order, within = np.sort(places, axis=1), places <= 10
    first = in_order[:, 0]
    gains, ideal = 2.0**grades - 1, np.sort(2.0**grades - 1)[::-1]
    discounts = 1 / np.log2(places + 1)
    best = ideal / np.log2(np.arange(2, len(ideal) + 2))
    hits = within.sum(axis=1)
    distinct = sum((within[:, targets == target]).any(axis=1) for target in np.unique(targets)) * 1.0
    return {
        "RR": 1 / first,
        "RR@10": np.where(first <= 10, 1 / first, 0),
        "Hits@3": (first <= 3) * 1.0,
        "AP": (np.arange(1, places.shape[1] + 1) / in_order).mean(axis=1),
        "nDCG@10": (discounts * within) @ gains / best[:10].sum(),
        "nDCG": discounts @ gains / best.sum(),
        "P@10": hits / 10,
        "R@10": hits / places.shape[1],
        "RBP(0.8)": (0.2 * 0.8 ** (places - 1.0)).sum(axis=1),
        "DR@10": distinct / len(np.unique(targets)),
        "Div@10": distinct,
    }


def order_shares(means):
    """{(i, j): shares above, equal, below}, (n, n) shares of places, and the expected tau of drawn means."""
    n = len(means)
    pairs = {}
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        difference = means[i] - means[j]
        higher, lower = (difference > _ROUNDING).mean(), (difference < -_ROUNDING).mean()
        pairs[int(i), int(j)] = higher, 1 - higher - lower, lower
    place = 1 + (means[None] > means[:, None] + _ROUNDING).sum(axis=1)
    places = np.stack([(place == number).mean(axis=1) for number in range(1, n + 1)], axis=1)
    signs = [(higher - lower) ** 2 for higher, equal, lower in pairs.values() if equal < 1]
    return pairs, places, float(np.mean(signs)) if signs else 1.0
