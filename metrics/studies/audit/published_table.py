"""Published figures, and an example table with mistakes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import NamedTuple

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.measures import parse
from metrics.support.cached import cached_property


class Figure(NamedTuple):
    """A printed figure.

    Attributes:
        reranker: name as printed.
        measure: name as printed.
        query_id: None for a mean.
        value: value in the unit of the measure: 0.284 for 28.4 %.
        text: text as printed.
        decimals: number of decimals.
        scale: 100 for percents, else 1.
        file: name of the file.
        line: line in the file.
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
    """Printed figures.

    Attributes:
        figures: one row per `Figure`, in printed order.
        notes: sentences about parts that were converted or left out.
        other_names: reranker → other names, such as the file name in addition to the `runid`.
    """

    figures: pd.DataFrame
    notes: tuple[str, ...] = ()
    other_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in printed order."""
        return list(dict.fromkeys(self.figures["reranker"]))

    @property
    def measures(self) -> list[str]:
        """Names of the measures, in printed order."""
        return list(dict.fromkeys(self.figures["measure"]))

    def means(self, measure: str) -> pd.Series:
        """Return the printed means of one measure by reranker, in printed order."""
        rows = self._means.get(measure, self.figures[:0])
        return pd.Series(rows["value"].to_numpy(), index=pd.Index(rows["reranker"], name="reranker"))

    @cached_property
    def _means(self) -> dict[str, pd.DataFrame]:
        figures = self.figures[self.figures["query_id"].isna()]
        return {str(measure): rows for measure, rows in figures.groupby("measure", sort=False)}

    def order(self, measure: str) -> list[str]:
        """Return the rerankers by their printed means, highest first, equal ones in printed order."""
        return list(self.means(measure).sort_values(ascending=False, kind="stable").index)


MEASURES = ("RR", "AP", "nDCG@10", "P@10", "R@10", "Hits@1")
"""Default measures; the first sorts the rows."""


def example_table(evaluation: Evaluation, measures: Sequence[str] = MEASURES) -> str:
    """Return means in file order as CSV, one row per reranker, sorted by the first measure."""
    means = pd.DataFrame({parse(name).traditional: evaluation.means(name)["input"] for name in measures})
    means = means.dropna(how="all").sort_values(means.columns[0], ascending=False, kind="stable")
    text = StringIO()
    means.rename_axis("reranker").to_csv(text, float_format="%.4f", lineterminator="\n")
    return text.getvalue()
