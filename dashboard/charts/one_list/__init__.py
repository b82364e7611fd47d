"""Charts of the orderings of one list."""
