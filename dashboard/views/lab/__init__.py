"""Pages to try, send and read."""
