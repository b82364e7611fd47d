"""Floor 2: what orders noise of the scores makes likely; arrays of scores and spreads alone, no rankings."""

from metrics.noise.model import Noise, Spreads, parse_noise
from metrics.noise.order import NoisyOrder
from metrics.noise.precision import expected_precisions
from metrics.noise.ranks import expected_worth

__all__ = ["Noise", "NoisyOrder", "Spreads", "expected_precisions", "expected_worth", "parse_noise"]
