"""The page Share: its file, its sections and its cached calls."""
