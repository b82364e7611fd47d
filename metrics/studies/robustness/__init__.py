"""How much of a ranking survives noise in its scores, and other weights of its criteria."""
