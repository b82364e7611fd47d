"""Runs as one long table, to write or to upload."""

import pyarrow as pa

from metrics.runs import Runs


def long_table(runs: Runs) -> pa.Table:
    """Return every row of every reranker, its name first; grades are whole numbers where they are whole."""
    parts = [
        plain_columns(table).add_column(0, "reranker", pa.array([name] * len(table), pa.string()))
        for name, table in runs.tables.items()
    ]
    return pa.concat_tables(parts, promote_options="default")


def plain_columns(table: pa.Table) -> pa.Table:
    """Return a table with text as text, not as numbers into a dictionary, and with whole grades as such."""
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(position, field.name, table[position].cast(field.type.value_type))
        if field.name == "relevance" and (table[position].to_numpy() % 1 == 0).all():
            table = table.set_column(position, field.name, table[position].cast(pa.int64()))
    return table
