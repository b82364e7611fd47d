"""Audit of published tables: conventions and printed orders."""
