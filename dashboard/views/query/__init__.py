"""The query page: its file, its sections and its cached calls."""
