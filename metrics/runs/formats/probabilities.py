"""Probabilities of grades: the score is the expected grade."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
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
    value_arrays,
)
from metrics.runs.source import Source, build_source
from metrics.support.arrays import BoolArray, FloatArray
from metrics.support.columns import coded, combine_chunks
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
        """Return the mean, standard deviation and most likely grade of each row; NaN, 0 and NaN without one.

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
) -> Iterator[Finding]:
    """Report the ties that most likely grades would make, and probabilities that do not sum to 1."""
    is_scored = probabilities.is_valid
    if n_rows := int(is_scored.sum()):
        keys = {ours: coded(raw[mapping[ours]]).indices for ours in ("reranker", "query_id") if ours in mapping}
        scores = {name: raw[name] for name in (ARGMAX, EXPECTED)}
        rows = pd.DataFrame({name: column.to_pandas() for name, column in (keys | scores).items()})[is_scored]
        argmax, expected = (int(rows.duplicated([*keys, name], keep=False).sum()) for name in scores)
        message = (
            f"Ties if the score is the most likely grade: {part_of(argmax, n_rows, 'document')}. Ties if the "
            f"score is the expected grade: {part_of(expected, n_rows, 'document')}. The column {ARGMAX} holds "
            "the most likely grade."
        )
        yield make_finding("grades-expected", file, message, count=max(argmax, 1))
    if n_scaled := probabilities.n_scaled:
        share = part_of(n_scaled, n_rows, "document")
        message = f"Probabilities that do not sum to 1 and are rescaled: {share}."
        yield make_finding("grades-scaled", file, message, count=n_scaled)


_NAMES = r"(?:grade_?)?(?P<log>log_?)?(?:probability|probabilities|probs?|p)"
_MAP = re.compile(_NAMES, re.IGNORECASE)
_GRADE = re.compile(
    rf"(?:.*\.)?{_NAMES}[_. (\[]?(?P<grade>-?[0-9]{{1,4}}(?:\.[0-9]{{1,4}})?)[)\]]?", re.IGNORECASE
)
_MARK = re.compile(rb'"(?:grade_?)?(?:log_?)?p(?:rob[a-z]*)?[_ (\[]?[-0-9.]*[)\]]?"\s*:', re.IGNORECASE)
_OF_MAP = re.compile(rf"(?:.*\.)?{_NAMES}\..+", re.IGNORECASE)
"""A field of a map of probabilities, perhaps of a token that is a word."""


_Columns = tuple[dict[str, pa.Array], FileProvenance, Sequence[str], dict[str, str]]
"""The columns of a file that has probabilities, their rows, the header, and the mapping without the scores."""


def is_probabilities(head: Head) -> bool:
    """Return whether documents have no score, and columns or a map with probabilities of grades."""
    if not head.is_json:
        ours = recognise(head.header).keys()
        if not {"query_id", "doc_id"} <= ours or "score" in ours:
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
    columns, origin, header, mapping = (
        _record_columns(head, choice) if head.is_json else _table_columns(head, choice)
    )
    distribution = _distribution(columns, origin)
    scores = distribution.scores()
    names = [*(name for name in header if not _is_probability(name)), *scores]
    mapping = choice.mapping(origin.file, names, {**mapping, "score": EXPECTED, "score_std": STD})
    raw = {name: column for name, column in columns.items() if not _is_probability(name)}
    raw |= {name: pa.array(values, from_pandas=True) for name, values in scores.items()}
    noted = list(distribution_findings(distribution, raw, mapping, origin.file))
    source = build_source(raw, mapping, origin, "grade-probabilities", names, noted, choice.missing_score)
    return source.note_unused()


def _is_probability(name: str) -> bool:
    return bool(_GRADE.fullmatch(name) or _OF_MAP.fullmatch(name))


