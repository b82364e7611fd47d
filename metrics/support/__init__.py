"""Ground: array types, escaping, memory, progress, steps; known to every floor, and knows none."""
