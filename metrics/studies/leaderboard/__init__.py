"""Who leads, by the sort and by the scores."""