def _grades_of(names: Iterable[str]) -> dict[str, tuple[float, bool]]:
    """Return each column of probabilities → its grade, and whether it holds logarithms."""
    matches = ((name, _GRADE.fullmatch(name)) for name in names)
    return {name: (float(match["grade"]), bool(match["log"])) for name, match in matches if match}


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
    mapping = _mapping(header, choice)
    first = dict(zip(header, values, strict=False))
    further = [name for name in header if name not in mapping.values() and name not in BY_NAME]
    grades = _grades_of(further)
    numbers = [name for name in further if name in grades or parse_number(first.get(name)) is not None]
    table = header_table(head, mapping, "grade-probabilities", tuple(numbers))
    columns = table.values()
    origin = table.provenance(len(next(iter(columns.values()))))
    if not (map_column := _map_column(head)):
        return columns, origin, header, mapping
    maps = [_parse_map(text, row, origin) for row, text in enumerate(table.column_text(map_column).to_pylist())]
    rows = [{f"{map_column}.{grade}": value for grade, value in weights.items()} for weights in maps]
    names = list(_grades_of(dict.fromkeys(chain.from_iterable(rows))))
    _refuse_many_grades([*header, *names], names, len(rows), origin)
    header = (*(name for name in header if name != map_column), *names)
    return columns | value_arrays(rows, names, origin), origin, header, mapping


def _parse_map(text: str, row: int, origin: FileProvenance) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        value = json.loads(text or "{}")
        if isinstance(value, dict) and not any(isinstance(weight, dict | list) for weight in value.values()):
            return value
    raise origin.error(row, "not a JSON map of grades", 'Write {"0": 0.1, "1": 0.9}.')


def _record_columns(head: Head, choice: ColumnChoice) -> _Columns:
    flat = flatten(*file_records(head), choice, always=True)
    header = [name for name in flat.header if _GRADE.fullmatch(name) or not _OF_MAP.fullmatch(name)]
    mapping, grades = _mapping(header, choice, flat.usual), _grades_of(header)
    _refuse_many_grades(header, grades, len(flat.rows), flat.origin)
    names = [
        name
        for name in header
        if name in grades
        or name in mapping.values()
        or (name not in BY_NAME and all(type(row.get(name)) in (int, float) for row in flat.rows))
    ]
    return value_arrays(flat.rows, names, flat.origin), flat.origin, header, mapping


def _refuse_many_grades(
    header: Sequence[str], grades: Collection[str], n_rows: int, origin: FileProvenance
) -> None:
    """Raise a ReadError if maps have too many grades: each is a column of all rows."""
    refuse_many_columns(origin.file, header)
    if len(grades) * n_rows > MAX_VALUES:
        problem = f"{len(grades):,} grades for {n_rows:,} documents make more than {MAX_VALUES:,} probabilities"
        raise ReadError(origin.file, problem, "Split the file by query.", line=1)


def _mapping(
    header: Sequence[str], choice: ColumnChoice, usual: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Map our columns, except probabilities, to the file's."""
    names = [name for name in header if not _GRADE.fullmatch(name)]
    mapping = {**(usual or {}), **choice.columns}
    return recognise(names, {ours: name for ours, name in mapping.items() if not name or name in names})


def _distribution(columns: Mapping[str, pa.Array], origin: FileProvenance) -> GradeProbabilities:
    by_column = _grades_of(columns)
    if not by_column:
        problem = "no column or map entry is the probability of a grade"
        hint = 'Name the columns after their grades (p_0, p_1), or write a map: {"0": 0.1, "1": 0.9}.'
        raise origin.error(0, problem, hint)
    grades = sorted({grade for grade, _ in by_column.values()})
    weights = np.zeros((len(next(iter(columns.values()))), len(grades)))
    hint = "Write a number, or leave the value empty."
    for name, (grade, is_log) in by_column.items():
        numbers = optional_numbers(combine_chunks(columns[name]), name, origin, "not a probability", hint)
        probabilities = pc.fill_null(numbers, -np.inf if is_log else 0).to_numpy(zero_copy_only=False)
        weights[:, grades.index(grade)] += np.exp(np.minimum(probabilities, 1)) if is_log else probabilities
    return GradeProbabilities(np.array(grades), weights)


FORMATS = (
    Format(
        "grade-probabilities",
        "Probabilities of grades, or their logarithms, for documents without a score. The score is the "
        "expected grade, score_std its standard deviation, argmax_grade the most likely grade.",
        "query_id,doc_id,p_0,p_1,p_2\nq1,d7,0.1,0.3,0.6\nq1,d2,0,0.25,0.75",
        is_probabilities,
        read_probabilities,
    ),
)
