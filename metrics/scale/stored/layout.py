"""The format of a stored evaluation: a Parquet file with a row a list, and JSON in its footer."""

VERSION = 1
"""Of the format; what is newer is refused."""
KEY = b"tiescope"
"""Of the footer: what there is to know but lists."""
MOVABLE = "movable"
"""Stands for lists whose worst and best value differ, among the names of treatments."""
SQUARES = "squares"
"""Stands for the squares of the tied values, likewise."""
IDS = ["reranker", "query_id"]
GROUP = 2**17
"""Rows written at once, at least; so many are read at once where all of them are gone over."""


def column_of(measure: str, ties: str) -> str:
    """Name of the column with the values of a measure under a treatment: `nDCG@10/expected`."""
    return f"{measure}/{ties}"
