"""Long tables as CSV, as pandas writes them but five times as fast."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

_QUOTED = re.compile('[",\r\n]')
"""Characters that need quotes."""
_SMALLEST, _LARGEST = 1e-4, 1e9
"""Arrow and Python print fractions between these alike."""


def plain_csv(table: pd.DataFrame) -> str | None:
    """Return the rows as pandas writes them, without a header; None if a cell needs quotes or is missing."""
    columns = []
    for place in range(table.shape[1]):
        texts = _texts(table.iloc[:, place])
        if texts is None:
            return None
        columns.append(texts)
    sink = pa.BufferOutputStream()
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    arrow_csv.write_csv(pa.table(columns, names=[str(place) for place in range(len(columns))]), sink, options)
    return str(sink.getvalue(), "utf-8")


def _texts(column: pd.Series) -> pa.Array | pa.ChunkedArray | None:
    """Return the cells of a column for Arrow; None if pandas may print them differently."""
    if column.dtype == np.float64:
        return _printed(column.to_numpy())
    if column.dtype == np.bool_:
        return pc.if_else(pa.array(column), "True", "False")
    if column.dtype == np.int64:
        return pa.array(column)
    if not isinstance(column.dtype, pd.StringDtype):
        return None
    texts = pa.array(column).cast(pa.large_string())
    needs_quotes = pc.any(pc.match_substring_regex(texts, _QUOTED.pattern)).as_py()
    return None if needs_quotes or texts.null_count else texts


def _printed(numbers: np.ndarray) -> pa.Array:
    sizes = np.abs(numbers)
    with np.errstate(invalid="ignore"):
        is_alike = (sizes >= _SMALLEST) & (sizes < _LARGEST) & (numbers != np.rint(numbers))
    texts = pa.array(numbers).cast(pa.string())
    others = ["" if np.isnan(number) else repr(number) for number in numbers[~is_alike].tolist()]
    return pc.replace_with_mask(texts, pa.array(~is_alike), pa.array(others, pa.string()))
