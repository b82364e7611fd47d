"""Simulated lists, drawn with NumPy's Generator for all queries at once.

A seed draws the same random numbers whatever the settings, so two settings differ only by their effect.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from metrics.errors import UsageError
from metrics.runs import Runs
from metrics.support.arrays import BoolArray, FloatArray, IntArray

PERFORMANCE = 0.9
"""Chance that a relevant document is scored higher than by luck, unless said otherwise."""


@dataclass(frozen=True)
class LlmReranker:
    """How a simulated LLM scores.

    Attributes:
        tie_probability: chance that a document copies its score to another one.
        levels: number of distinct scores, evenly spaced over [0, 1]; 0 for any score from 0.1 to 1.2, so that
            only copied scores tie.
        performance: chance that a relevant document is scored higher than by luck; None: that of the simulation
            or of the type of query.

    Raises:
        UsageError: a chance outside [0, 1], or negative levels.
    """

    tie_probability: float
    levels: int
    performance: float | None = None

    def __post_init__(self) -> None:
        check_chance("tie probability", self.tie_probability)
        if self.performance is not None:
            check_chance("performance", self.performance)
        if self.levels < 0:
            raise UsageError(f"levels={self.levels}: give 1 or more levels, or 0 for scores without levels.")


@dataclass(frozen=True)
class Segment:
    """A type of query.

    Attributes:
        performance: chance that a relevant document is scored higher than by luck.
        ties: factor on the chance of ties, which never exceeds 1.

    Raises:
        UsageError: a chance outside [0, 1], or ties below 0.
    """

    performance: float = PERFORMANCE
    ties: float = 1.0

    def __post_init__(self) -> None:
        check_chance("performance", self.performance)
        if not self.ties >= 0:
            raise UsageError(f"ties={self.ties:g}: give 0 or more.")


def check_chance(name: str, value: float) -> None:
    """Raise a UsageError where a value is not between 0 and 1."""
    if not 0 <= value <= 1:
        raise UsageError(f"{name}={value:g} is not between 0 and 1.")


Span = tuple[int, int]
"""Fewest and most, both included."""
_BOOST = 0.1, 0.3
"""Least and most that a relevant document gains."""
_NOISE = 0.01
_DISTINCT = 3, 14
"""Fewest and most values of a synthetic list, at most its length."""


@dataclass(frozen=True)
class _Queries:
    """Lists side by side, (n_queries, most) documents.

    Attributes:
        present: true for documents that exist.
        relevant: true for relevant documents.
    """

    present: BoolArray
    relevant: BoolArray

    @property
    def n_docs(self) -> IntArray:
        n_docs: IntArray = self.present.sum(axis=1)
        return n_docs

    def table(self, scores: FloatArray, segments: pa.Array | None = None) -> pa.Table:
        """Return the rows of one reranker's (n_queries, most) scores; `segments` has one name per query."""
        query, document = np.nonzero(self.present)
        wide = len(str(len(self.present) - 1))
        queries = pa.array([f"q{at:0{wide}d}" for at in range(len(self.present))])
        documents = pa.array([f"d{at}" for at in range(self.present.shape[1])])
        columns = {
            "query_id": queries.take(pa.array(query)),
            "doc_id": documents.take(pa.array(document)),
            "score": scores[self.present],
            "relevance": self.relevant[self.present].astype(np.float64),
        }
        if segments is not None:
            columns["segment"] = segments.take(pa.array(query))
        return pa.table(columns)


def simulate(
    rerankers: Mapping[str, LlmReranker],
    n_queries: int,
    documents: Span = (8, 19),
    relevant: Span = (1, 4),
    seed: int = 0,
    performance: float | None = None,
    segments: Mapping[str, Segment] | None = None,
    *,
    common: bool = False,
) -> Runs:
    """Return simulated LLM rerankers that score the same queries.

    A score is uniform, usually higher where relevant, and rounded to the reranker's levels. Then documents copy
    their score to others, from the first to the last.

    Args:
        rerankers: name → settings.
        n_queries: number of queries.
        documents: fewest and most documents of a list.
        relevant: fewest and most relevant documents, at most the length of the list.
        seed: 0 or more.
        performance: chance that a relevant document is scored higher, for rerankers without their own;
            `PERFORMANCE` where neither it nor segments are given.
        segments: name → settings of a type of query; queries take turns.
        common: whether all rerankers share their random numbers, so that only their settings differ.

    Returns:
        Runs with relevance, and a column segment if there are segments.

    Raises:
        UsageError: a number is out of range, no reranker is given, or a performance and segments are both
            given.
    """
    if not rerankers:
        raise UsageError("Name a reranker to simulate.")
    is_said = performance is not None or any(each.performance is not None for each in rerankers.values())
    if segments and is_said:
        raise UsageError(
            "Each segment has its own performance. Set either `segments` or `performance`, not both."
        )
    kinds = segments or {"": Segment(PERFORMANCE if performance is None else performance)}
    kind = np.arange(n_queries) % len(kinds)
    queries = _queries(n_queries, documents, relevant, (seed, 0))
    names = pa.array(list(kinds)).take(pa.array(kind)) if segments else None
    lift_chances, tie_factors = (
        np.array([getattr(one, name) for one in kinds.values()])[kind] for name in ("performance", "ties")
    )
    tables = {}
    for stream, (name, reranker) in enumerate(rerankers.items(), 1):
        draw = np.random.default_rng((seed, 1 if common else stream))
        tables[name] = queries.table(_draw_scores(reranker, queries, lift_chances, tie_factors, draw), names)
    return Runs(tables)


