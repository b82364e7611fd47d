"""Pages of what is loaded and kept."""
