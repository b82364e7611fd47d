"""Uploads and boards that stay: SQL says what there is, Parquet holds it. No streamlit inside."""

from dashboard.library.boards import (
    MOST_FILES,
    Board,
    BoardSpec,
    default_name,
    keep_arrangement,
    make_board,
    open_files,
    queries_text,
)
from dashboard.library.entry import Columns, Entry

__all__ = [
    "MOST_FILES",
    "Board",
    "BoardSpec",
    "Columns",
    "Entry",
    "default_name",
    "keep_arrangement",
    "make_board",
    "open_files",
    "queries_text",
]
