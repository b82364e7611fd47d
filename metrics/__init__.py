"""TieScope: ranking measures with ties done right.

import metrics
metrics.evaluate(frame, ["RR", "nDCG@10"]).summary(flat=True)  # query_id, doc_id, score, relevance
metrics.score(frame)  # the same in one line, for the usual measures
metrics.reciprocal_rank([0, 1, 0], scores=[8, 8, 5])  # one plain list: 0.75
runs = metrics.read_runs(["llm.trec"], qrels="qrels.txt")
metrics.evaluate(runs, ["RR"], ["input", "expected"]).summary(flat=True)
"""

from importlib import import_module
from typing import TYPE_CHECKING

from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.evaluation import Evaluation, evaluate, score
from metrics.measures import MEASURES, parse
from metrics.runs import FORMATS, Runs, read_runs, read_table
from metrics.ties import PRECISIONS, TREATMENTS

if TYPE_CHECKING:
    from metrics.evaluation.one_list import (
        average_precision,
        f1_at_k,
        hits_at_k,
        ndcg,
        precision_at_k,
        recall_at_k,
        reciprocal_rank,
        tarr,
        tsrr,
    )
    from metrics.evaluation.running import Running
    from metrics.scale.dask import evaluate_dataset
    from metrics.scale.stored import Stored
    from metrics.studies.audit.audit import audit
    from metrics.studies.leaderboard.ranks.similarity import rank_similarity
    from metrics.studies.leaderboard.ranks.tiers import rank_intervals
    from metrics.studies.leaderboard.swapped_orders import swapped_orders
    from metrics.studies.tools.emulation import emulate
    from metrics.studies.tools.tools import TOOLS

__all__ = [
    "FORMATS",
    "MEASURES",
    "PRECISIONS",
    "TOOLS",
    "TREATMENTS",
    "Evaluation",
    "ReadError",
    "Running",
    "Runs",
    "Stored",
    "TieScopeError",
    "UsageError",
    "audit",
    "average_precision",
    "emulate",
    "evaluate",
    "evaluate_dataset",
    "f1_at_k",
    "hits_at_k",
    "ndcg",
    "parse",
    "precision_at_k",
    "rank_intervals",
    "rank_similarity",
    "read_runs",
    "read_table",
    "recall_at_k",
    "reciprocal_rank",
    "score",
    "swapped_orders",
    "tarr",
    "tsrr",
]


_MODULES = {
    "Running": "metrics.evaluation.running",
    "Stored": "metrics.scale.stored",
    "TOOLS": "metrics.studies.tools.tools",
    "audit": "metrics.studies.audit.audit",
    "average_precision": "metrics.evaluation.one_list",
    "emulate": "metrics.studies.tools.emulation",
    "evaluate_dataset": "metrics.scale.dask",
    "f1_at_k": "metrics.evaluation.one_list",
    "hits_at_k": "metrics.evaluation.one_list",
    "ndcg": "metrics.evaluation.one_list",
    "precision_at_k": "metrics.evaluation.one_list",
    "rank_intervals": "metrics.studies.leaderboard.ranks.tiers",
    "rank_similarity": "metrics.studies.leaderboard.ranks.similarity",
    "recall_at_k": "metrics.evaluation.one_list",
    "reciprocal_rank": "metrics.evaluation.one_list",
    "swapped_orders": "metrics.studies.leaderboard.swapped_orders",
    "tarr": "metrics.evaluation.one_list",
    "tsrr": "metrics.evaluation.one_list",
}
"""Public names that are imported when they are first asked for, and where they are."""


def __getattr__(name: str) -> object:
    """Return a public name that few need: it is imported when it is asked for, not with the others."""
    if name not in _MODULES:
        raise AttributeError(f"module 'metrics' has no attribute {name!r}{_advice(name)}")
    return globals().setdefault(name, getattr(import_module(_MODULES[name]), name))


def _advice(name: str) -> str:
    """Return what to use in place of a name that other tools have; empty for names that Python asks for."""
    if name.startswith("_"):
        return ""
    from metrics.evaluation.other_names import advice

    return advice(name, __all__)


def __dir__() -> list[str]:
    """Return the public names, whether or not they were asked for."""
    return __all__
