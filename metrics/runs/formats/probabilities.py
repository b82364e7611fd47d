"""Probabilities of grades: the score is the expected grade."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice, recognise, refuse_many_columns
from metrics.runs.conversion import optional_numbers, parse_number
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.delimited import head_row, header_table
from metrics.runs.formats.format import Format, Head
from metrics.runs.formats.json_records import (
    MAX_VALUES,
    file_records,
    first_record,
    flatten,
    leaf_fields,
    value_array,
)
from metrics.runs.source import Source, build_source
from metrics.support.arrays import BoolArray, FloatArray, combine_chunks
from metrics.support.wording import part_of

EXPECTED, STD, ARGMAX = "expected_grade", "score_std", "argmax_grade"
"""Columns computed from a distribution."""
_TOLERANCE = 0.01
"""Difference from 1 from which a sum of probabilities is reported."""


@dataclass(frozen=True, eq=False)
class GradeProbabilities:
    """Probabilities of grades, one row per document.

    Attributes:
        grades: (n_grades,) rising.
        weights: (n_rows, n_grades) probabilities as the file states them, missing ones 0.
    """

    grades: FloatArray
    weights: FloatArray

    @property
    def is_valid(self) -> BoolArray:
        """(n_rows,) whether the weights are a distribution: none below 0, at least one above."""
        sums = self.weights.sum(axis=1)
        is_valid: BoolArray = (self.weights >= 0).all(axis=1) & (sums > 0) & np.isfinite(sums)
        return is_valid

    @property
    def n_scaled(self) -> int:
        """Number of distributions that do not sum to 1."""
        sums = self.weights[self.is_valid].sum(axis=1)
        return int((np.abs(sums - 1) > _TOLERANCE).sum())

    def scores(self) -> dict[str, FloatArray]:
        """Return the mean, standard deviation and likeliest grade of each row; NaN, 0 and NaN without one.

        The mean sum(p * g) / sum(p) is rounded to twelve decimals, so that the order of summation makes no
        difference. Among equally likely grades, the lowest counts.
        """
        is_valid = self.is_valid
        weights = np.where(is_valid[:, None], self.weights, np.nan)
        p = weights / weights.sum(axis=1, keepdims=True)
        mean = np.round((p * self.grades).sum(axis=1), 12)
        spread = np.sqrt((p * (self.grades - mean[:, None]) ** 2).sum(axis=1))
        argmax = np.where(is_valid, self.grades[np.argmax(self.weights, axis=1)], np.nan)
        return {EXPECTED: mean, STD: np.nan_to_num(spread), ARGMAX: argmax}


def distribution_findings(
    probabilities: GradeProbabilities,
    raw: Mapping[str, pa.Array],
    mapping: Mapping[str, str],
    file: str,
) -> list[Finding]:
    """Report the ties that likeliest grades would make, and probabilities that do not sum to 1."""
    is_scored = probabilities.is_valid
    if not (n_rows := int(is_scored.sum())):
        return []
    keys = [mapping[ours] for ours in ("reranker", "query_id") if ours in mapping]
    argmax, expected = (
        _n_tied([raw[key] for key in keys], raw[name], is_scored) for name in (ARGMAX, EXPECTED)
    )
    message = (
        f"Tied by the likeliest grade: {part_of(argmax, n_rows, 'document')}. Tied by the expected grade: "
        f"{part_of(expected, n_rows, 'document')}. The column {ARGMAX} holds the likeliest grade."
    )
    findings = [make_finding("grades-expected", file, message, count=max(argmax, 1))]
    if probabilities.n_scaled:
        share = part_of(probabilities.n_scaled, n_rows, "document")
        message = f"Probabilities that do not sum to 1 and are rescaled: {share}."
        findings.append(make_finding("grades-scaled", file, message, count=probabilities.n_scaled))
    return findings


def _n_tied(keys: Sequence[pa.Array], scores: pa.Array, is_scored: BoolArray) -> int:
    """Count the scored rows that share their score with another row of the same keys."""
    names = [f"key{number}" for number in range(len(keys))]
    columns = [combine_chunks(column) for column in (*keys, scores)]
    table = pa.table(columns, [*names, "score"]).filter(pa.array(is_scored))
    sizes = table.group_by([*names, "score"]).aggregate([([], "count_all")])["count_all"]
    return pc.sum(sizes.filter(pc.greater(sizes, 1))).as_py() or 0


_NAMES = r"(?:grade_?)?(?P<log>log_?)?(?:probability|probabilities|probs?|p)"
_MAP = re.compile(_NAMES, re.IGNORECASE)
_GRADE = re.compile(
    rf"(?:.*\.)?{_NAMES}[_. (\[]?(?P<grade>-?[0-9]{{1,4}}(?:\.[0-9]{{1,4}})?)[)\]]?", re.IGNORECASE
)
_MARK = re.compile(rb'"(?:grade_?)?(?:log_?)?p(?:rob[a-z]*)?[_ (\[]?[-0-9.]*[)\]]?"\s*:', re.IGNORECASE)
_OF_MAP = re.compile(rf"(?:.*\.)?{_NAMES}\..+", re.IGNORECASE)
"""A field of a map of probabilities, perhaps of a token that is a word."""


class _Columns(NamedTuple):
    """The columns of a file that has probabilities; `mapping` lacks the scores."""

    values: Mapping[str, pa.Array]
    origin: FileProvenance
    header: Sequence[str]
    mapping: Mapping[str, str]


def is_probabilities(head: Head) -> bool:
    """Return whether documents have no score, and columns or a map with probabilities of grades."""
    if not head.is_json:
        if len(head.header) < 3 or not _lack_a_score(head.header):  # noqa: PLR2004 query, document, probabilities
            return False
        return len(_grades_of(head.header)) > 1 or bool(_map_column(head))
    if not _MARK.search(head.file.head):
        return False
    record = first_record(head.file)
    lists = [value[0] for value in record.values() if isinstance(value, list) and value]
    objects = [record, *(entry for entry in lists if isinstance(entry, dict))]
    names = [[name for name, _ in leaf_fields(fields)] for fields in objects]
    return any(len(_grades_of(of_object)) > 1 and "score" not in recognise(of_object) for of_object in names)


def read_probabilities(head: Head, choice: ColumnChoice) -> Source:
    """Read `query_id,doc_id,p_0,p_1,p_2`, or records with such fields or a map of them."""
    columns = _flat_columns(*file_records(head.file), choice) if head.is_json else _table_columns(head, choice)
    origin, distribution = columns.origin, _distribution(columns)
    scores = distribution.scores()
    names = [*(name for name in columns.header if not _is_probability(name)), *scores]
    mapping = choice.mapping(origin.file, names, {**columns.mapping, "score": EXPECTED, "score_std": STD})
    score_columns = {name: pa.array(values, from_pandas=True) for name, values in scores.items()}
    raw = {name: column for name, column in columns.values.items() if not _is_probability(name)} | score_columns
    noted = distribution_findings(distribution, raw, mapping, origin.file)
    return build_source(
        raw, mapping, origin, "grade-probabilities", names, noted, choice.missing_score
    ).note_unused()


def _is_probability(name: str) -> bool:
    return bool(_GRADE.fullmatch(name) or _OF_MAP.fullmatch(name))


def _grades_of(names: Iterable[str]) -> dict[str, tuple[float, bool]]:
    """Return each column of probabilities → its grade, and whether it holds logarithms."""
    matches = ((name, _GRADE.fullmatch(name)) for name in names)
    return {name: (float(match["grade"]), bool(match["log"])) for name, match in matches if match}


def _lack_a_score(header: Sequence[str]) -> bool:
    mapping = recognise(header)
    return {"query_id", "doc_id"} <= mapping.keys() and "score" not in mapping


def _map_column(head: Head) -> str:
    """Return the column of a table that holds maps of probabilities, or an empty string."""
    header, _, values = head_row(head)
    cells = zip(header, values, strict=False)
    names = (name for name, text in cells if _MAP.fullmatch(name) and text.lstrip().startswith("{"))
    return next(names, "")


def _table_columns(head: Head, choice: ColumnChoice) -> _Columns:
    header, _, values = head_row(head)
    refuse_many_columns(head.file.name, header)
    if len(set(header)) < len(header):
        raise ReadError(head.file.name, "two columns share a name", "Rename one.", line=1)
    mapping = _mapping([name for name in header if not _GRADE.fullmatch(name)], choice)
    free = [name for name in header if name not in mapping.values()]
    first = dict(zip(header, values, strict=False))
    numbers = [name for name in free if name in _grades_of(free) or parse_number(first.get(name)) is not None]
    numbers = [name for name in numbers if name not in BY_NAME]
    table = header_table(head, mapping, "grade-probabilities", tuple(numbers))
    columns = table.values()
    origin = table.provenance(len(next(iter(columns.values()))))
    if not (map_column := _map_column(head)):
        return _Columns(columns, origin, header, mapping)
    maps = [_parse_map(text, row, origin) for row, text in enumerate(table.column_text(map_column).to_pylist())]
    rows: list[dict[str, Any]] = [
        {f"{map_column}.{grade}": value for grade, value in weights.items()} for weights in maps
    ]
    names = _grades_of(dict.fromkeys(name for row in rows for name in row))
    _refuse_many_grades([*header, *names], names, len(rows), origin)
    columns |= {name: value_array([row.get(name) for row in rows], name, origin) for name in names}
    return _Columns(columns, origin, [*(name for name in header if name != map_column), *names], mapping)


def _parse_map(text: str, row: int, origin: FileProvenance) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        value = json.loads(text or "{}")
        if isinstance(value, dict) and not any(isinstance(weight, dict | list) for weight in value.values()):
            return value
    raise origin.error(row, "not a JSON map of grades", 'Write {"0": 0.1, "1": 0.9}.')


def _flat_columns(
    records: Sequence[Mapping[str, object]], origin: FileProvenance, choice: ColumnChoice
) -> _Columns:
    flat = flatten(records, origin, choice, always=True)
    header = [name for name in flat.header if _GRADE.fullmatch(name) or not _OF_MAP.fullmatch(name)]
    mapping = _mapping([name for name in header if not _GRADE.fullmatch(name)], choice, flat.usual)
    grades = _grades_of(header)
    _refuse_many_grades(header, grades, len(flat.rows), flat.origin)
    names = [
        name
        for name in header
        if name in grades
        or name in mapping.values()
        or (name not in BY_NAME and all(type(row.get(name)) in (int, float) for row in flat.rows))
    ]
    columns = {name: value_array([row.get(name) for row in flat.rows], name, flat.origin) for name in names}
    return _Columns(columns, flat.origin, header, mapping)


def _refuse_many_grades(
    header: Sequence[str], grades: Mapping[str, object], n_rows: int, origin: FileProvenance
) -> None:
    """Raise a ReadError if maps have too many grades: each is a column of all rows."""
    refuse_many_columns(origin.file, header)
    if len(grades) * n_rows > MAX_VALUES:
        problem = f"{len(grades):,} grades for {n_rows:,} documents make more than {MAX_VALUES:,} probabilities"
        raise ReadError(origin.file, problem, "Split the file by query.", line=1)


def _mapping(
    names: Sequence[str], choice: ColumnChoice, usual: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Map our columns, except probabilities, to the file's."""
    mapping_choice = {**(usual or {}), **choice.columns}
    return recognise(
        names, {ours: theirs for ours, theirs in mapping_choice.items() if not theirs or theirs in names}
    )


