"""Two hundred lists with their values in every tie order, to test any evaluation tool.

`cases.json` was made by enumeration of all orders, not by TieScope's formulas; tests/test_conformance.py
repeats the enumeration.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metrics.errors import ReadError
from metrics.runs import File
from metrics.support.wording import part_of

CASES_FILE = Path(__file__).with_name("cases.json")
ORDERS: Mapping[str, str] = {
    "tied": "mean over all orders (tied score)",
    "docid_desc": "document ID descending, as in trec_eval",
    "docid_asc": "document ID ascending, as in Anserini",
    "input": "file order",
    "input_reversed": "file order, reversed",
    "best": "best order",
    "worst": "worst order",
    "mean_rank": "reciprocal of the mean rank over all orders, as in PyKEEN",
    "tie_as_step": "all documents of a tie retrieved in one step, as in scikit-learn",
}
"""Tie order in `cases.json` → its description."""
PRECISIONS: Mapping[str, str] = {"float64": "values", "float32": "values_float32"}
"""Precision of scores → the key of a case with its values; 32-bit values are given only if they differ."""
_FORM = 'Write an object that maps the ID of each case to a value, such as {"RR-01": 0.5}.'


def load_cases() -> list[dict[str, Any]]:
    """Return the cases: id, measure, cutoff, run, qrels, values and, for near ties, values_float32."""
    cases: list[dict[str, Any]] = json.loads(CASES_FILE.read_text(encoding="utf-8"))["cases"]
    return cases


def expected_value(case: Mapping[str, Any], order: str, precision: str = "float64") -> float:
    """Return the value of a case in a tie order; NaN if the order is not defined for its measure.

    Args:
        case: one of `load_cases`.
        order: a key of `ORDERS`, or `std`.
        precision: a key of `PRECISIONS`.
    """
    values = case.get(PRECISIONS[precision], case["values"])
    return float(values[order]["decimal"]) if order in values else np.nan


def read_results(path: Path | str) -> dict[str, float]:
    """Return case → value from a file of results, without null values.

    Raises:
        ReadError: the file is not a JSON object with numbers, or names a case that does not exist.
    """
    file = File.open(path)
    try:
        results = json.loads(b"".join(file.blocks()))
    except ValueError:
        results = None
    if not isinstance(results, dict):
        raise ReadError(file.name, "this is not a JSON object", _FORM)
    ids = {case["id"] for case in load_cases()}
    for name, value in results.items():
        if name not in ids:
            raise ReadError(file.name, f"{name!r} is not a test case", f"The cases are in {CASES_FILE}.")
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise ReadError(file.name, f"{name}: {json.dumps(value)} is not a number", "Give a number or null.")
    values = {name: float(value) for name, value in results.items() if value is not None}
    if not values:
        raise ReadError(file.name, "the file has no values", _FORM)
    return values


def compare_results(results: Mapping[str, float], tolerance: float = 1e-6) -> pd.DataFrame:
    """Find the tie order that a tool uses for each measure, and the cases that it fails in that order.

    The order of a measure is the one that fits most of its cases; among several, the one that fits most cases
    of all measures.

    Args:
        results: case → value from the tool.
        tolerance: largest difference from the expected value.

    Returns:
        one row per case with a value: case, measure (such as RR@k), value, precision and order (keys of
        `PRECISIONS` and `ORDERS`), also (other orders that fit as many cases of the measure), expected (in that
        order), tied, passes.
    """
    cases = [case for case in load_cases() if case["id"] in results]
    columns = pd.MultiIndex.from_product([PRECISIONS, ORDERS], names=["precision", "order"])
    expected = pd.DataFrame(
        [[expected_value(case, order, precision) for precision, order in columns] for case in cases],
        columns=columns,
        dtype=float,
    )
    table = pd.DataFrame({"case": [case["id"] for case in cases]}, dtype="str")
    table["measure"] = [case["id"].rpartition("-")[0] for case in cases]
    table["value"] = table["case"].map(results).astype(float)
    is_equal = expected.sub(table["value"], axis=0).abs() <= tolerance
    by_fit = is_equal.sum().sort_values(ascending=False, kind="stable").index
    n_equal = is_equal[by_fit].groupby(table["measure"]).sum()
    best = n_equal.eq(n_equal.max(axis=1), axis=0)
    best_fits = [best.columns[int(np.argmax(best.loc[measure]))] for measure in table["measure"]]
    table["precision"], table["order"] = zip(*best_fits, strict=True) if best_fits else ([], [])
    table["also"] = [
        tuple(dict.fromkeys(name for _, name in best.columns[best.loc[measure]] if name != order))
        for measure, order in zip(table["measure"], table["order"], strict=True)
    ]
    table["expected"] = [expected.loc[row, column] for row, column in enumerate(best_fits)]
    table["tied"] = expected["float64", "tied"]
    table["passes"] = (table["value"] - table["expected"]).abs() <= tolerance
    return table


def order_sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each tie order of `compare_results`, with the measures that seem to use it.

    An order must fit at least half of the cases of a measure.
    """
    fits = table.groupby("measure")["passes"].transform("mean") >= 1 / 2
    sentences = []
    for (order, precision, also), rows in table[fits].groupby(["order", "precision", "also"], sort=False):
        fitting = part_of(int(rows["passes"].sum()), len(rows), "case")
        others = "; ".join(ORDERS[name] for name in also)
        alternatives = f" Other orders that fit the same number of cases: {others}." * bool(also)
        bits = ", scores compared as 32-bit floats" if precision == "float32" else ""
        measures = ", ".join(rows["measure"].unique())
        sentences.append(f"{measures}: {ORDERS[order]}{bits}. This order fits {fitting}.{alternatives}")
    unknown = table.loc[~fits, "measure"].unique()
    return [*sentences, *(f"{measure}: no known tie order fits half of the cases." for measure in unknown)]
