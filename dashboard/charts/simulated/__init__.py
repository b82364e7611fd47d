"""Charts of simulated lists and precisions."""
