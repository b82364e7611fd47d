"""Charts of ties against gaps, list by list."""
