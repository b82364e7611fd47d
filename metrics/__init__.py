"""TieScope: ranking measures with ties done right.

import metrics
metrics.evaluate(frame, ["RR", "nDCG@10"]).summary(flat=True)  # query_id, doc_id, score, relevance
metrics.score(frame)  # the same in one line, for the usual measures
metrics.reciprocal_rank([0, 1, 0], scores=[8, 8, 5])  # one plain list: 0.75
runs = metrics.read_runs(["llm.trec"], qrels="qrels.txt")
metrics.evaluate(runs, ["RR"], ["input", "expected"]).summary(flat=True)
"""

import gc
import sys
from typing import TYPE_CHECKING

from metrics.errors import ReadError, TieScopeError, UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from metrics.evaluation import Evaluation, evaluate, score
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
    from metrics.measures import MEASURES, parse
    from metrics.runs import FORMATS, Runs, read_runs, read_table
    from metrics.scale.dask import evaluate_dataset
    from metrics.scale.stored import Stored
    from metrics.studies.audit.audit import audit
    from metrics.studies.leaderboard.ranks.similarity import rank_similarity
    from metrics.studies.leaderboard.ranks.tiers import rank_intervals
    from metrics.studies.leaderboard.swapped_orders import swapped_orders
    from metrics.studies.tools.emulation import emulate
    from metrics.studies.tools.tools import TOOLS
    from metrics.ties import PRECISIONS, TREATMENTS

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

_OF_ONE_LIST = (
    "average_precision",
    "f1_at_k",
    "hits_at_k",
    "ndcg",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "tarr",
    "tsrr",
)


_MANY_MODULES = 100
"""More modules than that are worth being kept from the search for garbage."""


def __getattr__(name: str) -> object:
    """Return a public name, imported when it is asked for: a server starts before pandas is here."""
    is_collecting, n_modules = gc.isenabled(), len(sys.modules)
    gc.disable()  # what is loaded stays: looking through it for garbage takes a sixth of the import
    try:
        return globals().setdefault(name, _imported(name))
    finally:
        if is_collecting:
            # unless somebody froze objects, who would lose that; it takes a while to know
            if len(sys.modules) - n_modules > _MANY_MODULES and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # now all are of the oldest generation, which is looked through last
            gc.enable()


def _imported(name: str) -> object:
    """Return a public name, or a floor that has some; AttributeError where there is none."""
    match name:
        case "evaluation" | "measures" | "runs" | "ties":
            import metrics.evaluation

            return vars(metrics)[name]
        case "Evaluation" | "evaluate" | "score":
            import metrics.evaluation

            return getattr(metrics.evaluation, name)
        case "MEASURES" | "parse":
            import metrics.measures

            return getattr(metrics.measures, name)
        case "FORMATS" | "Runs" | "read_runs" | "read_table":
            import metrics.runs

            return getattr(metrics.runs, name)
        case "PRECISIONS" | "TREATMENTS":
            import metrics.ties

            return getattr(metrics.ties, name)
        case _:
            return _seldom_imported(name)


def _seldom_imported(name: str) -> object:
    """Return a public name that few need; AttributeError where there is none."""
    home: ModuleType
    match name:
        case "audit":
            from metrics.studies.audit import audit as home
        case "TOOLS" | "emulate":
            from metrics.studies.tools import emulation as home
        case "Running":
            from metrics.evaluation import running as home
        case "Stored":
            from metrics.scale import stored as home
        case "evaluate_dataset":
            from metrics.scale import dask as home
        case "rank_intervals":
            from metrics.studies.leaderboard.ranks import tiers as home
        case "rank_similarity":
            from metrics.studies.leaderboard.ranks import similarity as home
        case "swapped_orders":
            from metrics.studies.leaderboard import swapped_orders as home
        case _ if name in _OF_ONE_LIST:
            from metrics.evaluation import one_list as home
        case _:
            raise AttributeError(f"module 'metrics' has no attribute {name!r}{_advice(name)}")
    return getattr(home, name)


def _advice(name: str) -> str:
    """Return what to use in place of a name that other tools have; empty for names that Python asks for."""
    if name.startswith("_"):
        return ""
    from metrics.evaluation.other_names import advice

    return advice(name, __all__)


def __dir__() -> list[str]:
    """Return the public names, whether or not they were asked for."""
    return __all__
