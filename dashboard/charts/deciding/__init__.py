"""Charts of differences, targets and trade-offs."""
