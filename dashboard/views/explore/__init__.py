"""Pages that look into what ties do."""
