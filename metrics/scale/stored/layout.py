"""The format of a stored evaluation: a Parquet file with a row a list, and JSON in its footer."""

import math
from dataclasses import fields
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.evaluation import ScoringOptions
from metrics.measures import parse
from metrics.ties import treatment

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData


VERSION = 1
"""Of the format; what is newer is refused."""
KEY = b"tiescope"
"""Of the footer: what there is to know but lists."""
MOVABLE = "movable"
"""Stands for lists whose worst and best value differ, among the names of treatments."""
SQUARES = "squares"
"""Stands for the squares of the tied values, likewise."""
IDS = ["reranker", "query_id"]
GROUP = 2**17
"""Rows written at once, at least; so many are read at once where all of them are gone over."""


def column_of(measure: str, ties: str) -> str:
    """Name of the column with the values of a measure under a treatment: `nDCG@10/expected`."""
    return f"{measure}/{ties}"


_COUNTS = ["n_queries", "n_missing", "n_empty", "n_scored"]
_NUMBERS = {"n_docs": pa.int64(), "max_tie_size": pa.int64(), "tie_ratio": pa.float64()}


def parse_footer(about: dict[str, Any], footer: "FileMetaData") -> dict[str, Any]:
    """Return the attributes of `Stored` that a file states.

    Raises:
        ValueError: they cannot be those of an evaluation, or of these rows; says why.
        LookupError, TypeError, AttributeError, ArithmeticError: likewise.
    """
    about = {"criteria": (), "unjudged": "nonrelevant"} | about  # files of earlier versions have none
    measures, ties, tiebreak_by, criteria = (
        tuple(map(str, list(about[name]))) for name in ("measures", "ties", "tiebreak_by", "criteria")
    )
    for kind, names in (("measures", measures), ("ties", ties)):
        _demand(names and len(set(names)) == len(names), f"{kind} are none, or one is there twice")
    options_said = {option.name: about[option.name] for option in fields(ScoringOptions)}
    options = ScoringOptions(**options_said | {"tiebreak_by": tiebreak_by, "criteria": criteria})
    _demand(options.relevant_from < math.inf, "no smallest relevant grade")
    _demand(
        (tuple(str(parse(name)) for name in measures), tuple(treatment(name).name for name in ties))
        == (measures, ties),
        "names are not as they are printed",
    )
    values = [column_of(*column) for column in product(measures, ties)]
    policies, totals = _policies(about["policies"]), _totals(about["totals"], values)
    _demand(list(totals.index) == list(policies.index), "its totals are not those of its rerankers")
    _demand(
        (totals.filter(regex=f"/{MOVABLE}$").le(policies["n_scored"], axis=0)).all(axis=None),
        "more lists move than there are",
    )
    _demand(policies["n_queries"].sum() == footer.num_rows, "its rows are not those of its lists")
    _check_columns(footer.schema.to_arrow_schema(), values)
    return {"measures": measures, "ties": ties, "options": options, "policies": policies, "totals": totals}


def _demand(holds: object, otherwise: str) -> None:
    """Raise a ValueError if something does not hold."""
    if not holds:
        raise ValueError(otherwise)


def _policies(counts_by_reranker: dict[str, Any]) -> pd.DataFrame:
    counts = [[one[name] for name in _COUNTS] for one in counts_by_reranker.values()]
    are_counts = all(type(count) is int and 0 <= count <= one[0] for one in counts for count in one)
    _demand(counts and are_counts, "its counts are no counts of lists")
    return pd.DataFrame(counts, pd.Index(list(counts_by_reranker), name="reranker"), _COUNTS).astype(np.int64)


def _totals(sums_by_reranker: dict[str, Any], values: list[str]) -> pd.DataFrame:
    totals = pd.DataFrame.from_dict(sums_by_reranker, orient="index", dtype=float).rename_axis("reranker")
    _demand({"tie_ratio", *values} <= set(totals.columns), "totals are missing")
    sums = totals.to_numpy()
    _demand(np.isfinite(sums).all() and (sums >= 0).all(), "its totals are no sums")
    return totals


def _check_columns(schema: pa.Schema, values: list[str]) -> None:
    kinds = {name: schema.field(name).type for name in set(schema.names)}
    for name, kind in (_NUMBERS | dict.fromkeys(values, pa.float64())).items():
        _demand(kinds.get(name) == kind, f"no numbers in column {name!r}")
    for name in IDS:
        kind = kinds.get(name, pa.null())
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        _demand(pa.types.is_string(kind), f"no names in column {name!r}")
