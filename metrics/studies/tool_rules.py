"""How a tool computes a measure: its changes to the files, its rule for ties, and the cases it refuses."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import Policy, ScoringOptions
from metrics.measures import MeasureAt
from metrics.runs import Runs
from metrics.support.arrays import FloatArray
from metrics.support.columns import with_column
from metrics.ties import Ranking
from metrics.ties.options import rounded

Step = Callable[[Runs, float], Runs]
"""(runs, smallest relevant grade) → the runs after one change."""
View = tuple[Step, ...]
"""Changes that a tool makes to runs before it scores them, in order."""


def keep_listed(runs: Runs, _: float) -> Runs:
    """Keep only listed documents in the judgments, and drop queries without rows."""
    if runs.qrels is None:
        return runs
    tables = {}
    for name, table in runs.tables.items():
        ranking = Ranking.of(runs, name)
        rows = table.select(["query_id", "doc_id", "score"]).take(pa.array(ranking.rows))
        tables[name] = rows.append_column("relevance", pa.array(ranking.grades))
    return Runs(tables)


def keep_two_sided(runs: Runs, level: float) -> Runs:
    """Keep the queries that list relevant and other documents, after `keep_listed`."""
    tables = {}
    for name, table in runs.tables.items():
        queries, is_relevant = runs.pairs(name).query, table["relevance"].to_numpy() >= level
        relevant, documents = np.bincount(queries, is_relevant), np.bincount(queries)
        has_both = (relevant > 0) & (relevant < documents)
        tables[name] = table.filter(pa.array(has_both[queries]))
    return Runs(tables)


def binarise(runs: Runs, level: float) -> Runs:
    """Replace relevant grades by the smallest one, and other grades by 0."""

    def cut(table: pa.Table) -> pa.Table:
        is_relevant = pc.cast(pc.greater_equal(table["relevance"], level), pa.float64())
        return with_column(table, "relevance", pc.multiply(is_relevant, float(level)))

    if runs.qrels is not None:
        return replace(runs, qrels=cut(runs.qrels))
    return Runs({name: cut(table) for name, table in runs.tables.items()})


def drop_query_documents(runs: Runs, _: float) -> Runs:
    """Drop documents whose ID equals the ID of their query."""

    def drop(table: pa.Table) -> pa.Table:
        query, document = (table[name].cast(pa.string()) for name in ("query_id", "doc_id"))
        return table.filter(pc.not_equal(query, document))

    return replace(runs, tables={name: drop(table) for name, table in runs.tables.items()})


def only_queries(runs: Runs, queries: Collection[str]) -> Runs:
    """Keep only rows and judgments of these queries."""
    query_ids = pa.array(list(queries), pa.string())

    def keep(table: pa.Table) -> pa.Table:
        return table.filter(pc.is_in(table["query_id"].cast(pa.string()), query_ids))

    return replace(
        runs,
        tables={name: keep(table) for name, table in runs.tables.items()},
        qrels=None if runs.qrels is None else keep(runs.qrels),
    )


def grades(runs: Runs) -> FloatArray:
    """Return the distinct grades of all judgments."""
    tables = list(runs.tables.values()) if runs.qrels is None else [runs.qrels]
    return np.unique(np.concatenate([table["relevance"].to_numpy() for table in tables]))


@dataclass(frozen=True)
class ToolInput:
    """The input of a tool for one reranker.

    Attributes:
        runs: runs as the tool sees them.
        lists: n_docs and n_relevant of each list that it scores.
        n_missing: judged queries without rows in the files.
        n_emptied: judged queries whose rows are all dropped.
    """

    runs: Runs
    reranker: str
    lists: pd.DataFrame
    n_missing: int
    n_emptied: int

    @property
    def grades(self) -> FloatArray:
        """All grades."""
        table = self.runs.tables[self.reranker] if self.runs.qrels is None else self.runs.qrels
        return np.asarray(table["relevance"].to_numpy())

    @property
    def scores(self) -> FloatArray:
        """All scores."""
        return np.asarray(self.runs.tables[self.reranker]["score"].to_numpy())

    @property
    def has_unjudged_query(self) -> bool:
        """Whether the run has a query without judgments."""
        if self.runs.qrels is None:
            return False
        queries, judged = self.runs.queries[self.reranker], self.runs.judged_pairs.queries
        is_judged = pc.is_in(queries.cast(pa.string()), judged.cast(pa.string()))
        return not pc.all(is_judged, min_count=0).as_py()


@dataclass(frozen=True)
class Refusal:
    """A case without a number; `reason` completes "No number where"."""

    reason: str
    applies: Callable[[ToolInput], bool]


NOT_WHOLE = Refusal("a grade is not a whole number", lambda tool: bool((tool.grades % 1 != 0).any()))
NEGATIVE = Refusal("a listed document has a grade below 0", lambda tool: bool((tool.grades < 0).any()))
ONE_DOCUMENT = Refusal("a list has one document", lambda tool: bool((tool.lists["n_docs"] == 1).any()))
ONE_RELEVANT_ALONE = Refusal(
    "a list has one document, which is relevant",
    lambda tool: bool(((tool.lists["n_docs"] == 1) & (tool.lists["n_relevant"] == 1)).any()),
)
INFINITE = Refusal("a score is infinite", lambda tool: bool(np.isinf(tool.scores).any()))
INFINITE_32 = Refusal(
    "a score is infinite when rounded to 32 bits",
    lambda tool: bool(np.isinf(rounded(tool.scores, "float32")).any()),
)
LACKING = Refusal("the run lacks a judged query: the tool stops with an error", lambda tool: tool.n_missing > 0)
UNJUDGED = Refusal(
    "the run has a query without judgments: the tool stops with an error",
    lambda tool: tool.has_unjudged_query,
)
TWO_RELEVANT = Refusal(
    "a list has two or more relevant documents", lambda tool: bool((tool.lists["n_relevant"] > 1).any())
)
NOT_ONE_LISTED = Refusal(
    "a list does not have exactly one relevant document",
    lambda tool: bool((tool.lists["n_relevant"] != 1).any()),
)
EMPTIED = Refusal("a list has only a document whose ID equals the query ID", lambda tool: tool.n_emptied > 0)
NOT_POSITIVE = Refusal(
    "a score is not above 0: the tool treats such documents as not relevant",
    lambda tool: bool((rounded(tool.scores, "float32") <= 0).any()),
)


@dataclass(frozen=True)
class Rule:
    """How a tool computes a measure.

    Attributes:
        treatment: how it breaks ties, a name of `metrics.TREATMENTS`.
        why: one sentence on why its value is not the tied one.
        precision: precision of its scores.
        missing: policy for queries that the run lacks.
        empty: policy for queries without relevant documents.
        view: changes to the files, in order.
        refusals: cases without a number.
        stable: longest list whose ties keep the order of the treatment. In longer lists, only values that no
            order changes are certain. None if the treatment always holds.
        computed: our measure with the same value; empty for the measure asked for.
        spelling: name in the tool, {k} for the cut-off.
        level: spelling for a threshold other than 1: {name} for the usual one, {base} and {cut} for the parts
            before and from @, {level} for the grade; empty if the tool has no such option.
    """

    treatment: str
    why: str
    precision: str = "float64"
    missing: Policy = "zero"
    empty: Policy = "zero"
    view: View = ()
    refusals: tuple[Refusal, ...] = ()
    stable: int | None = None
    computed: str = ""
    spelling: str = ""
    level: str = ""

    def spelled(self, names: str) -> dict[str, "Rule"]:
        """Return measure → this rule with the tool's spelling, from pairs `ours=theirs` separated by spaces."""
        pairs = (pair.split("=", 1) for pair in names.split())
        return {ours: replace(self, spelling=theirs) for ours, theirs in pairs}

    @property
    def cases_without_number(self) -> tuple[str, ...]:
        """Phrases that complete "No number where"."""
        reasons = tuple(refusal.reason for refusal in self.refusals)
        if self.stable is None:
            return reasons
        longer = f" of a list of more than {self.stable} documents" if self.stable else ""
        return (*reasons, f"tie order changes the value{longer}: the tool's sort is not stable")

    @property
    def treatments(self) -> tuple[str, ...]:
        """Treatments that its value needs."""
        bounds = () if self.stable is None else ("optimistic", "pessimistic")
        return tuple(dict.fromkeys((self.treatment, *bounds)))

    def policy(self, relevant_from: float) -> tuple[View, ScoringOptions]:
        """Return the view and options of the evaluation that it needs, for this smallest relevant grade."""
        grade = relevant_from if self.level else 1
        return self.view, ScoringOptions(self.precision, relevant_from=grade)

    def counts(self, lists: pd.DataFrame) -> "pd.Series[bool]":
        """Return which lists it averages over."""
        is_left_out = (lists["n_docs"] == 0) & (self.missing == "skip")
        return ~(is_left_out | ((lists["n_relevant"] == 0) & (self.empty == "skip")))


@dataclass(frozen=True)
class Tool:
    """Software that scores rankings.

    Attributes:
        version: version its rules were checked against.
        summary: its rule for ties in one line.
        rules: our measure, `RR` or with any cut-off `RR@k` → its rule, if a rule reproduces it exactly.
        checked: against the running package, or against its source.
    """

    name: str
    version: str
    summary: str
    rules: Mapping[str, Rule]
    checked: Literal["run", "source"] = "run"

    def rule(self, measure: MeasureAt, relevant_from: float = 1) -> Rule | None:
        """Return its rule for this measure with `spelling` and `computed` filled in; None without one."""
        rule = self.rules.get(measure.measure.name + ("" if measure.k is None else "@k"))
        if rule is None:
            return None
        theirs = rule.spelling.format(k=measure.k)
        if relevant_from != 1 and rule.level and measure.measure.family.by_relevance:
            base, sign, cut = theirs.partition("@")
            theirs = rule.level.format(name=theirs, base=base, cut=sign + cut, level=math.ceil(relevant_from))
        return replace(rule, computed=rule.computed or str(measure), spelling=theirs)
