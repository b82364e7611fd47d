"""Follow scores over time: versions of a reranker, lists as they arrive, and changed values of a board."""

import re
from collections.abc import Collection, Sequence
from math import isinf

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.evaluation import AS_READ, EQUAL, Evaluation, ScoringOptions, score_runs
from metrics.evaluation.running import Change, find_change
from metrics.measures import parse
from metrics.runs import Runs
from metrics.runs.joining import judgment_columns
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.studies.gaps import named_values
from metrics.studies.prose import Prose, Strong, chance, decimal, smallest_shown
from metrics.support.arrays import FloatArray
from metrics.support.wording import count_of, part_of

LEAST_SHARED = 0.5
"""Share of the judged queries that a run needs to count as a version."""
_DAY = r"(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
_TIME = r"[-_ T]\d{2}[-:.]?\d{2}(?:[-:.]?\d{2})?"
_VERSION = re.compile(
    rf"(?:[-_. ]+(?:v\d+(?:\.\d+)*|{_DAY}(?:{_TIME})?)|(?<=[^\W\d_])\.\d+|\s*\(\d+\))$", re.IGNORECASE
)


def version_of(name: str) -> tuple[str, str]:
    """Split a reranker's name into stem and version: `bge-v2` gives `bge` and `-v2`.

    Versions are endings with a v and a number (`-v2`, `_v1.5`), a date (`_2026-11-01`), a dot and a number
    after a letter (`run.3`), or a number in brackets (`run (1)`), and several of these together.
    """
    stem = name
    while (match := _VERSION.search(stem)) and stem[: match.start()].strip("-_. "):
        stem = stem[: match.start()]
    return stem, name[len(stem) :]


def pooled_judgments(runs: Runs) -> pa.Table:
    """Return query_id, doc_id, relevance: the judgments of the runs, or the grades of all tables pooled."""
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
    """Return the means of the rerankers that have at least half of the judged queries.

    `judged` has each pair of query and document once; `queries` restricts the queries.

    Returns:
        one row a reranker and measure: reranker, measure, tied, worst, best, traditional (means),
        standard_error (of the tied mean over queries), n_shared and n_judged (judged queries with rows, and all
        of them).
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
    means = ["tied", "worst", "best", "traditional", "standard_error"]
    columns = ["reranker", "measure", *means, "n_shared", "n_judged"]
    if not versions:
        return pd.DataFrame(columns=columns)
    version_runs = runs.arranged({name: name for name in versions}).judged_by(judged)
    ties = ["expected", "pessimistic", "optimistic", traditional]
    values = score_runs(version_runs, measures, ties, scoring)
    values = values if queries is None else values.only(versions, set(queries))
    parts = []
    for measure in values.measures:
        rows = named_values(values.means(measure), traditional)
        rows["standard_error"] = values.standard_errors(measure)
        parts.append(rows.rename_axis("reranker").reset_index().assign(measure=measure))
    table = pd.concat(parts, ignore_index=True)
    table["n_shared"], table["n_judged"] = table["reranker"].map(n_shared), len(judged_queries)
    return table[columns]


def history(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the rerankers with several versions, versions numbered from the oldest.

    Versions follow their numbers and dates; versions of one name follow `added`.

    Returns:
        the rows of `scored` (name with version, added, tied and other columns) with several versions and a tied
        mean, preceded by reranker (name without version, or as given if all versions share it) and version
        (1, 2, ...); rerankers in order of appearance.
    """
    rows = scored[scored["tied"].notna()].reset_index(drop=True)
    split = [version_of(str(name)) for name in rows["name"]]
    keys = [natural_key(ending) for _, ending in split]
    stems = pd.Series([stem for stem, _ in split], rows.index, dtype="object")
    places = zip(pd.factorize(stems)[0], keys, rows["added"], rows.index, strict=True)
    order = [row for *_, row in sorted(places)]
    rows, stems = rows.loc[order], stems.loc[order]
    names = rows.groupby(stems, sort=False)["name"]
    shared_names = names.transform("first").where(names.transform("nunique") == 1, stems)
    rows.insert(0, "reranker", shared_names)
    rows.insert(1, "version", names.cumcount() + 1)
    return rows[names.transform("size") > 1].reset_index(drop=True)


