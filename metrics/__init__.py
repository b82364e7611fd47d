"""TieScope: ranking measures with ties done right.

import metrics
runs = metrics.read_runs(["llm.trec"], qrels="qrels.txt")
metrics.evaluate(runs, ["RR"], ["input", "expected"]).summary()
"""

from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.evaluation import Evaluation, evaluate
from metrics.measures import MEASURES, parse
from metrics.runs import FORMATS, Runs, read_runs, read_table
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
    "TieScopeError",
    "UsageError",
    "emulate",
    "evaluate",
    "parse",
    "read_runs",
    "read_table",
]
