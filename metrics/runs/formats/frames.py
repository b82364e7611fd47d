"""Data frames of pandas, polars, pyarrow, DuckDB and others, and dictionaries, as sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice, beir_columns, recognise
from metrics.runs.files import FileProvenance
from metrics.runs.findings import make_finding
from metrics.runs.formats.json_records import cell_documents, records_source
from metrics.runs.formats.shapes import may_list_documents
from metrics.runs.source import Source, build_source
from metrics.support.arrays import from_tensor
from metrics.support.columns import combine_chunks
from metrics.support.wording import count_of

Nested: TypeAlias = Mapping[str, Mapping[str, float]] | Mapping[str, Sequence[str]] | npt.NDArray[np.generic]
"""Query → document → score or grade, as in pytrec_eval and ranx; query → documents, in order; or an array."""


class ArrowTable(Protocol):
    """A table of polars, pyarrow, DuckDB, or another library that exports Arrow streams."""

    def __arrow_c_stream__(self, requested_schema: object = None, /) -> object:
        """Return the rows as an Arrow C stream."""


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Lists by query in dictionaries.

    Attributes:
        lists: query → document → number; or query → documents, in order.
        value: what the numbers are.
    """

    lists: Mapping[Any, Any]
    value: Literal["score", "relevance"]


Frame: TypeAlias = pd.DataFrame | ArrowTable | Dictionary
_NO_VALUES = (bytes, bytearray, list, tuple, dict, set, np.ndarray)
_AS_READ = ColumnChoice({})
_ONE_LIST = "1"


def is_frame(value: object) -> TypeGuard[Frame]:
    """Return whether a value is a data frame of any library, or lists in dictionaries."""
    if isinstance(value, pd.DataFrame | Dictionary):
        return True
    return not isinstance(value, type) and (
        hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")
    )


def is_array(value: Any) -> bool:  # noqa: ANN401 any value
    """Return whether a value is an array of lists and documents, of any library."""
    exports = hasattr(value, "__array__") or hasattr(value, "__dlpack__")
    return exports and getattr(value, "ndim", 0) == 2 and not is_frame(value)  # noqa: PLR2004 dimensions


def frame_of_array(values: Any, name: str) -> pa.Table:  # noqa: ANN401 as it came
    """Return the rows of (n_lists, n_docs) numbers, without NaN; lists and documents are numbered from 0."""
    numbers = np.asarray(from_tensor(values)).astype(np.float64)
    queries, documents = np.nonzero(~np.isnan(numbers))
    ids = [pa.array(place).cast(pa.string()) for place in (queries, documents)]
    return pa.table([*ids, numbers[queries, documents]], names=["query_id", "doc_id", name])


def _as_pandas(frame: pd.DataFrame | ArrowTable, name: str) -> pd.DataFrame:
    if isinstance(frame, pd.DataFrame):
        return frame
    try:
        return pa.table(frame).to_pandas()
    except (pa.ArrowException, TypeError) as error:
        problem = f"this {type(frame).__name__} is not a table of named columns"
        raise ReadError(name, problem, "Give a data frame with query_id, doc_id and score.") from error


