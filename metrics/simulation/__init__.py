"""Floor 6: simulated runs: the notebook's own draws, and general simulators."""

from metrics.simulation.drawing import LlmReranker, Segment, long_table, simulate, synthetic
from metrics.simulation.notebook import (
    NOTEBOOK_RERANKERS,
    NOTEBOOK_SCENARIOS,
    NOTEBOOK_SEGMENTS,
    notebook_grag,
    notebook_llm_rerankers,
    notebook_scenarios,
    notebook_synthetic,
)

__all__ = [
    "NOTEBOOK_RERANKERS",
    "NOTEBOOK_SCENARIOS",
    "NOTEBOOK_SEGMENTS",
    "LlmReranker",
    "Segment",
    "long_table",
    "notebook_grag",
    "notebook_llm_rerankers",
    "notebook_scenarios",
    "notebook_synthetic",
    "simulate",
    "synthetic",
]
