"""Versions of a reranker: runs kept over time, scored against the same judgments."""

import re
from collections.abc import Collection, Mapping, Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import Runs
from metrics.runs.joining import judgment_columns
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.studies.gaps.gap import named_values
from metrics.studies.prose import Prose, Strong, decimal, smallest_shown

LEAST_SHARED = 0.5
"""Share of the judged queries that a run must have rows for to count as a version."""
_DAY = r"(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
_TIME = r"[-_ T]\d{2}[-:.]?\d{2}(?:[-:.]?\d{2})?"
_VERSION = re.compile(
    rf"(?:[-_. ]+(?:v\d+(?:\.\d+)*|{_DAY}(?:{_TIME})?)|(?<=[^\W\d_])\.\d+|\s*\(\d+\))$", re.IGNORECASE
)


def version_of(name: str) -> tuple[str, str]:
    """Return a reranker's name without its version, and the version: `bge-v2` gives `bge` and `-v2`.

    A version is what ends in a v and a number (`-v2`, `_v1.5`), a date (`_2026-11-01`), a dot and a number
    after a letter (`run.3`), or a number in brackets (`run (1)`); several of them go together.
    """
    stem = name
    while (match := _VERSION.search(stem)) and stem[: match.start()].strip("-_. "):
        stem = stem[: match.start()]
    return stem, name[len(stem) :]


def pooled_judgments(runs: Runs) -> pa.Table:
    """Return what judges runs: query_id, doc_id, relevance; their own grades together where they have some."""
    if runs.qrels is not None:
        return runs.qrels
    tables = [judgment_columns(table) for table in runs.tables.values()]
    rows = pa.concat_tables(
        [table.set_column(0, "query_id", table["query_id"].cast(pa.string())) for table in tables],
        promote_options="default",
    )
    rows = rows.filter(pc.is_finite(rows["relevance"])).combine_chunks()
    return rows.take(pa.array(QueryDocKeys.of(rows).one_row_each()))


def version_means(
    runs: Runs,
    judged: pa.Table,
    measures: Sequence[str],
    traditional: str,
    queries: Collection[str] | None = None,
    scoring: ScoringOptions = AS_READ,
) -> pd.DataFrame:
    """Return the means of those rerankers of a file that have at least half of the judged queries.

    Args:
        runs: of one file.
        judged: query_id, doc_id, relevance, each pair once.
        measures: names of measures.
        traditional: the treatment taken as the traditional one.
        queries: those counted; None for all that are judged.
        scoring: how lists are scored.

    Returns:
        one row a reranker and measure: reranker, measure, tied, worst, best, traditional (means), n_shared and
        n_judged (queries it has rows for, of those judged).
    """
    judged_queries = pc.unique(judged["query_id"].cast(pa.string()))
    if queries is not None:
        judged_queries = judged_queries.filter(
            pc.is_in(judged_queries, value_set=pa.array(list(queries), pa.string()))
        )
    n_shared = {
        name: pc.sum(pc.is_in(judged_queries, value_set=theirs.cast(pa.string()))).as_py() or 0
        for name, theirs in runs.queries.items()
    }
    versions = [
        name for name, shared in n_shared.items() if shared >= LEAST_SHARED * len(judged_queries) and shared
    ]
    columns = ["reranker", "measure", "tied", "worst", "best", "traditional", "n_shared", "n_judged"]
    if not versions:
        return pd.DataFrame(columns=columns)
    version_runs = runs.arranged({name: name for name in versions}).judged_by(judged)
    ties = ["expected", "pessimistic", "optimistic", traditional]
    values = score_runs(version_runs, measures, ties, scoring)
    values = values if queries is None else values.only(versions, set(queries))
    parts = []
    for measure in values.measures:
        rows = named_values(values.means(measure), traditional)
        parts.append(rows.rename_axis("reranker").reset_index().assign(measure=measure))
    table = pd.concat(parts, ignore_index=True)
    table["n_shared"], table["n_judged"] = table["reranker"].map(n_shared), len(judged_queries)
    return table[columns]


def history(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the rerankers of which there are several versions, each version numbered from the oldest on.

    Versions stand in the order of their numbers and dates; of one name, in the order they were added.

    Args:
        scored: name (of a reranker, with its version), added (time), tied and whatever else is known of it.

    Returns:
        the rows of those that have several versions and a tied mean, with name as given, reranker (without
        version; as given where all versions are called the same) and version (1, 2, ...) before them;
        rerankers in order of appearance.
    """
    rows = scored[scored["tied"].notna()].reset_index(drop=True)
    split = [version_of(str(name)) for name in rows["name"]]
    stems = pd.Series([stem for stem, _ in split], rows.index, dtype="object")
    parts = []
    for stem, row_labels in rows.groupby(stems, sort=False).groups.items():
        if len(row_labels) < 2:  # noqa: PLR2004 one has no history
            continue
        order = sorted(row_labels, key=lambda row: (natural_key(split[row][1]), rows.loc[row, "added"]))
        part = rows.loc[order]
        names = part["name"].unique()
        part.insert(0, "reranker", names[0] if len(names) == 1 else stem)
        part.insert(1, "version", range(1, len(part) + 1))
        parts.append(part)
    empty = rows.head(0).assign(reranker="", version=0)
    return pd.concat(parts, ignore_index=True) if parts else empty


def natural_key(text: str) -> list[tuple[bool, int, str]]:
    """Return a key that puts `-v2` before `-v10`."""
    return [
        (part.isdecimal(), int(part) if part.isdecimal() else 0, part)
        for part in re.split(r"(\d+)", text.casefold())
    ]


def history_finding(rows: pd.DataFrame, measure: str) -> Prose:
    """Say what became of the reranker that tells most: one whose sort says the opposite, else the farthest."""
    ends = rows.groupby("reranker", sort=False)[["tied", "traditional"]].agg(["first", "last"])
    change = pd.DataFrame({one: ends[one]["last"] - ends[one]["first"] for one in ("tied", "traditional")})
    limits = pd.DataFrame({one: ends[one].max(axis=1).map(smallest_shown) for one in change})
    visible_change = change.where(change.abs() >= limits, 0)
    opposed, is_visible = visible_change.prod(axis=1) < 0, visible_change.any(axis=1)
    name = (change["tied"].abs() + opposed).where(is_visible, -1).idxmax()
    if not is_visible.any():
        return (
            f"From the first version to the last, no {measure} moved by {limits.to_numpy().max():.2g} or more, "
            "tied or by sort order.",
        )
    before, after = (float(ends.loc[name, ("tied", end)]) for end in ("first", "last"))
    tied_part: tuple[str | Strong, ...] = (
        (f" stayed at {decimal(after)} tied {measure}; ",)
        if not visible_change.loc[name, "tied"]
        else (
            f" {_rose_or_fell(after - before)} from ",
            Strong(decimal(before)),
            " to ",
            Strong(decimal(after)),
            f" tied {measure}; ",
        )
    )
    return (
        Strong(str(name)),
        *tied_part,
        _sort_order_clause(visible_change.loc[name], ends.loc[name, "traditional"]),
    )


def _sort_order_clause(visible_change: "pd.Series[float]", ends: Mapping[str, float]) -> str:
    before, after = ends["first"], ends["last"]
    if not visible_change["traditional"]:
        return f"by sort order it stayed at {decimal(after)}."
    also = " also" * bool(visible_change["tied"] * visible_change["traditional"] > 0)
    return (
        f"by sort order it{also} {_rose_or_fell(after - before)}, from {decimal(before)} to {decimal(after)}."
    )


def _rose_or_fell(change: float) -> str:
    return "rose" if change > 0 else "fell"