def of_frame(
    frame: Frame,
    choice: ColumnChoice = _AS_READ,
    name: str = "table",
) -> Source:
    """Read the rows of a data frame, in its order; without a query column they are treated as one list.

    Named levels of the index count as columns.

    Raises:
        ReadError: a missing column, an empty ID, a score that is not a number.
        UsageError: the choice names a column that does not exist.
    """
    if isinstance(frame, Dictionary):
        return _of_dictionary(frame, choice, name)
    frame = _as_pandas(frame, name)
    levels = [level for level in frame.index.names if isinstance(level, str) and recognise([level])]
    frame = frame.reset_index([level for level in levels if level not in frame.columns])
    plain = frame.set_axis([str(column) for column in frame.columns], axis=1)
    header = list(plain.columns)
    if not plain.columns.is_unique:
        raise ReadError(name, f"two of the columns {', '.join(header)} have the same name", "Rename one.")
    if records := _list_records(plain):
        return records_source(records, FileProvenance.memory(name), "frame", choice)
    usual = beir_columns(header) if choice.value == "relevance" else {}
    mapping = recognise(header, choice.among(header, usual))
    value = choice.value
    if value == "either":
        value = "relevance" if "relevance" in mapping and not {"score", "rank"} & mapping.keys() else "score"
    noted = []
    if "query_id" not in mapping and value in mapping:
        _refuse_other_queries(plain, mapping, choice, name)
        query_column = next(text for text in ("query_id", "query id", "(one list)") if text not in header)
        mapping = {"query_id": query_column, **mapping}
        plain = plain.assign(**{query_column: _ONE_LIST})
        message = (
            f"The table has no query column, so its {count_of(len(plain), 'row')} are treated as one list."
        )
        noted.append(make_finding("one-list", name, message, count=len(plain)))
    _refuse_lacking(mapping, header, value, name)
    extras = [
        column
        for column in plain.columns.difference(list(mapping.values()), sort=False)
        if pd.api.types.is_any_real_numeric_dtype(plain[column]) and column not in BY_NAME
    ]
    raw = {column: _arrow(plain[column], name) for column in [*mapping.values(), *extras]}
    origin = FileProvenance.memory(name)
    return build_source(raw, mapping, origin, "frame", header, noted, choice.missing_score).note_unused()


def _of_dictionary(dictionary: Dictionary, choice: ColumnChoice, name: str) -> Source:
    """Read lists in dictionaries, in their order, as a frame of their rows would be read."""
    lists, number = dictionary.lists, str(dictionary.value)
    kinds = dict(zip(map(type, lists.values()), lists, strict=True))
    has_numbers = issubclass(next(iter(kinds)), Mapping)
    for kind, query in kinds.items():
        if not issubclass(kind, Mapping if has_numbers else (list, tuple)):
            problem = f"query {query!r} holds a {kind.__name__}"
            raise ReadError(name, problem, "Give each query its documents in the same form.")
    documents = list(chain.from_iterable(lists.values()))
    if has_numbers:
        numbers = list(chain.from_iterable(docs.values() for docs in lists.values()))
    elif number == "score":
        number, numbers = "rank", list(chain.from_iterable(range(1, len(docs) + 1) for docs in lists.values()))
    else:
        numbers = [1] * len(documents)
    header = ["query_id", "doc_id", number]
    mapping = recognise(header, choice.among(header)) if choice.columns else {name: name for name in header}
    _refuse_lacking(mapping, header, choice.value.replace("either", dictionary.value), name)
    lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
    queries = _plain_ids([*lists])
    if queries is None:
        texts = _any_values([query for query, docs in lists.items() for _ in docs], "query_id", name)
    else:
        texts = pa.DictionaryArray.from_arrays(np.arange(len(lists), dtype=np.int32).repeat(lengths), queries)
    ids, values = _plain_ids(documents), _plain_numbers(numbers, number)
    columns = {
        "query_id": texts,
        "doc_id": _any_values(documents, "doc_id", name) if ids is None else ids,
        number: _any_values(numbers, number, name) if values is None else values,
    }
    raw = {theirs: columns[theirs] for theirs in mapping.values()}
    origin = FileProvenance.memory(name)
    source = build_source(raw, mapping, origin, "frame", header, missing_score=choice.missing_score)
    is_plain = has_numbers and None not in (queries, ids, values) and mapping.get(number) == number
    return replace(source.note_unused(), dictionary=lists if is_plain else None)


def _plain_ids(ids: list[object]) -> pa.Array | None:
    """Return texts as a column; None where one is another value, or not Unicode."""
    try:
        column = pa.array(ids)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        return None
    return column if pa.types.is_string(column.type) and not column.null_count else None


