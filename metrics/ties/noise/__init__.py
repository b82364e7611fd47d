"""What orders noise of the scores makes likely; arrays of scores and spreads alone, no rankings."""

from metrics.ties.noise.model import Noise, Spreads, parse_noise
from metrics.ties.noise.order import NoisyOrder
from metrics.ties.noise.precision import expected_precisions
from metrics.ties.noise.ranks import expected_worth

__all__ = ["Noise", "NoisyOrder", "Spreads", "expected_precisions", "expected_worth", "parse_noise"]
