"""The page Robustness: how much of an order survives noise in the scores."""