def _plain_numbers(numbers: list[object], name: str) -> pa.Array | None:
    """Return numbers as a column; None where one is missing, text, or a boolean among scores."""
    try:
        column = pa.array(numbers, pa.float64(), from_pandas=True)
    except (pa.ArrowException, OverflowError):
        return None
    if name == "score" and not column.null_count:
        scores = column.to_numpy()
        rows = np.flatnonzero((scores == 0) | (scores == 1))
        if bool in map(type, map(numbers.__getitem__, rows.tolist())):
            return None
    return None if column.null_count else column


def _any_values(values: list[object], column: str, name: str) -> pa.Array:
    """Return a column of values of any type, as in a frame."""
    try:
        return _arrow(pd.DataFrame(zip(values, strict=True), columns=[column])[column], name)
    except UnicodeEncodeError as error:
        raise ReadError(name, f"{column} holds text that is not Unicode", "Correct it.") from error


def _refuse_lacking(mapping: Mapping[str, str], header: Sequence[str], value: str, name: str) -> None:
    """Raise a ReadError if no column is a query, a document or the value."""
    for needed in ("query_id", "doc_id", value):
        if needed not in mapping and not (needed == "score" and "rank" in mapping):
            problem = f"no {needed} column among {', '.join(header) or 'none'}"
            raise ReadError(name, problem, _hint(needed)).with_columns(header, mapping)


def _list_records(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows of a frame whose cells hold lists of documents, as records; none of other frames."""
    first = frame.iloc[:1].to_dict("list")
    lists = [column for column, cells in first.items() if cells and isinstance(cell_documents(cells[0]), list)]
    if not lists or not may_list_documents(frame.columns.drop(lists)):
        return []
    frame = frame.assign(**{column: frame[column].map(cell_documents) for column in lists})
    records: list[dict[str, object]] = frame.to_dict("records")
    return records


def _refuse_other_queries(
    frame: pd.DataFrame, mapping: dict[str, str], choice: ColumnChoice, name: str
) -> None:
    """Raise a ReadError if another column that is not a float may hold the queries, unless none was chosen."""
    unread = [
        column
        for column in frame.columns.difference(list(mapping.values()), sort=False)
        if not pd.api.types.is_float_dtype(frame[column])
    ]
    if unread and choice.columns.get("query_id") != "":
        problem = f"no query_id column among {', '.join(frame.columns)}"
        raise ReadError(
            name, problem, f"{_hint('query_id')} If all rows are one list: columns={{'query_id': ''}}."
        )


def _hint(ours: str) -> str:
    if ours == "relevance":
        return "Rename the correct column to relevance."
    return f"Rename the correct column, or choose it: read_runs(frame, columns={{'{ours}': NAME}})."


def _arrow(column: pd.Series, frame_name: str) -> pa.Array:
    """Return real numbers unchanged, everything else as the text that it prints as."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    is_wide = column.dtype == np.longdouble and column.dtype.itemsize > 8  # noqa: PLR2004 bytes of a float64
    if not is_wide and (pd.api.types.is_any_real_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
        return pa.array(
            column.to_numpy(np.float64, na_value=np.nan) if column.dtype.kind == "f" else column,
            from_pandas=True,
        )
    text = column if isinstance(column.dtype, pd.StringDtype) else _texts(column, frame_name)
    try:
        return combine_chunks(pa.array(text, pa.string(), from_pandas=True))
    except UnicodeEncodeError as error:
        raise ReadError(frame_name, f"{column.name} holds text that is not Unicode", "Correct it.") from error


def _texts(column: pd.Series, frame_name: str) -> list[str | None]:
    """Return the text of values, None if missing; a ReadError for values like lists."""
    missing = column.isna().to_numpy()
    text: list[str | None] = []
    for row, (value, is_missing) in enumerate(zip(column, missing, strict=True), 1):
        if isinstance(value, _NO_VALUES):
            problem = f"{column.name} holds a {type(value).__name__}"
            raise ReadError(frame_name, problem, "Give text or a number.", line=row, unit="row")
        text.append(None if is_missing else str(value))
    return text