def _distribution(columns: _Columns) -> GradeProbabilities:
    by_column = _grades_of(columns.values)
    if not by_column:
        problem = "no column or map entry is the probability of a grade"
        hint = 'Name the columns after their grades (p_0, p_1), or write a map: {"0": 0.1, "1": 0.9}.'
        raise columns.origin.error(0, problem, hint)
    grades = sorted({grade for grade, _ in by_column.values()})
    weights = np.zeros((len(next(iter(columns.values.values()))), len(grades)))
    for name, (grade, is_log) in by_column.items():
        column, hint = combine_chunks(columns.values[name]), "Write a number, or leave the value empty."
        numbers = optional_numbers(column, name, columns.origin, "not a probability", hint)
        probabilities = pc.fill_null(numbers, -np.inf if is_log else 0).to_numpy(zero_copy_only=False)
        weights[:, grades.index(grade)] += np.exp(np.minimum(probabilities, 1)) if is_log else probabilities
    return GradeProbabilities(np.array(grades), weights)


FORMATS = (
    Format(
        "grade-probabilities",
        "Probabilities of grades, or their logarithms, for documents without a score. The score is the "
        "expected grade, score_std its standard deviation, argmax_grade the likeliest grade.",
        "query_id,doc_id,p_0,p_1,p_2\nq1,d7,0.1,0.3,0.6\nq1,d2,0,0.25,0.75",
        is_probabilities,
        read_probabilities,
    ),
)
