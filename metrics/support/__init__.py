"""Ground: array types, escaping, memory, progress; known to every floor, and knows none."""
