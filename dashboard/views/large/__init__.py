"""The large page: its file, its sections and its cached calls."""
