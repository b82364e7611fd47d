"""TieScope: ranking measures with ties done right.

import tiescope  # or: import metrics
tiescope.evaluate(frame, ["RR", "nDCG@10"]).summary(flat=True)  # query_id, doc_id, score, relevance
tiescope.score(frame)  # only the means of that, in one line
tiescope.reciprocal_rank([0, 1, 0], scores=[8, 8, 5])  # one plain list: 0.75
runs = tiescope.read_runs(["llm.trec"], qrels="qrels.txt")
tiescope.evaluate(runs, ["RR"], ["input", "expected"]).summary(flat=True)
"""

import os
from contextlib import suppress
from importlib import import_module

from metrics.errors import ReadError, TieScopeError, UsageError

# What pyarrow frees, numpy can use, where both take it from the system: a tenth less of a million rows.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

_FLOORS = ("evaluation", "measures", "runs", "ties")
_MODULES = {
    "FORMATS": "metrics.runs",
    "MEASURES": "metrics.measures",
    "PRECISIONS": "metrics.ties",
    "TOOLS": "metrics.studies.tools",
    "TREATMENTS": "metrics.ties",
    "Evaluation": "metrics.evaluation",
    "Running": "metrics.evaluation.running",
    "Runs": "metrics.runs",
    "Stored": "metrics.scale.stored",
    "audit": "metrics.studies.audit.audit",
    "average_precision": "metrics.measures.one_list",
    "check": "metrics.runs",
    "compare": "metrics.studies.pairs",
    "draws": "metrics.studies.draws",
    "emulate": "metrics.studies.emulation",
    "evaluate": "metrics.evaluation",
    "evaluate_dataset": "metrics.scale.dask",
    "f1_at_k": "metrics.measures.one_list",
    "hits_at_k": "metrics.measures.one_list",
    "ndcg": "metrics.measures.one_list",
    "parse": "metrics.measures",
    "precision_at_k": "metrics.measures.one_list",
    "rank_intervals": "metrics.studies.pairs",
    "rank_overlap": "metrics.studies.rank_similarity",
    "read_runs": "metrics.runs",
    "read_table": "metrics.runs",
    "recall_at_k": "metrics.measures.one_list",
    "reciprocal_rank": "metrics.measures.one_list",
    "score": "metrics.evaluation",
    "swapped_orders": "metrics.studies.swapped_orders",
    "tarr": "metrics.measures.one_list",
    "tau_b": "metrics.studies.rank_similarity",
    "tsrr": "metrics.measures.one_list",
    "write_report": "metrics.report",
}
"""Public name → the module it comes from; `__init__.pyi` says the same to type checkers."""

__all__ = ["ReadError", "TieScopeError", "UsageError", *_MODULES]  # noqa: PLE0604 strings, all of them


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import metrics` does not load pandas."""
    if name in _FLOORS:
        return import_module(f"metrics.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'metrics' has no attribute {name!r}{_advice(name)}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def _advice(name: str) -> str:
    """Return which public name is probably meant, or how to score the measure of this name."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    from metrics.measures import parse

    word = name.casefold()
    alike = [public for public in __all__ if word.startswith(public.partition("_")[0]) or public in word]
    if meant := alike or get_close_matches(word, __all__, n=1):
        return f": did you mean {meant[0]}?"
    with suppress(UsageError):
        return f": use metrics.score(frame, {str(parse(name))!r})"
    return ""


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return __all__
