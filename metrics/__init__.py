"""TieScope: ranking measures with ties done right.

import metrics
runs = metrics.read_runs(["llm.trec"], qrels="qrels.txt")
metrics.evaluate(runs, ["RR"], ["input", "expected"]).summary()
"""

from metrics.engines import evaluate_dataset
from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.evaluation import Evaluation, evaluate
from metrics.measures import MEASURES, parse
from metrics.runs import FORMATS, Runs, read_runs, read_table
from metrics.stored import Stored
from metrics.studies.tools import TOOLS, emulate
from metrics.ties import PRECISIONS, TREATMENTS

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
