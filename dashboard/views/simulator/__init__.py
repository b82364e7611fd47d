"""The simulator page: its file, its sections and its cached calls."""
