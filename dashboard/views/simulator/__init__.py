"""The page Simulator and its sections."""
