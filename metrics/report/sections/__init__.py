"""Sections of a report: a question each, and its answer from the studies."""
