"""The ties page: its file, its sections and its cached calls."""
