"""A table in memory as a source: what pandas holds, as it stands."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.reading.columns import BY_NAME, MissingScore, recognise
from metrics.runs.reading.provenance import FileProvenance
from metrics.runs.reading.source import Source, build_source

_NO_VALUES = (bytes, bytearray, list, tuple, dict, set, np.ndarray)


def of_frame(
    frame: pd.DataFrame, columns: Mapping[str, str] | None = None, missing_score: MissingScore = "error"
) -> Source:
    """Read the rows of a data frame, in its order.

    Args:
        frame: one row a document.
        columns: our column → the frame's, where the name says it otherwise.
        missing_score: what is done about a score that is no number.

    Raises:
        ReadError: a missing column, an empty id, a score that is no number.
        UsageError: `columns` names a column that does not exist.
    """
    plain = frame.set_axis([str(name) for name in frame.columns], axis=1)
    names = ", ".join(plain.columns)
    if not plain.columns.is_unique:
        raise ReadError("table", f"two columns share a name among {names}", "Rename one.")
    mapping = recognise(list(plain.columns), columns)
    for needed in ("query_id", "doc_id", "score"):
        if needed not in mapping:
            hint = f"Choose it: columns={{'{needed}': NAME}}."
            raise ReadError("table", f"no {needed} column among {names}", hint)
    extras = [
        name
        for name in plain.columns.difference(list(mapping.values()), sort=False)
        if pd.api.types.is_any_real_numeric_dtype(plain[name]) and name not in BY_NAME
    ]
    raw = {name: _arrow(plain[name]) for name in [*mapping.values(), *extras]}
    origin = FileProvenance("table", lambda row: row + 1, "row")
    header = list(plain.columns)
    return build_source(raw, mapping, origin, "frame", header, missing_score=missing_score).note_unused()


def _arrow(column: pd.Series) -> pa.Array:
    """Return a column of a frame: real numbers as they are, everything else as the text it prints as."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_any_real_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return pa.array(
            column.to_numpy(np.float64, na_value=np.nan) if column.dtype.kind == "f" else column,
            from_pandas=True,
        )
    missing = column.isna().to_numpy()
    text = []
    for row, (value, is_missing) in enumerate(zip(column, missing, strict=True), 1):
        if isinstance(value, _NO_VALUES):
            problem = f"{column.name} holds a {type(value).__name__}"
            raise ReadError("table", problem, "Give text or a number.", line=row)
        text.append(None if is_missing else str(value))
    try:
        return pa.array(text, pa.string())
    except UnicodeEncodeError as error:
        raise ReadError("table", f"{column.name} holds text that is not Unicode", "Mend it.") from error
