"""Queries on which two rerankers differ most, and those where the order of ties moves that most."""

from typing import Literal

import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.studies.significance.comparisons import baseline_pairs
from metrics.studies.significance.query_values import round_differences, values_by_query

SortKey = Literal["moved", "difference"]


def query_differences(
    evaluation: Evaluation,
    measure: str,
    a: str,
    b: str,
    traditional: str,
    n: int | None = None,
    sort_by: SortKey = "moved",
) -> pd.DataFrame:
    """Return a row for each query both rerankers have, the farthest apart first.

    Args:
        evaluation: with `measure` under expected and `traditional`.
        measure: name of a measure.
        a: one reranker.
        b: the other.
        traditional: the treatment taken as the traditional one.
        n: rows at most; None for all.
        sort_by: farthest by how much the order of ties moved the difference, or by the difference itself.

    Returns:
        query_id; a, b, difference (a − b): tied; a_before, b_before, difference_before: traditional;
        moved (difference_before − difference); tie_ratio_a, tie_ratio_b: of the two lists. Differences are
        exactly 0 where they are rounding. Sorted by size of `sort_by`, then of the other, then by query.

    Raises:
        UsageError: a name that was not evaluated, or an order that does not exist.
    """
    if sort_by not in ("moved", "difference"):
        raise UsageError(f"sort_by={sort_by!r}: it is 'moved' or 'difference'.")
    parts = []
    for ties, ending in (("expected", ""), (traditional, "_before")):
        table = values_by_query(evaluation, measure, ties)
        names = [str(name) for name in table.columns]
        baseline_pairs(names, [a, b])
        ours, theirs = (table.iloc[:, names.index(name)] for name in (a, b))
        gap = pd.Series(round_differences((ours - theirs).to_numpy()), index=table.index)
        parts += [ours.rename(f"a{ending}"), theirs.rename(f"b{ending}"), gap.rename(f"difference{ending}")]
    rows = pd.concat(parts, axis=1).dropna()
    rows["moved"] = round_differences((rows["difference_before"] - rows["difference"]).to_numpy())
    ratios = evaluation.lists["tie_ratio"].unstack("reranker")  # noqa: PD010
    ratios = ratios.reindex(index=rows.index, columns=[a, b]).astype("float64")
    rows["tie_ratio_a"], rows["tie_ratio_b"] = ratios.iloc[:, 0], ratios.iloc[:, 1]
    keys = ["moved", "difference"] if sort_by == "moved" else ["difference", "moved"]
    order = rows[keys].abs().sort_values(keys, ascending=False, kind="stable").index
    return rows.loc[order].rename_axis("query_id").reset_index().head(len(rows) if n is None else n)
