"""How alike two rankings are, with ties: rank correlation and rank-biased overlap, and what ties leave open."""
