"""Rows of several rerankers in one table, so that many small runs cost no more than one large run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.runs.columns import BY_NAME
from metrics.runs.files import FileProvenance
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.support.columns import combine_chunks, with_column
from metrics.support.wording import count_of

_FEW = 1_000
"""Rerankers that are never too many."""
_MAX_EMPTY = 1_000_000
"""Empty lists that are never too many."""
_MAX_EMPTY_SHARE = 0.9
"""Largest share of empty lists if there are more."""


@dataclass(frozen=True, eq=False)
class RunStack:
    """Rows of one or more rerankers.

    Attributes:
        names: (n,) the rerankers.
        table: the rows of each reranker in turn, in file order.
        row_ends: (n + 1,) number of rows before each reranker, and of all.
        origin: where the rows came from; None if they were made in memory.
        known_pairs: query and document of each row, if computed already.
        grades: (n_rows,) grade of each row in the qrels, NaN if unjudged.
        targets: (n_rows,) number of each row's target in the qrels, -1 if unjudged; None without targets.
        qrels: the qrels that `grades` and `targets` come from.
    """

    names: Sequence[str]
    table: pa.Table
    row_ends: IntArray
    origin: FileProvenance | None = None
    known_pairs: QueryDocKeys | None = None
    grades: FloatArray | None = None
    targets: IntArray | None = None
    qrels: pa.Table | None = None

    @classmethod
    def single(cls, name: str, table: pa.Table, origin: FileProvenance | None = None) -> "RunStack":
        """Return a stack of one reranker, or of judgments."""
        return cls([name], table, np.array([0, len(table)]), origin)

    @classmethod
    def concat(cls, stacks: Sequence["RunStack"]) -> "RunStack":
        """Concatenate stacks with equal columns."""
        if len(stacks) == 1:
            return stacks[0]
        grades = [stack.grades for stack in stacks if stack.grades is not None]
        targets = [stack.targets for stack in stacks if stack.targets is not None]
        lengths = np.concatenate([np.diff(stack.row_ends) for stack in stacks])
        return cls(
            [name for stack in stacks for name in stack.names],
            pa.concat_tables([stack.table for stack in stacks]),
            np.concatenate([[0], np.cumsum(lengths)]),
            known_pairs=QueryDocKeys.concat([stack.pairs for stack in stacks]),
            grades=np.concatenate(grades) if grades else None,
            targets=np.concatenate(targets) if targets else None,
        )

    @property
    def provenance(self) -> FileProvenance:
        """Where the rows came from; for rows made in memory, a file with the name of the first reranker."""
        return self.origin or FileProvenance.memory(self.names[0] or "judgments")

    @cached_property
    def pairs(self) -> QueryDocKeys:
        """Query and document of each row; rerankers do not share queries."""
        return self.known_pairs or QueryDocKeys.of(self.table, self.row_ends)

    @cached_property
    def list_ends(self) -> IntArray:
        """(n + 1,) number of lists before each reranker, and of all."""
        if len(self.names) == 1:
            return np.array([0, len(self.pairs.queries)])
        starts = self.pairs.query_spans[:-1]
        first_spans = np.unique(self.pairs.query[starts], return_index=True)[1]
        return np.searchsorted(starts[first_spans], self.row_ends)

    def with_rows(self, rows: IntArray) -> Iterator["RunStack"]:
        """Yield each reranker that has some of the rows, in a stack of its own."""
        for place in np.unique(np.searchsorted(self.row_ends, rows, side="right") - 1).tolist():
            yield self.slice(place, place + 1)

    def slice(self, first: int, end: int) -> "RunStack":
        """Return the rerankers from `first` to before `end` without copying rows."""
        if (first, end) == (0, len(self.names)):
            return self
        start, stop = (int(self.row_ends[place]) for place in (first, end))
        lists = int(self.list_ends[first]), int(self.list_ends[end])
        return RunStack(
            self.names[first:end],
            self.table.slice(start, stop - start),
            self.row_ends[first : end + 1] - start,
            self.origin and self.origin.take(range(start, stop)),
            self.pairs.slice((start, stop), lists),
            None if self.grades is None else self.grades[start:stop],
            None if self.targets is None else self.targets[start:stop],
            self.qrels,
        )

    def take(self, rows: IntArray) -> "RunStack":
        """Return some of the rows, given in order."""
        return RunStack(
            self.names,
            self.table.take(pa.array(rows)).combine_chunks(),
            np.searchsorted(rows, self.row_ends),
            self.origin and self.origin.take(rows),
        )

    def score_column(self, name: str) -> FloatArray:
        """Return the (n_rows,) numbers of a score column; UsageError where it is missing or not numeric."""
        if name not in self.table.column_names or not pa.types.is_floating(self.table[name].type):
            available = ", ".join(_further_scores(self.table)) or "none"
            raise UsageError(
                f"There is no score column {name!r} to rank by. There are: {available}. "
                "`tiescope check` shows why a column is not read."
            )
        return np.asarray(self.table[name].to_numpy())

    def matched(self, qrels: pa.Table, judged: QueryDocKeys) -> "RunStack":
        """Add the grade and the target of each row; `judged` are query and document of each judgment."""
        if self.qrels is qrels:
            return self
        rows, places = self.pairs.match(judged)
        grades, targets = np.full(len(self.table), np.nan), target_numbers(qrels)
        grades[rows] = qrels["relevance"].to_numpy()[places]
        if targets is not None:
            targets, numbers = np.full(len(self.table), -1), targets
            targets[rows] = numbers[places]
        return replace(self, known_pairs=self.pairs, grades=grades, targets=targets, qrels=qrels)


def _further_scores(table: pa.Table) -> list[str]:
    fields = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    return [name for name in fields if name not in BY_NAME]


def target_numbers(table: pa.Table) -> IntArray | None:
    """Return the (n_rows,) number of each row's target, one of its own if it has none; None without targets."""
    if "target_id" not in table.column_names:
        return None
    codes = pc.fill_null(combine_chunks(table["target_id"]).dictionary_encode().indices, -1)
    numbers = np.asarray(codes).astype(np.int64)
    numbers[numbers < 0] = len(numbers) + np.flatnonzero(numbers < 0)
    return numbers


