"""Lists in the order in which they came: running means, means of a window, and where they changed."""

from collections.abc import Sequence
from math import isinf

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation
from metrics.evaluation.running import Change, find_change
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.gaps.gap import named_values
from metrics.studies.leaderboard.history import natural_key, version_of
from metrics.studies.prose import Prose, Strong, chance, decimal
from metrics.support.arrays import FloatArray
from metrics.support.wording import count_of

TIME_COLUMNS = ("time", "timestamp")
"""Columns that say in numbers when a list came; the first that a run has counts."""
VALUES = ["tied", "traditional", "worst", "best"]
_LEVEL = 0.05


def arriving(runs: Runs, rerankers: Sequence[str]) -> dict[str, list[str]]:
    """Return those whose lists came in an order: name without version → its versions, the oldest first.

    That is who has several versions, or a column of times.
    """
    versions: dict[str, list[str]] = {}
    for name in rerankers:
        versions.setdefault(version_of(name)[0], []).append(name)
    for names in versions.values():
        names.sort(key=lambda name: natural_key(version_of(name)[1]))
    return {
        stem if len(names) > 1 else names[0]: names
        for stem, names in versions.items()
        if len(names) > 1 or _time_column(runs, names[0])
    }


def arrivals(
    evaluation: Evaluation, runs: Runs, names: Sequence[str], measure: str, traditional: str
) -> pd.DataFrame:
    """Return the lists of some versions in the order in which they came.

    By their times where all versions have these; else version by version, each as its file has them.

    Args:
        evaluation: what lists scored.
        runs: what was ranked.
        names: the versions, the oldest first.
        measure: name of the measure.
        traditional: the treatment taken as the traditional one.

    Returns:
        one row a list that counts: name, query_id, time (NaN where unknown), tied, traditional, worst, best.
    """
    parts = []
    for name in names:
        queries = runs.pairs(name).queries.to_pandas()
        values = named_values(evaluation.scores[measure].loc[name], traditional)
        part = values.reindex(queries).assign(time=_times(runs, name), name=name)
        parts.append(part[part["tied"].notna()].rename_axis("query_id").reset_index())
    lists = pd.concat(parts, ignore_index=True)
    if lists["time"].notna().all():
        lists = lists.sort_values("time", kind="stable", ignore_index=True)
    return lists[["name", "query_id", "time", *VALUES]]


def running_means(lists: pd.DataFrame, window: int) -> pd.DataFrame:
    """Return the means after each list: of all so far, and of the latest.

    Args:
        lists: as `arrivals` returns them.
        window: so many lists are the latest.

    Returns:
        one row a list: n (1, 2, ...), name, query_id, `VALUES` of all so far, and these with `_of_late` behind
        of the latest, NaN before there are as many.
    """
    numbers = np.arange(1, len(lists) + 1)
    table = pd.DataFrame({"n": numbers, "name": lists["name"], "query_id": lists["query_id"]})
    for value in VALUES:
        sums = np.cumsum(lists[value].to_numpy())
        table[value] = sums / numbers
        before = np.concatenate([np.zeros(window), sums[:-window]])[: len(sums)]
        table[f"{value}_of_late"] = np.where(numbers >= window, (sums - before) / window, np.nan)
    return table


def change_of(lists: pd.DataFrame, measure: str) -> Change | None:
    """Return where the tied mean of lists of `arrivals` changed most, if that is beyond chance."""
    tied, worst, best = (lists[name].to_numpy() for name in ("tied", "worst", "best"))
    own_rule = parse(measure).measure.family.own_rule
    change = find_change(tied, worst, best, pd.Index(lists["query_id"]), has_own_rule=own_rule)
    return change if change is not None and change.p <= _LEVEL else None


def arrivals_finding(name: str, lists: pd.DataFrame, change: Change | None, measure: str) -> Prose:
    """Say whether the tied mean changed on the way, and whether ties alone may have done it.

    Args:
        name: of the reranker.
        lists: as `arrivals` returns them.
        change: as `change_of` returns it.
        measure: how the mean is called, such as `MRR`.
    """
    lists_words = count_of(len(lists), "list")
    if change is None:
        mean = decimal(float(lists["tied"].mean()))
        return (
            Strong(name),
            f" shows no change of tied {measure} beyond chance over its {lists_words}; their mean is {mean}.",
        )
    if isinf(change.before_bounds[0]):
        ties_words = f"{measure} settles ties by its own rule, so ties alone may have done it"
    elif change.is_beyond_ties:
        ties_words = "no order of the ties could make the two means equal"
    else:
        ties_words = "an order of the ties could make the two means equal"
    return (
        Strong(name),
        f" changed after {count_of(change.n_before, 'list')} of {len(lists):,}: tied {measure} was ",
        Strong(decimal(change.before)),
        " before and is ",
        Strong(decimal(change.after)),
        f" since ({chance(change.p)}); {ties_words}.",
    )


def _time_column(runs: Runs, name: str) -> str:
    """Return the column that says when lists of a reranker came, nothing where there is none."""
    return next((column for column in TIME_COLUMNS if column in runs.tables[name].column_names), "")


def _times(runs: Runs, name: str) -> FloatArray:
    """Return the (n_queries,) time of each list in order of appearance: of its first row, NaN where unknown."""
    pairs, column = runs.pairs(name), _time_column(runs, name)
    if not column:
        return np.full(len(pairs.queries), np.nan)
    first_rows = np.unique(pairs.query, return_index=True)[1]
    times: FloatArray = runs.tables[name][column].to_numpy()[first_rows]
    return times
