"""TieScope: ranking measures with ties done right.

import metrics
runs = metrics.read_runs(["llm.trec"], qrels="qrels.txt")
metrics.evaluate(runs, ["RR"], ["input", "expected"]).summary()
"""

from importlib import import_module
from typing import TYPE_CHECKING

from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.evaluation import Evaluation, evaluate
from metrics.measures import MEASURES, parse
from metrics.runs import FORMATS, Runs, read_runs, read_table
from metrics.studies.tools.tools import TOOLS, emulate
from metrics.ties import PRECISIONS, TREATMENTS

if TYPE_CHECKING:
    from metrics.scale.dask import evaluate_dataset
    from metrics.scale.stored import Stored

__all__ = [
    "FORMATS",
    "MEASURES",
    "PRECISIONS",
    "TOOLS",
    "TREATMENTS",
    "Evaluation",
    "ReadError",
    "Runs",
    "Stored",
    "TieScopeError",
    "UsageError",
    "emulate",
    "evaluate",
    "evaluate_dataset",
    "parse",
    "read_runs",
    "read_table",
]

_LATE = {"Stored": "metrics.scale.stored", "evaluate_dataset": "metrics.scale.dask"}
"""Names that few need, and where they are: they are looked up when they are asked for, not at import."""


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module 'metrics' has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
