"""How many targets a reranker reaches, and by what."""

from typing import NamedTuple

import pandas as pd

from metrics.studies.prose import Prose, Strong

NAMED = 5
"""Measures named in a sentence at most."""


class TargetSummary(NamedTuple):
    """Targets of one reranker: how many there are, and how many are met.

    Attributes:
        targets: how many there are.
        tied: met by the mean over all orders.
        traditional: met by the traditional value.
        always: met by every order.
        by_sort: measures whose target only the traditional value meets.
    """

    targets: int
    tied: int
    traditional: int
    always: int
    by_sort: tuple[str, ...]


def target_summary(rows: pd.DataFrame) -> TargetSummary:
    """Count the targets that one reranker reaches.

    Args:
        rows: of one reranker; target, passed (by the tied value), by_sort (by the traditional one), verdict.
    """
    only = rows.loc[rows["verdict"] == "sort order only", "target"]
    return TargetSummary(
        len(rows),
        int(rows["passed"].sum()),
        int(rows["by_sort"].sum()),
        int((rows["verdict"] == "met").sum()),
        tuple(str(target).split(" ", 1)[0] for target in only),
    )


def target_finding(rows: pd.DataFrame, reranker: str) -> Prose:
    """How many targets one reranker meets, once and with ties averaged.

    Args:
        rows: as for `passed`.
        reranker: its name.
    """
    found = target_summary(rows)
    if not found.targets:
        return ("No target is set for ", Strong(reranker), ".")
    if found.tied == found.traditional and not found.by_sort:
        if not found.tied:
            return Strong(reranker), f" meets none of {found.targets} targets, sorted or averaged."
        how = f"{found.always} of them in every order of its ties"
        return Strong(reranker), f" meets {found.tied} of {found.targets} targets, {how}."
    return (
        Strong(reranker),
        f" meets {found.traditional} of {found.targets} targets by its traditional values and ",
        Strong(str(found.tied)),
        " once ties are averaged.",
        _only(found.by_sort),
    )


def _only(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    verb = "pass" if len(names) > 1 else "passes"
    return f" {', '.join(names[:NAMED])}{more} {verb} only by the traditional order."
