"""What orders noise of the scores makes likely; arrays of scores and spreads alone, no rankings."""

from metrics.ties.noise.batches import NoisyOrder
from metrics.ties.noise.expectations import expected_precisions, expected_worth
from metrics.ties.noise.model import Noise, Spreads, parse_noise

__all__ = ["Noise", "NoisyOrder", "Spreads", "expected_precisions", "expected_worth", "parse_noise"]
