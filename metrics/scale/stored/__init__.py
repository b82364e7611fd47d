"""Evaluations kept in Parquet: a row a list, however many there are."""

from metrics.scale.stored.layout import MOVABLE, column_of
from metrics.scale.stored.reading import Piece, Stored, is_stored
from metrics.scale.stored.writing import save_parts, write_parts

__all__ = ["MOVABLE", "Piece", "Stored", "column_of", "is_stored", "save_parts", "write_parts"]
