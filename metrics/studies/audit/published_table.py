"""What was published: figures as they were printed, and the table that a careless script prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import NamedTuple

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.measures import parse


class Figure(NamedTuple):
    """A figure as somebody printed it.

    Attributes:
        reranker: as it is spelled there.
        measure: as it is spelled there.
        query_id: None for a mean.
        value: in the unit of the measure: 28.4 of percents is 0.284.
        text: as printed.
        decimals: digits after the point.
        scale: 100 where percents were printed, else 1.
        file: where it stands.
        line: where in the file.
    """

    reranker: str
    measure: str
    query_id: str | None
    value: float
    text: str
    decimals: int
    scale: int
    file: str
    line: int | None


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """Figures as somebody printed them.

    Attributes:
        figures: a row for each `Figure`, in the order printed.
        notes: sentences on what was read otherwise than it stands there, or left out.
        other_names: reranker → further names of it, such as the file's beside the `runid` in it.
    """

    figures: pd.DataFrame
    notes: tuple[str, ...] = ()
    other_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in the order printed."""
        return list(dict.fromkeys(self.figures["reranker"]))

    @property
    def measures(self) -> list[str]:
        """Names of the measures, in the order printed."""
        return list(dict.fromkeys(self.figures["measure"]))

    def means(self, measure: str) -> pd.Series:
        """Return the printed means of one measure, index reranker, in the order printed."""
        figures = self.figures
        rows = figures[(figures["measure"] == measure) & figures["query_id"].isna()]
        return pd.Series(rows["value"].to_numpy(), index=pd.Index(rows["reranker"], name="reranker"))

    def order(self, measure: str) -> list[str]:
        """Return the rerankers by their printed means of one measure, highest first, equal ones as printed."""
        return list(self.means(measure).sort_values(ascending=False, kind="stable").index)


MEASURES = ("RR", "AP", "nDCG@10", "P@10", "R@10", "Hits@1")
"""Measures of the table unless others are asked for; the first decides the order of its rows."""


def careless_table(
    evaluation: Evaluation, measures: Sequence[str] = MEASURES, ties: str = "input", digits: int = 4
) -> str:
    """Return means as CSV, a row a reranker, the highest by the first measure first."""
    means = pd.DataFrame({parse(name).traditional: evaluation.means(name)[ties] for name in measures})
    means = means.dropna(how="all").sort_values(means.columns[0], ascending=False, kind="stable")
    text = StringIO()
    means.rename_axis("reranker").to_csv(text, float_format=f"%.{digits}f", lineterminator="\n")
    return text.getvalue()
