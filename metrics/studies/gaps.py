"""Measure the gap between traditional and tied scores list by list, and how far ties predict it."""

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.prose import NO_DOCUMENTS, NOTHING_SCORED, Prose, Strong, and_more, decimal, own_rule_note
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.columns import combine_chunks
from metrics.support.wording import percent, query_before
from metrics.ties import Ranking


def named_values(by_treatment: pd.DataFrame, traditional: str) -> pd.DataFrame:
    """Return the columns of the treatments, renamed to tied, worst, best, traditional."""
    treatments = ["expected", "pessimistic", "optimistic", traditional]
    return by_treatment[treatments].set_axis(["tied", "worst", "best", "traditional"], axis=1)


def in_order(table: pd.DataFrame, rerankers: Sequence[str] | pd.Index) -> pd.DataFrame:
    """Return the rows sorted by this order of rerankers, other rows unchanged."""
    places = pd.Index(rerankers).get_indexer(table["reranker"])
    return table.iloc[np.argsort(places, kind="stable")].reset_index(drop=True)


FEWEST = 4
"""Number of lists needed for a mean or a correlation, and of queries for an interval of the correlation."""
Z_95 = NormalDist().inv_cdf(0.975)
"""Standard errors on each side of a 95% interval of a normal value."""
_LIST_COLUMNS = ["n_docs", "n_relevant", "n_tie_groups", "tie_ratio", "max_tie_size", "log10_orderings"]


def gaps(evaluation: Evaluation, measures: Mapping[str, str], traditional: str) -> pd.DataFrame:
    """Return one row a list: its ties, and their effect on each measure.

    `measures` maps prefixes to measures, such as {"first": "RR", "second": "Hits@3"}.

    Returns:
        reranker, query_id, n_docs, n_relevant, n_tie_groups, tie_ratio, max_tie_size, log10_orderings, and
        for each prefix p: p_traditional, p_tied, p_worst, p_best, p_gap (traditional − tied, exactly 0 within
        rounding).
    """
    parts = [evaluation.lists[_LIST_COLUMNS].reset_index()]
    for prefix, measure in measures.items():
        values = named_values(evaluation.scores[measure], traditional).reset_index(drop=True)
        values["gap"] = difference(values["traditional"], values["tied"])
        parts.append(values[["traditional", "tied", "worst", "best", "gap"]].add_prefix(f"{prefix}_"))
    return pd.concat(parts, axis=1)


def difference(minuend: "pd.Series[float]", subtrahend: "pd.Series[float]") -> "pd.Series[float]":
    """Return minuend − subtrahend, exactly 0 within rounding."""
    gap = minuend - subtrahend
    return gap.where(~(gap.abs() <= EQUAL), 0.0)