def natural_key(text: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that puts `-v2` before `-v10`."""
    return [
        (part.isdecimal(), int(part) if part.isdecimal() else 0, part)
        for part in re.split(r"(\d+)", text.casefold())
    ]


def history_finding(rows: pd.DataFrame, measure: str) -> Prose:
    """Describe a reranker whose tied and traditional means moved apart, else the largest change.

    A tied mean rose or fell only if the change exceeds the standard errors of both means together.
    """
    ends = rows.groupby("reranker", sort=False)[["tied", "traditional"]].agg(["first", "last"])
    errors = rows.reindex(columns=["reranker", "standard_error"]).groupby("reranker", sort=False)[
        "standard_error"
    ]
    error = np.hypot(errors.nth(0).to_numpy(), errors.nth(-1).to_numpy())
    change = pd.DataFrame({one: ends[one]["last"] - ends[one]["first"] for one in ("tied", "traditional")})
    limits = pd.DataFrame({one: ends[one].max(axis=1).map(smallest_shown) for one in change})
    visible_change = change.where(change.abs() >= limits, 0)
    opposed, is_visible = visible_change.prod(axis=1) < 0, visible_change.any(axis=1)
    name = (change["tied"].abs() + opposed).where(is_visible, -1).idxmax()
    if not is_visible.any():
        return (
            f"From the first version to the last, no traditional or tied {measure} changed by "
            f"{limits.to_numpy().max():.2g} or more.",
        )
    tied, traditional = (ends.loc[name, value] for value in ("tied", "traditional"))
    return (
        Strong(str(name)),
        *_tied_change(tied, visible_change.loc[name, "tied"], error[ends.index.get_loc(name)], measure),
        f" traditional {measure} {_change_words(traditional, visible_change.loc[name, 'traditional'])}.",
    )


def _tied_change(ends: "pd.Series[float]", change: float, error: float, measure: str) -> Prose:
    if not change:
        return (f" stayed at {decimal(ends['last'])} tied {measure};",)
    verb = "changed" if not abs(change) > error else "rose" if change > 0 else "fell"
    error_text = "" if np.isnan(error) else f" (standard error of the change {decimal(error)})"
    before, after = (Strong(decimal(ends[end])) for end in ("first", "last"))
    return (f" {verb} from ", before, " to ", after, f" tied {measure}{error_text};")


def _change_words(ends: "pd.Series[float]", change: float) -> str:
    before, after = decimal(ends["first"]), decimal(ends["last"])
    return f"changed from {before} to {after}" if change else f"stayed at {after}"


TIME_COLUMNS = ("time", "timestamp")
"""Numeric columns of arrival times; the first one of a run counts."""
VALUES = ["tied", "traditional", "worst", "best"]
_LEVEL = 0.05


def arriving(runs: Runs, rerankers: Sequence[str]) -> dict[str, list[str]]:
    """Return the rerankers with several versions or a column of times: stem → versions, the oldest first."""
    versions: dict[str, list[str]] = {version_of(name)[0]: [] for name in rerankers}
    for name in sorted(rerankers, key=lambda name: natural_key(version_of(name)[1])):
        versions[version_of(name)[0]].append(name)
    return {
        stem if names[1:] else names[0]: names
        for stem, names in versions.items()
        if names[1:] or _time_column(runs, names[0])
    }


def arrivals(
    evaluation: Evaluation, runs: Runs, names: Sequence[str], measure: str, traditional: str
) -> pd.DataFrame:
    """Return the lists of some versions in order of arrival.

    By time if all versions have times, else version by version in file order.

    Returns:
        one row a scored list: name, query_id, time (NaN if unknown), tied, traditional, worst, best.
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
    """Return the means after each list, over all lists so far and over the latest `window`.

    Returns:
        one row a list: n (1, 2, ...), name, query_id, `VALUES` so far, and these with the suffix `_of_late` for
        the latest lists, NaN before the window is full.
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
    """Return where the tied mean of `arrivals` changed most, or None within chance."""
    tied, worst, best = (lists[name].to_numpy() for name in ("tied", "worst", "best"))
    own_rule = parse(measure).measure.family.own_rule
    change = find_change(tied, worst, best, pd.Index(lists["query_id"]), has_own_rule=own_rule)
    return change if change is not None and change.p <= _LEVEL else None


def arrivals_finding(name: str, lists: pd.DataFrame, change: Change | None, measure: str) -> Prose:
    """State whether the tied mean changed over the lists, and whether ties alone could explain it."""
    lists_words = count_of(len(lists), "list")
    if change is None:
        mean = decimal(float(lists["tied"].mean()))
        return (
            Strong(name),
            f" has no significant change in tied {measure} over its {lists_words} (mean {mean}).",
        )
    if isinf(change.before_bounds[0]):
        ties_words = f"{measure} settles ties by its own rule, so ties alone may explain the change"
    elif change.is_beyond_ties:
        ties_words = "No tie order makes the two means equal"
    else:
        ties_words = "Some tie order makes the two means equal"
    return (
        Strong(name),
        f" changed after {count_of(change.n_before, 'list')} of {len(lists):,}: tied {measure} was ",
        Strong(decimal(change.before)),
        " before and ",
        Strong(decimal(change.after)),
        f" after that ({chance(change.p)}). {ties_words}.",
    )


def _time_column(runs: Runs, name: str) -> str:
    return next((column for column in TIME_COLUMNS if column in runs.tables[name].column_names), "")


def _times(runs: Runs, name: str) -> FloatArray:
    pairs, column = runs.pairs(name), _time_column(runs, name)
    if not column:
        return np.full(len(pairs.queries), np.nan)
    first_rows = np.unique(pairs.query, return_index=True)[1]
    times: FloatArray = runs.tables[name][column].to_numpy()[first_rows]
    return times


IN_EVERY_ORDER = ("higher in every order", "lower in every order")
"""Verdicts of changes that hold in every tie order."""


def value_changes(before: Evaluation, after: Evaluation, traditional: str) -> pd.DataFrame:
    """Compare the means of the rerankers before and after, measure by measure.

    Returns:
        one row a reranker and measure, removed rerankers last: reranker, measure, tied_before, tied,
        change (tied − tied_before), traditional_before, traditional, worst_before, worst, best_before, best and
        verdict: "new", "gone", "equal", "higher in every order" and "lower in every order" of the ties before
        and after, or "within the ties": some orders reverse or remove the change.
    """
    rerankers = after.policies.index.union(before.policies.index, sort=False)
    parts = []
    for measure in after.measures:
        earlier, now = (
            named_values(evaluation.means(measure), traditional).reindex(rerankers)
            for evaluation in (before, after)
        )
        rows = now.join(earlier.add_suffix("_before")).rename_axis("reranker")
        parts.append(rows.reset_index().assign(measure=measure))
    table = pd.concat(parts, ignore_index=True)
    table["change"] = table["tied"] - table["tied_before"]
    table["verdict"] = _verdicts(table)
    pairs = [name + ending for name in ("traditional", "worst", "best") for ending in ("_before", "")]
    return table[["reranker", "measure", "tied_before", "tied", "change", *pairs, "verdict"]]


def _verdicts(table: pd.DataFrame) -> "pd.Series[str]":
    changes = [(table[name] - table[f"{name}_before"]).abs() for name in ("tied", "worst", "best")]
    verdicts = {
        "gone": table["tied"].isna(),
        "new": table["tied_before"].isna(),
        "equal": np.max(changes, axis=0) <= EQUAL,
        IN_EVERY_ORDER[1]: table["best"] < table["worst_before"] - EQUAL,
        IN_EVERY_ORDER[0]: table["worst"] > table["best_before"] + EQUAL,
    }
    verdict = np.select(list(verdicts.values()), list(verdicts), "within the ties")
    return pd.Series(verdict, table.index, dtype="str")


def change_finding(changes: pd.DataFrame) -> Prose:
    """Count the `value_changes`, those that hold in every tie order, and name the largest of these."""
    compared = changes[~changes["verdict"].isin(["new", "gone"])]
    if not len(compared):
        return ("The evaluations before and after have no reranker in common.",)
    changed = compared[compared["verdict"] != "equal"]
    if not len(changed):
        return ("No value changed.",)
    firm = changed[changed["verdict"].isin(IN_EVERY_ORDER)]
    count = f"{part_of(len(changed), len(compared), 'value')} changed, "
    if not len(firm):
        return count, Strong("none"), " of them by more than tie order can explain."
    largest = firm.loc[firm["change"].abs().idxmax()]
    direction = "higher" if largest["change"] > 0 else "lower"
    return (
        f"{count}{len(firm):,} of them in every tie order: ",
        Strong(str(largest["reranker"])),
        f" is {decimal(abs(largest['change']), 4)} {direction} in {largest['measure']}.",
    )
