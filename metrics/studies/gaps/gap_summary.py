"""What the notebook prints of a set of lists: how many tie, and how far that moves each measure."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation
from metrics.studies.gaps.gap import correlation, gaps

ALL_LISTS = "All lists"
"""What stands for a reranker in the row of all lists together."""


def gap_summary(lists: pd.DataFrame, *, ddof: int = 1) -> pd.DataFrame:
    """Summarise lists, their ties and their gaps, a row a reranker.

    Deviations are over lists: √(Σ (x − mean)² / (n − ddof)). The notebook takes 1 for its two summaries of
    lists and rerankers, and 0 for its G-RAG report.

    Args:
        lists: as `metrics.studies.gaps.gap.gaps` returns them, of any measures.
        ddof: what a deviation takes from the number of lists; it is NaN where nothing remains.

    Returns:
        index reranker; n, with_ties (lists), with_ties_share, tie_ratio and tie_ratio_std, tie_groups,
        max_tie_size_mean (a list without ties counts 1, as in the notebook's panels, one without rows 0),
        tie_size_mean (either counts 0, as in its G-RAG report), max_tie_size; and for each prefix p of the
        lists the means p_traditional, p_tied, p_worst, p_best, p_gap, the deviations p_traditional_std and
        p_tied_std, p_lists_with_gap (their share), of the absolute gap p_gap_mean, p_gap_std and p_gap_max,
        and its correlation with the tie ratio and the largest tie, p_r_ratio and p_r_size: NaN where not
        defined.
    """
    prefixes = [name.removesuffix("_gap") for name in lists.columns if name.endswith("_gap")]
    is_tied = lists["n_tie_groups"] > 0
    table = lists.assign(
        is_tied=is_tied,
        tie_size=lists["max_tie_size"].where(is_tied, 0),
        **{f"{prefix}_size": lists[f"{prefix}_gap"].abs() for prefix in prefixes},
        **{f"{prefix}_has_gap": lists[f"{prefix}_gap"] != 0 for prefix in prefixes},
    )
    groups = table.groupby("reranker", sort=False)
    columns = {
        "n": groups.size(),
        "with_ties": groups["is_tied"].sum(),
        "with_ties_share": groups["is_tied"].mean(),
        "tie_ratio": groups["tie_ratio"].mean(),
        "tie_ratio_std": groups["tie_ratio"].std(ddof=ddof),
        "tie_groups": groups["n_tie_groups"].mean(),
        "max_tie_size_mean": groups["max_tie_size"].mean(),
        "tie_size_mean": groups["tie_size"].mean(),
        "max_tie_size": groups["max_tie_size"].max(),
    }
    for prefix in prefixes:
        size = groups[f"{prefix}_size"]
        columns |= {
            f"{prefix}_{name}": groups[f"{prefix}_{name}"].mean()
            for name in ("traditional", "tied", "worst", "best", "gap")
        } | {
            f"{prefix}_traditional_std": groups[f"{prefix}_traditional"].std(ddof=ddof),
            f"{prefix}_tied_std": groups[f"{prefix}_tied"].std(ddof=ddof),
            f"{prefix}_lists_with_gap": groups[f"{prefix}_has_gap"].mean(),
            f"{prefix}_gap_mean": size.mean(),
            f"{prefix}_gap_std": size.std(ddof=ddof),
            f"{prefix}_gap_max": size.max(),
            f"{prefix}_r_ratio": _correlations(table, "tie_ratio", f"{prefix}_size"),
            f"{prefix}_r_size": _correlations(table, "max_tie_size", f"{prefix}_size"),
        }
    return pd.DataFrame(columns).rename_axis("reranker")


def with_overall(summary: pd.DataFrame, lists: pd.DataFrame, *, ddof: int = 1) -> pd.DataFrame:
    """Return a summary with a first row, `ALL_LISTS`, of all lists together; of one reranker as it is.

    Args:
        summary: as `gap_summary` returns it.
        lists: those it is of.
        ddof: as of the summary.
    """
    if len(summary) < 2:  # noqa: PLR2004 both rows would be the same
        return summary
    return pd.concat([gap_summary(lists.assign(reranker=ALL_LISTS), ddof=ddof), summary])


def gaps_by_measure(evaluation: Evaluation, measures: Sequence[str], traditional: str) -> pd.DataFrame:
    """Summarise the absolute gaps of all lists in several measures, as `gap_summary` does.

    Returns:
        index measure; gap_mean, gap_std, gap_max, lists_with_gap, r_ratio, r_size.
    """
    lists = gaps(evaluation, {measure: measure for measure in measures}, traditional)
    row = gap_summary(lists.assign(reranker=ALL_LISTS)).iloc[0]
    names = ("gap_mean", "gap_std", "gap_max", "lists_with_gap", "r_ratio", "r_size")
    columns = {name: [row[f"{measure}_{name}"] for measure in measures] for name in names}
    return pd.DataFrame(columns, pd.Index(measures, name="measure"))


def notebook_lines(lists: pd.DataFrame, names: tuple[str, str]) -> list[str]:
    """Print what the notebook prints of its synthetic lists.

    Args:
        lists: as `gaps` returns them, of a first and a second measure.
        names: what the notebook calls these.
    """
    row = gap_summary(lists.assign(reranker=ALL_LISTS)).iloc[0]
    first, second = names
    lines = [
        f"Analyzed {row['n']:.0f} synthetic scenarios",
        f"Scenarios with ties: {row['with_ties']:.0f} ({row['with_ties_share']:.1%})",
        f"Average tie ratio: {row['tie_ratio']:.3f}",
        "",
        "Summary Statistics:",
    ]
    for prefix, name in (("first", first), ("second", second)):
        mean, std, largest = (row[f"{prefix}_gap_{part}"] for part in ("mean", "std", "max"))
        lines += [f"Mean {name} difference: {mean:.4f} (±{std:.4f})", f"Max {name} difference: {largest:.4f}"]
    return [
        *lines,
        "",
        f"Correlation between tie ratio and {first} diff: {row['first_r_ratio']:.3f}",
        f"Correlation between max tie size and {first} diff: {row['first_r_size']:.3f}",
    ]


def notebook_table(summary: pd.DataFrame, first: tuple[str, str], second: tuple[str, str]) -> pd.DataFrame:
    """Write a `gap_summary` as the notebook prints it: means with ± and gaps, a row a reranker.

    Args:
        summary: of a first and a second measure.
        first: what the traditional and the tied mean of the first are called.
        second: likewise.
    """

    def with_std(column: str) -> list[str]:
        pairs = zip(summary[column], summary[f"{column}_std"], strict=True)
        return [f"{mean:.4f} ± {std:.4f}" for mean, std in pairs]

    columns = {"Reranker": summary.index.astype(str), "Tie ratio": with_std("tie_ratio")}
    for prefix, (traditional, tied) in (("first", first), ("second", second)):
        columns |= {traditional: with_std(f"{prefix}_traditional"), tied: with_std(f"{prefix}_tied")}
        pairs = zip(summary[f"{prefix}_gap_mean"], summary[f"{prefix}_gap_max"], strict=True)
        columns[f"|{traditional} − {tied}|"] = [f"{mean:.4f}, up to {most:.4f}" for mean, most in pairs]
    return pd.DataFrame(columns)


def _correlations(table: pd.DataFrame, x: str, y: str) -> "pd.Series[float]":
    """Return the correlation of two columns within the lists of each reranker."""
    rows = table.groupby("reranker", sort=False).indices
    across, up = table[x].to_numpy(float), table[y].to_numpy(float)
    pairs = {name: correlation(across[places], up[places]) for name, places in rows.items()}
    return pd.Series({name: np.nan if pair is None else pair[0] for name, pair in pairs.items()}, dtype=float)