def correlation(x: "pd.Series[float] | FloatArray", y: "pd.Series[float] | FloatArray") -> float | None:
    """Return Pearson's r; None for fewer than four lists or a constant side."""
    moments = Moments()
    if len(x):
        moments.add(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    return moments.correlation()


def _is_constant(smallest: float, largest: float) -> bool:
    return largest - smallest <= EQUAL * max(1.0, abs(smallest), abs(largest))


class Moments:
    """Accumulate the correlation of two columns part by part, without keeping the rows.

    Source: Chan, Golub & LeVeque, 1983: updated means and centred products do not cancel.
    """

    def __init__(self) -> None:
        self._n = 0
        self._means = np.zeros(2)
        self._products = np.zeros((2, 2))
        self._smallest, self._largest = np.full(2, np.inf), np.full(2, -np.inf)

    def add(self, x: FloatArray, y: FloatArray) -> None:
        """Add some lists."""
        columns = np.stack([x, y])
        means = columns.mean(axis=1)
        self._smallest = np.minimum(self._smallest, columns.min(axis=1))
        self._largest = np.maximum(self._largest, columns.max(axis=1))
        columns -= means[:, None]
        shift, n = means - self._means, self._n + len(x)
        self._products += columns @ columns.T + np.outer(shift, shift) * (self._n * len(x) / n)
        self._means += shift * (len(x) / n)
        self._n = n

    def correlation(self) -> float | None:
        """Return r, as `correlation` does."""
        if self._n < FEWEST or any(map(_is_constant, self._smallest.tolist(), self._largest.tolist())):
            return None
        (xx, xy), (_, yy) = self._products
        return float(np.clip(xy / np.sqrt(xx * yy), -1, 1))


_N_HASHES = 2**16
_MAX_CLUSTERS, _N_RESAMPLES = 1_000, 999


class QueryMoments(Moments):
    """Accumulate a correlation and its 95% interval over resampled queries.

    Lists of one query are not independent, least of all those of similar rerankers, so a resample has all lists
    of a query or none (cluster bootstrap).
    """

    def __init__(self) -> None:
        super().__init__()
        self._sums = np.zeros((_N_HASHES, 6))

    def add_lists(self, queries: pa.Array, x: FloatArray, y: FloatArray) -> None:
        """Add some lists with the text of their queries, which are told apart by 16 bits of a hash."""
        self.add(x, y)
        texts = queries.dictionary_encode(null_encoding="encode")
        hashes = pd.util.hash_array(texts.dictionary.to_numpy(zero_copy_only=False), categorize=False)
        cluster = (hashes % _N_HASHES).astype(np.intp)[texts.indices.to_numpy()]
        for column, values in enumerate((np.ones_like(x), x, y, x * x, x * y, y * y)):
            self._sums[:, column] += np.bincount(cluster, values, _N_HASHES)

    def with_interval(self) -> tuple[float, float, float] | None:
        """Return r and the ends of its interval; None for fewer than four queries or an undefined r.

        The ends are quantiles of r over 999 seeded resamples, in which an undefined r counts as 0. With n
        queries, their level is Φ(−t √(n / (n − 1))), t the 97.5% quantile of Student's t, because plain
        quantiles are too narrow for few queries. More than 1,000 are resampled in 1,000 random groups.

        Source: Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician, 2015.
        """
        from scipy.special import ndtr, stdtrit  # noqa: PLC0415 what only adds up does without

        r, sums = self.correlation(), self._sums[self._sums[:, 0] > 0]
        if r is None or len(sums) < FEWEST:
            return None
        if len(sums) > _MAX_CLUSTERS:
            sums = np.add.reduceat(sums, np.linspace(0, len(sums), _MAX_CLUSTERS, endpoint=False).astype(int))
        n = len(sums)
        resamples = np.random.default_rng(0).integers(0, n, (_N_RESAMPLES, n))
        resamples += n * np.arange(_N_RESAMPLES)[:, None]
        times = np.bincount(resamples.ravel(), minlength=resamples.size).reshape(resamples.shape)
        count, x, y, xx, xy, yy = (times @ sums).T
        with np.errstate(divide="ignore", invalid="ignore"):
            resampled = (xy - x * y / count) / np.sqrt((xx - x * x / count) * (yy - y * y / count))
        level = ndtr(-stdtrit(n - 1, 0.975) * np.sqrt(n / (n - 1)))
        low, high = np.quantile(np.where(np.abs(resampled) <= 1 + EQUAL, resampled, 0.0), [level, 1 - level])
        return r, float(low), float(high)


def trend(x: pd.Series, y: pd.Series, points: int = 40) -> pd.DataFrame:
    """Return the local mean of y along x with its 95% band, from bins smoothed by a Gaussian.

    Returns:
        x, mean, low, high, only near at least four lists; no rows if x is constant.
    """
    if len(x) < FEWEST or _is_constant(x.min(), x.max()):
        return pd.DataFrame(columns=["x", "mean", "low", "high"], dtype=float)
    edges = np.linspace(x.min(), x.max(), points + 1)
    bins = np.clip(np.digitize(x, edges) - 1, 0, points - 1)
    count = np.bincount(bins, minlength=points)
    total, square = (np.bincount(bins, value, points).astype(np.float64) for value in (y, y**2))
    return smooth_bins(edges, count, total, square)


def smooth_bins(edges: FloatArray, count: IntArray, total: FloatArray, square: FloatArray) -> pd.DataFrame:
    """Return the columns of `trend` from the count, sum and sum of squares of each bin."""
    centre = (edges[1:] + edges[:-1]) / 2
    centre[0], centre[-1] = edges[0], edges[-1]
    weight = np.exp(-0.5 * ((centre[:, None] - centre) / (np.ptp(edges) / 12)) ** 2)
    n = weight @ count
    effective = n**2 / (weight**2 @ count)
    mean = weight @ total / n
    spread = np.sqrt(np.clip(weight @ square / n - mean**2, 0, None))
    half = Z_95 * spread / np.sqrt(effective)
    line = pd.DataFrame({"x": centre, "mean": mean, "low": mean - half, "high": mean + half})
    return line[effective >= FEWEST]


def gap_finding(table: pd.DataFrame, measure: str) -> Prose:
    """State how often ties change the first measure of `gaps`, and if they predict the gap."""
    tied = table[table["tie_ratio"] > 0]
    if not len(tied) and not table["n_docs"].any():
        return NO_DOCUMENTS
    has_value = (tied["n_relevant"] > 0) | (tied["first_best"] != 0)
    counted = tied[has_value] if has_value.any() else tied
    farthest = table.loc[table["first_gap"].abs().idxmax()] if len(tied) else {}
    return gap_prose(
        len(counted),
        float((counted["first_gap"] == 0).mean()) if len(counted) else 0.0,
        _correlation(table),
        {"gap": farthest.get("first_gap", 0.0), **farthest},
        measure,
        "ties" if len(counted) == len(tied) else "ties and a relevant document",
    )


def tie_prediction(table: pd.DataFrame, measure: str) -> Prose:
    """State whether the tie ratio predicts the gap; `gap_finding` where no correlation is defined."""
    if (tie_correlation := _correlation(table)) is None:
        return gap_finding(table, measure)
    point, bracket, ending = _prediction(*tie_correlation).partition(" (")
    return (Strong(point), bracket + ending)


def reranker_finding(table: pd.DataFrame, measure: str) -> Prose:
    """State which reranker ties most, which has the largest mean |gap|, and whether ties predict the gap.

    The data tell two mean |gap| apart if the difference over common queries exceeds its standard error.
    """
    table = table.dropna(subset=["first_gap"])
    if not len(table):
        return NOTHING_SCORED
    sizes = table.assign(size=table["first_gap"].abs())
    means = sizes.groupby("reranker", sort=False)[["tie_ratio", "size"]].mean()
    if not means["tie_ratio"].max():
        level: Prose = (Strong("No documents tie. "), "Traditional and tied scores are equal.")
        return level if table["n_docs"].any() else NO_DOCUMENTS
    share = percent(means["tie_ratio"].max())
    n_alike = int((means["tie_ratio"].map(percent) == share).sum())
    return (
        f"{'Most ties' if len(means) > 1 else 'Ties'}: ",
        Strong(str(means["tie_ratio"].idxmax())),
        f"{and_more(n_alike - 1)} ({share} of the documents in a list on average). ",
        *_largest_gap(sizes, means["size"].sort_values(ascending=False, kind="stable"), measure),
        "" if (tie_correlation := _correlation(table)) is None else _prediction(*tie_correlation),
    )


def _largest_gap(sizes: pd.DataFrame, means: "pd.Series[float]", measure: str) -> Prose:
    if means.iloc[0] <= EQUAL:
        return (f"Tie order changes no value: every {measure} gap is 0. ",)
    if len(means) == 1:
        return (f"Mean |{measure} gap|: {decimal(means.iloc[0])}. ",)
    largest = f"Largest mean |{measure} gap|: ", Strong(str(means.index[0])), f" ({decimal(means.iloc[0])}"
    wide = sizes.pivot_table(index="query_id", columns="reranker", values="size")
    differences = (wide[means.index[0]] - wide[means.index[1]]).dropna()
    error, second = float(differences.sem()), Strong(str(means.index[1]))
    if differences.mean() > max(error, EQUAL):
        return *largest, "), before ", second, f" ({decimal(means.iloc[1])}). "
    if differences.abs().max() <= EQUAL:
        return *largest, "), the same as ", second, ". "
    error_text = "" if np.isnan(error) else f"; standard error {decimal(error)}"
    return (
        *largest,
        "), but the data cannot tell it apart from ",
        second,
        f" ({decimal(means.iloc[1])}{error_text}). ",
    )


def _correlation(table: pd.DataFrame) -> tuple[float, float, float] | None:
    table = table.dropna(subset=["first_gap"])
    if not table["tie_ratio"].any():
        return None
    ratios, sizes = table["tie_ratio"].to_numpy(), table["first_gap"].abs().to_numpy()
    moments = QueryMoments()
    moments.add_lists(combine_chunks(pa.array(table["query_id"], pa.string())), ratios, sizes)
    return moments.with_interval()


def gap_prose(
    n_tied: int,
    share_level: float,
    tie_correlation: tuple[float, float, float] | None,
    farthest: Mapping[str, Any],
    measure: str,
    kind: str = "ties",
) -> Prose:
    """Write `gap_finding` from counts: tied lists, the share of them without a gap, and the largest gap."""
    if n_tied and (note := own_rule_note(measure)):
        return note
    if not n_tied:
        return (Strong("No documents tie. "), "Tie order cannot change a score.")
    start: Prose = (
        Strong({0.0: "None", 1.0: "All"}.get(share_level, percent(share_level))),
        f" of the {n_tied:,} lists with {kind} have equal traditional and tied {measure}. ",
    )
    if n_tied == 1:
        start = (Strong(f"One list has {kind}. "),)
    if not farthest["gap"]:
        return (*start, f"Tie order changes no value: every {measure} gap is 0.")
    direction = "too high" if farthest["gap"] > 0 else "too low"
    return (
        *start,
        "" if tie_correlation is None else _prediction(*tie_correlation),
        f"The largest gap is for {query_before(str(farthest['query_id']))}",
        Strong(str(farthest["query_id"])),
        ": the traditional score of ",
        Strong(str(farthest["reranker"])),
        f" is {decimal(abs(farthest['gap']))} {direction}.",
    )


def _prediction(r: float, low: float, high: float) -> str:
    """Write how well the tie ratio predicts the gap, unless the interval of r includes 0."""
    r_text = f"r = {f'{round(r, 2) + 0.0:.2f}'.replace('-', '−')}"
    if low <= 0 <= high:
        return (
            f"The data cannot tell whether the tie ratio predicts the gap ({r_text}, its interval includes 0). "
        )
    words = ((0.1, "hardly at all"), (0.3, "weakly"), (0.6, "moderately"))
    strength = next((word for bound, word in words if abs(r) < bound), "strongly")
    return (
        f"The tie ratio predicts the gap {strength} ({r_text}). Ties matter only if they mix documents "
        "of different grades. "
    )


ALL_LISTS = "All lists"
"""Name of the row that summarises all lists together."""


def tie_size_counts(rankings: Mapping[str, Ranking], lists: pd.DataFrame) -> pd.DataFrame:
    """Count the ties of `lists` (index reranker and query_id) by size, in powers of two.

    Returns:
        first and last (sizes: 2 and 2, 3 and 4, 5 and 8 ...), ties, documents (in these ties), rising.
    """
    parts = []
    for name, ranking in rankings.items():
        is_counted = ranking.query_ids.to_pandas().isin(lists.loc[name].index).to_numpy()
        parts.append(ranking.sizes[is_counted[ranking.group_lists] & (ranking.sizes > 1)])
    sizes = np.concatenate(parts)
    power = np.ceil(np.log2(sizes)).astype(np.int64)
    steps = np.arange(1, power.max(initial=0) + 1)
    return pd.DataFrame(
        {
            "first": 2 ** (steps - 1) + 1,
            "last": 2**steps,
            "ties": np.bincount(power, minlength=len(steps) + 1)[1:],
            "documents": np.bincount(power, sizes, len(steps) + 1)[1:].astype(np.int64),
        }
    )


def ranks_and_ratios(evaluation: Evaluation, measure: str, baseline: str) -> pd.DataFrame:
    """Return what helps to read the means of rerankers: a typical rank, a ratio and the documents to find.

    Returns:
        index reranker; typical_rank (1/MTRR, the harmonic mean of the ranks of the first relevant document; NaN
        without a hit), times (tied mean of the measure divided by the baseline's, NaN for a baseline of 0),
        relevant (mean number of relevant documents a list).
    """
    first_hits, tied = (evaluation.means(name)["expected"] for name in ("RR", measure))
    columns = {
        "typical_rank": 1 / first_hits.where(first_hits > 0),
        "times": tied / (tied[baseline] or np.nan),
        "relevant": evaluation.lists["n_relevant"].groupby(level="reranker", sort=False).mean(),
    }
    return pd.DataFrame(columns).reindex(evaluation.policies.index)


def gap_summary(lists: pd.DataFrame, *, ddof: int = 1) -> pd.DataFrame:
    """Summarise lists, their ties and their gaps by reranker.

    Deviations are over lists: √(Σ (x − mean)² / (n − ddof)). The notebook uses 1 for its two summaries of
    lists and rerankers, and 0 for its G-RAG report.

    Returns:
        index reranker; n, with_ties (lists), with_ties_share, tie_ratio and tie_ratio_std, tie_groups,
        max_tie_size_mean (a list without ties counts 1, as in the notebook's panels, a list without rows 0),
        tie_size_mean (both count 0, as in its G-RAG report), max_tie_size; and for each prefix p of the
        lists the means p_traditional, p_tied, p_worst, p_best, p_gap, the deviations p_traditional_std and
        p_tied_std, p_lists_with_gap (their share), of the absolute gap p_gap_mean, p_gap_std and p_gap_max,
        and its correlation with the tie ratio and the largest tie, p_r_ratio and p_r_size (NaN if undefined).
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


def with_overall(summary: pd.DataFrame, lists: pd.DataFrame) -> pd.DataFrame:
    """Return a `gap_summary` preceded by a row `ALL_LISTS` of all lists, unless it has only one row."""
    if len(summary) < 2:  # noqa: PLR2004 both rows would be equal
        return summary
    return pd.concat([gap_summary(lists.assign(reranker=ALL_LISTS)), summary])


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
    """Write the notebook's summary of synthetic lists, with its names of the first and second measure."""
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
    """Write a `gap_summary` as the notebook prints it: means with ± and gaps, one row a reranker."""

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
    groups = table.groupby("reranker", sort=False)
    return pd.Series({name: correlation(rows[x], rows[y]) for name, rows in groups}, dtype=float)
