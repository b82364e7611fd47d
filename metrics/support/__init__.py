"""Ground: array types, escaping, progress, steps; known to every floor, and knows none."""
