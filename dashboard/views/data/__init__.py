"""The page Data and its sections."""
