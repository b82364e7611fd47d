"""The runs page: its file, its sections and its cached calls."""
