"""Rerankers by measures in one table: tied means, intervals, letters of significance; Markdown and LaTeX."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import ascii_letters

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse
from metrics.studies.leaderboard import mean_intervals
from metrics.studies.pairs import significant_signs
from metrics.studies.prose import decimal, signed_decimals
from metrics.support.arrays import BoolArray
from metrics.support.escaping import latex, markdown
from metrics.support.wording import percent, with_signs

LETTERED = 30
"""Rerankers up to which letters tell which of them differ."""


def significance_letters(is_different: BoolArray) -> list[str]:
    """Return the letters of n items, of which two share a letter exactly if they do not differ.

    Start with one group of all. Each pair that differs splits every group that has both: one part loses the
    first, one the second (insert). A part within another group goes (absorb), and so does a group whose pairs
    are all in other groups (sweep). The first items have the first letters.

    Args:
        is_different: (n, n), symmetric, False on the diagonal.

    Returns:
        n texts, all empty if more than 52 letters would be needed.

    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
    Computational and Graphical Statistics 13(2), 2004.
    """
    if not (n := len(is_different)):
        return []
    groups = [(1 << n) - 1]
    for pair in np.argwhere(np.triu(is_different, 1)).tolist():
        pair_bits = sum(1 << item for item in pair)
        parts = {group & ~(1 << item) for group in groups if group & pair_bits == pair_bits for item in pair}
        groups = [group for group in groups if group & pair_bits != pair_bits]
        for part in sorted(parts, key=int.bit_count, reverse=True):
            if not any(part & group == part for group in groups):
                groups.append(part)
    members = np.array([[group >> item & 1 for item in range(n)] for group in groups], dtype=np.int64)
    counts = members.T @ members
    for row in members[members.sum(axis=1).argsort(kind="stable")]:
        if (counts[np.ix_(row > 0, row > 0)] > 1).all():
            counts -= np.outer(row, row)
            members = members[(members != row).any(axis=1)]
    if len(members) > len(ascii_letters):
        return [""] * n
    members = members[np.lexsort(-members[:, ::-1].T)]
    return ["".join(np.array([*ascii_letters])[: len(members)][column > 0]) for column in members.T]


def measure_column(evaluation: Evaluation, measure: str, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the tied means of one measure with what tells them apart.

    Args:
        evaluation: evaluation of `measure` with ties averaged.
        measure: name of the measure.
        pairs: table of `compare` for all pairs with ties averaged.

    Returns:
        index reranker; tied; is_best; letters (two of at most `LETTERED` rerankers share one if they do not
        differ significantly); low, high (`mean_intervals`).
    """
    tied = evaluation.means(measure)["expected"]
    order = tied.dropna().sort_values(ascending=False, kind="stable").index
    codes = [order.get_indexer(pairs[side]) for side in ("baseline", "reranker")]
    is_shown = (significant_signs(pairs) != 0) & (codes[0] >= 0) & (codes[1] >= 0)
    first, second = (code[is_shown] for code in codes)
    is_different = np.zeros((len(order), len(order)), dtype=bool)
    is_different[first, second] = is_different[second, first] = True
    letters = significance_letters(is_different) if 1 < len(order) <= LETTERED else ""
    texts = pd.Series(letters, order, dtype=object).reindex(tied.index, fill_value="")
    table = pd.DataFrame({"tied": tied, "is_best": tied >= tied.max() - EQUAL, "letters": texts})
    ends = mean_intervals(evaluation, measure)
    return table.assign(low=ends["query_low"], high=ends["query_high"])


@dataclass(frozen=True)
class Cell:
    """A cell of the table.

    Attributes:
        text: what it shows.
        letters: letters of significance.
        is_best: whether it is the best of its column.
        interval: ends of the interval of a mean, in words.
        height: where a mean is between the lowest (0) and the best (1) of its column.
    """

    text: str
    letters: str = ""
    is_best: bool = False
    interval: str = ""
    height: float = 0.0


def cells(
    columns: Mapping[str, pd.DataFrame], ties: pd.DataFrame, names: Mapping[str, str], gap: str
) -> tuple[list[str], list[list[Cell]]]:
    """Return the heads and the rows of the table.

    Args:
        columns: measure → its `measure_column`.
        ties: rows in order: index reranker; tie_ratio and gap.
        names: reranker → name to write.
        gap: measure of the gap.
    """
    heads = ["Reranker", *(parse(measure).tied for measure in columns), "Tie ratio", f"{gap} gap"]
    rows = []
    for name, (ratio, difference) in zip(ties.index, ties[["tie_ratio", "gap"]].to_numpy(), strict=True):
        row = [Cell(names[name])]
        for column in columns.values():
            value = column.loc[name]
            text = decimal(value["tied"]) if pd.notna(value["tied"]) else "–"
            ends = [decimal(value[end]) for end in ("low", "high") if pd.notna(value[end])]
            lowest, best = column["tied"].min(), column["tied"].max()
            height = (value["tied"] - lowest) / (best - lowest) if value["tied"] > lowest else 0.0
            row.append(Cell(text, value["letters"], bool(value["is_best"]), " to ".join(ends), height))
        rows.append([*row, Cell(with_signs(percent(ratio))), Cell(signed_decimals(difference))])
    return heads, rows


def caption(n_rerankers: int, method: str) -> str:
    """Return the caption of the table: what it shows, and the test behind the letters."""
    if n_rerankers <= 1:
        return "Tied means."
    meaning = f" Rerankers that share a letter do not differ significantly ({method}; p < 0.05)."
    return f"Tied means, the best in bold.{meaning if n_rerankers <= LETTERED else ''}"


def as_markdown(heads: list[str], rows: list[list[Cell]], note: str) -> str:
    """Write the table in Markdown, letters raised."""
    lines = [[markdown(head) for head in heads], ["---", *["---:"] * (len(heads) - 1)]]
    lines += [[_written(cell, markdown, "**{}**", "<sup>{}</sup>") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{markdown(note)}\n"


def as_latex(heads: list[str], rows: list[list[Cell]], note: str) -> str:
    """Write the table in LaTeX with the rules of booktabs, letters raised."""
    lines = [[latex(head) for head in heads]]
    lines += [
        [_written(cell, latex, r"\textbf{{{}}}", r"\textsuperscript{{{}}}") for cell in row] for row in rows
    ]
    head, *body = (" & ".join(line) + r" \\" for line in lines)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{latex(note)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _written(cell: Cell, escape: Callable[[str], str], bold: str, raised: str) -> str:
    text = escape(cell.text)
    return (bold.format(text) if cell.is_best else text) + (raised.format(cell.letters) if cell.letters else "")
