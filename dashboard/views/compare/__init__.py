"""The Compare page: its file, its sections and its cached calls."""
