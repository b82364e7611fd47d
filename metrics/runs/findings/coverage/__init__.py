"""Queries and documents that judgments and runs do not share."""
