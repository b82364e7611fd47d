"""Ranks: how alike two rankings with ties are, and between which ranks other queries could put each."""
