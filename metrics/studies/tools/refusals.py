"""Where a tool gives no number, or none that its rule tells."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs import Runs
from metrics.support.arrays import FloatArray
from metrics.ties.precision import rounded


@dataclass(frozen=True)
class ToolInput:
    """What a tool sees of one reranker.

    Attributes:
        runs: as the tool changes them.
        reranker: which of them.
        lists: n_docs and n_relevant of each list it scores.
        n_missing: judged queries without a row in the files.
        n_emptied: judged queries with rows in the files, and none left.
    """

    runs: Runs
    reranker: str
    lists: pd.DataFrame
    n_missing: int
    n_emptied: int

    @property
    def grades(self) -> FloatArray:
        """The grades it reads."""
        table = self.runs.tables[self.reranker] if self.runs.qrels is None else self.runs.qrels
        return np.asarray(table["relevance"].to_numpy())

    @property
    def scores(self) -> FloatArray:
        """The scores it reads."""
        return np.asarray(self.runs.tables[self.reranker]["score"].to_numpy())

    @property
    def has_unjudged_query(self) -> bool:
        """Whether the run has a query without a judgment."""
        if self.runs.qrels is None:
            return False
        queries, judged = self.runs.queries[self.reranker], self.runs.judged_pairs.queries
        is_judged = pc.is_in(queries.cast(pa.string()), judged.cast(pa.string()))
        return not pc.all(is_judged, min_count=0).as_py()


@dataclass(frozen=True)
class Refusal:
    """A case without a number.

    Attributes:
        reason: completes "No number where".
        applies: whether it is the case.
    """

    reason: str
    applies: Callable[[ToolInput], bool]


NOT_WHOLE = Refusal("a grade is no whole number", lambda tool: bool((tool.grades % 1 != 0).any()))
NEGATIVE = Refusal("a listed document has a grade below 0", lambda tool: bool((tool.grades < 0).any()))
ONE_DOCUMENT = Refusal("a list holds one document", lambda tool: bool((tool.lists["n_docs"] == 1).any()))
ONE_RELEVANT_ALONE = Refusal(
    "a list holds one document, and that is relevant",
    lambda tool: bool(((tool.lists["n_docs"] == 1) & (tool.lists["n_relevant"] == 1)).any()),
)
INFINITE = Refusal("a score is infinite", lambda tool: bool(np.isinf(tool.scores).any()))
INFINITE_32 = Refusal(
    "a score is infinite in 32 bits", lambda tool: bool(np.isinf(rounded(tool.scores, "float32")).any())
)
LACKING = Refusal("the run lacks a judged query: it stops with an error", lambda tool: tool.n_missing > 0)
UNJUDGED = Refusal(
    "the run has a query without judgments: it stops with an error",
    lambda tool: tool.has_unjudged_query,
)
TWO_RELEVANT = Refusal(
    "a query has two relevant documents", lambda tool: bool((tool.lists["n_relevant"] > 1).any())
)
NOT_ONE_LISTED = Refusal(
    "a query has not exactly one relevant document in its list",
    lambda tool: bool((tool.lists["n_relevant"] != 1).any()),
)
EMPTIED = Refusal("a list holds the document named as its query, and no other", lambda tool: tool.n_emptied > 0)
NOT_POSITIVE = Refusal(
    "a score is not above 0: it takes such documents for not relevant",
    lambda tool: bool((rounded(tool.scores, "float32") <= 0).any()),
)
