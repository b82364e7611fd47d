"""Published tables and outputs of tools, read into figures as they were printed."""
