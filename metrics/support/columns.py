"""Operations on columns of Arrow."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.support.arrays import IntArray

CODED = pa.dictionary(pa.int32(), pa.string())
"""Type of dictionary-encoded text."""


def combine_chunks(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column in one chunk."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def coded(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Dictionary-encode text with 32-bit indices; fast for runs of equal values."""
    if pa.types.is_dictionary(column.type):
        combined = combine_chunks(column)
        if combined.type == CODED:
            return combined
        return pa.DictionaryArray.from_arrays(
            combined.indices.cast(pa.int32()), combined.dictionary.cast(pa.string())
        )
    texts = column.cast(pa.string())
    pieces = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    return coded_runs([pc.run_end_encode(piece, run_end_type=pa.int32()) for piece in pieces])


def coded_runs(pieces: Sequence[pa.RunEndEncodedArray]) -> pa.Array:
    """Dictionary-encode texts whose runs are encoded, piece by piece."""
    runs = [piece for piece in pieces if len(piece)]
    if not runs:
        return pa.array([], pa.string()).dictionary_encode()
    lengths = np.concatenate([np.diff(run.run_ends.to_numpy(), prepend=0) for run in runs])
    return repeated(pa.concat_arrays([run.values for run in runs]), lengths)


def repeated(texts: pa.Array, times: IntArray) -> pa.DictionaryArray:
    """Repeat each text so many times, encoded as by `coded`."""
    distinct = texts.dictionary_encode()
    counts = times.astype(np.intp, copy=False)  # 32 bits in Pyodide
    codes = np.repeat(np.asarray(pc.fill_null(distinct.indices, -1)), counts)
    mask = codes < 0 if distinct.null_count else None
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32(), mask=mask), distinct.dictionary)


def places_in(texts: pa.Array, distinct: pa.Array) -> IntArray:
    """Return the (n,) place of each text among distinct texts, -1 if missing."""
    return np.asarray(pc.fill_null(pc.index_in(texts, value_set=distinct), -1)).astype(np.int64)


def with_column(table: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Replace one column of a table."""
    return table.set_column(table.column_names.index(name), name, values)
