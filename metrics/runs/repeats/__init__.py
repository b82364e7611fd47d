"""Repeats of one reranker: several scorings that differ by chance make one score and its spread."""
