"""Figures: each a pure function from a table to a figure."""
