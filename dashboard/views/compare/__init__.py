"""The page Compare and its sections."""