def _draw_scores(
    reranker: LlmReranker,
    queries: _Queries,
    lift_chances: FloatArray,
    tie_factors: FloatArray,
    draw: np.random.Generator,
) -> FloatArray:
    """Return (n_queries, most) scores, with (n_queries,) chances and factors of the segments."""
    shape = queries.present.shape
    scores = draw.uniform(0.1, 0.9, shape)
    chances = lift_chances if reranker.performance is None else np.full(shape[0], reranker.performance)
    lifted = queries.relevant & (draw.random(shape) < chances[:, None])
    scores = scores + lifted * draw.uniform(*_BOOST, shape)
    if reranker.levels:
        scores, steps = np.minimum(scores, 1), max(reranker.levels - 1, 1)
        scores = np.round(scores * steps) / steps if reranker.levels > 1 else np.zeros(shape)
    gives = draw.random(shape) < np.minimum(reranker.tie_probability * tie_factors, 1)[:, None]
    receivers = np.floor(draw.random(shape) * (queries.n_docs - 1)[:, None]).astype(np.int64)
    for document in range(shape[1]):
        rows = np.flatnonzero(gives[:, document] & (queries.n_docs > max(document, 1)))
        other = receivers[rows, document]
        scores[rows, other + (other >= document)] = scores[rows, document]
    return scores


def synthetic(
    n_lists: int,
    documents: Span = (5, 14),
    relevant: Span = (1, 3),
    seed: int = 0,
    tied: float = 0.3,
) -> Runs:
    """Return one reranker whose lists draw their scores at random from a few values.

    Args:
        n_lists: number of lists.
        documents: fewest and most documents of a list.
        relevant: fewest and most relevant documents, at most the length of the list.
        seed: 0 or more.
        tied: share of lists that keep these values; the others get noise, which removes ties.

    Raises:
        UsageError: a number out of range.
    """
    check_chance("tied", tied)
    queries = _queries(n_lists, documents, relevant, (seed, 0))
    draw, shape = np.random.default_rng((seed, 1)), queries.present.shape
    few = draw.uniform(0.1, 1, (n_lists, _DISTINCT[1]))
    count = np.minimum(draw.integers(*_DISTINCT, n_lists, endpoint=True), queries.n_docs)
    score_ids = np.floor(draw.random(shape) * count[:, None]).astype(np.int64)
    noisy = draw.random(n_lists) >= tied
    scores = np.take_along_axis(few, score_ids, axis=1) + noisy[:, None] * draw.normal(0, _NOISE, shape)
    return Runs({"Synthetic": queries.table(scores)})


def _queries(n: int, documents: Span, relevant: Span, seed: tuple[int, int]) -> _Queries:
    """Return lists of random lengths, with relevant documents at random positions."""
    if n < 1 or seed[0] < 0:
        raise UsageError(f"{n} queries with seed {seed[0]}: give at least 1 query and a seed of 0 or more.")
    _check_span("documents", documents, 1)
    _check_span("relevant", relevant, 0)
    draw = np.random.default_rng(seed)
    n_docs = draw.integers(*documents, n, endpoint=True)
    n_relevant = draw.integers(*relevant, n, endpoint=True)
    present = np.arange(documents[1]) < n_docs[:, None]
    keys = np.where(present, draw.random(present.shape), 2)
    return _Queries(present, present & (keys.argsort(axis=1).argsort(axis=1) < n_relevant[:, None]))


def _check_span(name: str, span: Span, minimum: int) -> None:
    if not minimum <= span[0] <= span[1]:
        raise UsageError(
            f"{name}={span[0]} to {span[1]}: give the smaller number first; it must be {minimum} or more."
        )


def long_table(runs: Runs) -> pa.Table:
    """Return all rows with a column reranker first; grades become whole numbers where they all are."""
    parts = [
        plain_columns(table).add_column(0, "reranker", pa.array([name] * len(table), pa.string()))
        for name, table in runs.tables.items()
    ]
    return pa.concat_tables(parts, promote_options="default")


def plain_columns(table: pa.Table) -> pa.Table:
    """Return a table with plain text instead of dictionary codes, and whole grades as integers."""
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(position, field.name, table[position].cast(field.type.value_type))
        if field.name == "relevance" and (table[position].to_numpy() % 1 == 0).all():
            table = table.set_column(position, field.name, table[position].cast(pa.int64()))
    return table