class Stacks(Mapping[str, pa.Table]):
    """Reranker → its rows, sliced from its stack on access."""

    def __init__(self, stacks: Sequence[RunStack]) -> None:
        self.stacks = stacks
        self.places = {
            name: (number, place)
            for number, stack in enumerate(stacks)
            for place, name in enumerate(stack.names)
        }

    def __getitem__(self, name: str) -> pa.Table:
        return self.reranker(name).table

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    @property
    def n_lists(self) -> IntArray:
        """(n_rerankers,) number of lists."""
        return np.concatenate([np.diff(stack.list_ends) for stack in self.stacks])

    @property
    def further_scores(self) -> list[str]:
        """The score columns that every reranker has besides the score: they can split ties."""
        columns = [_further_scores(stack.table) for stack in self.stacks]
        return [name for name in columns[0] if all(name in names for names in columns)] if columns else []

    def reranker(self, name: str) -> RunStack:
        """Return the stack of one reranker."""
        number, place = self.places[name]
        return self.stacks[number].slice(place, place + 1)

    def batches(self, rows: int, lists: int) -> Iterator[RunStack]:
        """Yield all rerankers in order, in stacks of about so many rows and lists."""
        batch: list[RunStack] = []
        n_batch = 0
        for stack in self.stacks:
            cost = stack.row_ends + lists * np.arange(len(stack.row_ends))
            first = 0
            while first < len(stack.names):
                end = max(first + 1, int(np.searchsorted(cost, cost[first] + rows, side="right")) - 1)
                n_part = int(cost[end] - cost[first])
                part = stack.slice(first, end)
                schema = part.table.schema  # targets are numbered by table
                is_alike = batch and schema == batch[0].table.schema and "target_id" not in schema.names
                if batch and (n_batch + n_part > rows or not is_alike):
                    yield RunStack.concat(batch)
                    batch, n_batch = [], 0
                batch.append(part)
                n_batch += n_part
                first = end
        if batch:
            yield RunStack.concat(batch)

    def renamed(self, names: Mapping[str, str]) -> "Stacks":
        """Select, order and rename rerankers: old name → new name."""
        stacks = []

        def stack_and_shift(entry: tuple[int, str]) -> tuple[int, int]:
            """Return the same for names that follow each other in a stack."""
            position, old = entry
            number, place = self.places[old]
            return number, place - position

        for (number, shift), group in groupby(enumerate(names), stack_and_shift):
            positions, olds = zip(*group, strict=True)
            part = self.stacks[number].slice(positions[0] + shift, positions[-1] + shift + 1)
            stacks.append(replace(part, names=[names[old] for old in olds], known_pairs=part.pairs))
        return Stacks(stacks)

    def rescored(self, score_of: Callable[[str], npt.NDArray[np.float64]]) -> "Stacks":
        """Replace the scores of each reranker."""
        stacks = []
        for stack in self.stacks:
            scores = pa.array(np.concatenate([score_of(name) for name in stack.names]))
            table = with_column(stack.table, "score", scores)
            stacks.append(replace(stack, table=table, known_pairs=stack.pairs))
        return Stacks(stacks)


def refuse_empty_lists(stacks: Sequence[RunStack], qrels: pa.Table) -> None:
    """Raise a UsageError if nearly all of very many lists are empty: the reranker column is probably wrong."""
    n_rerankers = sum(len(stack.names) for stack in stacks)
    if n_rerankers <= _FEW or n_rerankers * len(qrels) <= _MAX_EMPTY:
        return
    n_queries = pc.count_distinct(qrels["query_id"].cast(pa.string())).as_py()
    n_lists, n_with_rows = n_rerankers * n_queries, sum(len(stack.pairs.queries) for stack in stacks)
    if n_lists - n_with_rows > max(_MAX_EMPTY, _MAX_EMPTY_SHARE * n_lists):
        each = f"{count_of(n_rerankers, 'reranker')} for {count_of(n_queries, 'judged query')}"
        raise UsageError(
            f"{each} make {n_lists:,} lists, but only {n_with_rows:,} have rows. Does the reranker column "
            "hold documents or queries? Choose the column that names the rerankers, or none."
        )
