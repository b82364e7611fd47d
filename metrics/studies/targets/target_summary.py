"""How many targets a reranker reaches: by the tied value, by the traditional one, and in every order."""

from typing import NamedTuple

import pandas as pd

from metrics.studies.prose import Prose, Strong, and_more
from metrics.support.wording import count_of, part_of

MOST_NAMED = 5
"""Measures named in a sentence at most."""


class TargetSummary(NamedTuple):
    """The number of targets of one reranker, and how many of them are met.

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
    """Count the targets that one reranker reaches, by its tied and its traditional values (`by_sort`)."""
    sort_only = rows.loc[rows["verdict"] == "sort order only", "target"]
    return TargetSummary(
        len(rows),
        int(rows["passed"].sum()),
        int(rows["by_sort"].sum()),
        int((rows["verdict"] == "met").sum()),
        tuple(str(target).split(" ", 1)[0] for target in sort_only),
    )


def target_finding(rows: pd.DataFrame, reranker: str) -> Prose:
    """Say how many targets one reranker meets, by its traditional values and with ties averaged."""
    summary = target_summary(rows)
    if not summary.targets:
        return ("No target is set for ", Strong(reranker), ".")
    if summary.tied == summary.traditional and not summary.by_sort:
        if not summary.tied:
            return Strong(
                reranker
            ), f" meets none of {count_of(summary.targets, 'target')}, sorted or averaged."
        always = "" if summary.always == summary.tied else f"{summary.always} of them "
        part_met = part_of(summary.tied, summary.targets, "target")
        return Strong(reranker), f" meets {part_met}, {always}in every order of its ties."
    return (
        Strong(reranker),
        f" meets {part_of(summary.traditional, summary.targets, 'target')} by its traditional values and ",
        Strong(str(summary.tied)),
        " once ties are averaged.",
        _by_sort_sentence(summary.by_sort),
    )


def _by_sort_sentence(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    verb = "pass" if len(names) > 1 else "passes"
    first_names = ", ".join(names[:MOST_NAMED]) + and_more(len(names) - MOST_NAMED)
    return f" {first_names} {verb} only by the traditional order."
