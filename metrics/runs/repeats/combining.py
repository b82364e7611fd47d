"""Rerankers that are repeats of one, combined: one score and its spread for each document."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.runs.findings import Finding
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.reading.provenance import RowProvenance
from metrics.runs.repeats.findings import refuse_unlike_grades, repeat_findings, unused_findings
from metrics.runs.repeats.statistics import SpreadKind, mean_scores, score_deviations
from metrics.runs.stacks import RunStack, Stacks
from metrics.support.arrays import FloatArray
from metrics.support.wording import first_names

_OF_ONE_RUN = ("rank", "score_std")
"""Columns that say something of one repeat alone."""


def combine_repeats(
    stacks: Stacks, repeats: Mapping[str, Sequence[str]], spread: SpreadKind, *, is_graded: bool
) -> tuple[Stacks, list[Finding]]:
    """Return rerankers with repeats combined, each in the place of its first repeat, and what is to be said.

    Args:
        stacks: rows of all rerankers.
        repeats: name of a combined reranker → those that are its repeats.
        spread: whose standard deviation `score_std` is.
        is_graded: whether relevance beside the scores counts, for there are no judgments apart.

    Raises:
        UsageError: a repeat that does not exist or is one twice, fewer than two of them, a name that another
            reranker has, no document that two of them have, or scores of both infinities or two grades for one.
    """
    names = list(stacks.places)
    _refuse_unusable(names, repeats)
    combined_name = {member: name for name, members in repeats.items() for member in members}
    parts: list[RunStack] = []
    findings: list[Finding] = []
    alone: list[str] = []
    begun: set[str] = set()
    for reranker in names:
        name = combined_name.get(reranker)
        if name is None:
            alone.append(reranker)
        elif name not in begun:
            begun.add(name)
            parts += stacks.renamed({other: other for other in alone}).stacks
            alone = []
            runs = {member: stacks.reranker(member) for member in repeats[name]}
            stack, of_stack = _combined(name, runs, spread, is_graded=is_graded)
            parts.append(stack)
            findings += of_stack
    return Stacks([*parts, *stacks.renamed({other: other for other in alone}).stacks]), findings


def _refuse_unusable(names: Sequence[str], repeats: Mapping[str, Sequence[str]]) -> None:
    members = [member for group in repeats.values() for member in group]
    if unknown := next((member for member in members if member not in names), None):
        raise UsageError(f"Repeats: there is no reranker {unknown!r}. Rerankers: {first_names(names, 20)}.")
    if twice := next((member for member in members if members.count(member) > 1), None):
        raise UsageError(f"Repeats: {twice!r} is named twice. A run is a repeat of one reranker, once.")
    for name, group in repeats.items():
        if len(group) < 2:  # noqa: PLR2004 a spread needs two
            raise UsageError(f"Repeats of {name!r}: name two rerankers at least.")
        if not name.strip() or (name in names and name not in members):
            raise UsageError(f"Repeats: {name!r} is no name of its own. Call the combined reranker otherwise.")


def _combined(
    name: str, repeats: Mapping[str, RunStack], spread: SpreadKind, *, is_graded: bool
) -> tuple[RunStack, list[Finding]]:
    """Return one reranker made of its repeats, and what is to be said of it.

    A document stands once, with all columns but scores of the first repeat that has it.

    Args:
        name: of the combined reranker.
        repeats: its repeats by their names.
        spread: whose standard deviation `score_std` is.
        is_graded: whether relevance beside the scores counts.
    """
    members, runs = list(repeats), list(repeats.values())
    shared = set.intersection(*(set(run.table.column_names) for run in runs)).difference(_OF_ONE_RUN)
    columns = [column for column in runs[0].table.column_names if column in shared]
    lengths = [len(run.table) for run in runs]
    table = pa.concat_tables([_with_texts(run.table.select(columns)) for run in runs])
    keys = QueryDocKeys.of(table)
    row_places = pd.factorize(keys.pair_codes)[0]
    rows = np.unique(row_places, return_index=True)[1]
    repeat = np.repeat(np.arange(len(runs)), lengths)

    def by_repeat(column: str) -> FloatArray:
        values = np.full((len(rows), len(runs)), np.nan)
        values[row_places, repeat] = table[column].to_numpy()
        return values

    scores = by_repeat("score")
    means = mean_scores(scores)
    origin = _origin(runs, members, lengths).take(rows)
    findings = repeat_findings(name, members, scores, means, spread, origin)
    findings += unused_findings(name, [run.table.column_names for run in runs], origin.file)
    combined = {
        "score": means,
        "score_std": score_deviations(scores, keys.query[rows].astype(np.int64), spread),
    }
    if "latency" in columns:
        combined["latency"] = mean_scores(by_repeat("latency"))
    grades = by_repeat("relevance") if is_graded and "relevance" in columns else None
    table = table.take(pa.array(rows)).combine_chunks()
    if grades is not None:
        refuse_unlike_grades(name, members, grades, table)
    for column, values in combined.items():
        table = table.drop_columns([column]) if column in table.column_names else table
        table = table.append_column(column, pa.array(values))
    return RunStack.single(name, table, origin), findings


def _with_texts(table: pa.Table) -> pa.Table:
    """Return a table whose texts are plain, so that those of several tables go together."""
    fields = [
        pa.field(field.name, pa.string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _origin(runs: Sequence[RunStack], members: Sequence[str], lengths: Sequence[int]) -> RowProvenance:
    """Return where the rows of repeats came from, one repeat after the other; each file is named once."""
    parts = [run.origin or RowProvenance.memory(member) for run, member in zip(runs, members, strict=True)]
    origin = RowProvenance.concat(parts, lengths).origin
    files = list(dict.fromkeys(part.file for part in parts))
    return RowProvenance(replace(origin, file=first_names(files), unit=parts[0].unit))
