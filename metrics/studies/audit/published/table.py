"""What was published: figures as they were printed."""

from dataclasses import dataclass, field

import pandas as pd

COLUMNS = ("reranker", "measure", "query_id", "value", "text", "decimals", "scale", "file", "line")
"""Columns of the figures of a published table."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """Figures as somebody printed them.

    Attributes:
        figures: a row for each figure, in the order printed: reranker, measure (as they are spelled there),
            query_id (None for a mean), value (in the unit of the measure: 28.4 of percents is 0.284), text (as
            printed), decimals (of the text), scale (100 where percents were printed, else 1), file, line.
        notes: sentences on what was read otherwise than it stands there, or left out.
        other_names: reranker → further names of it, such as the file's beside the `runid` in it.
    """

    figures: pd.DataFrame
    notes: tuple[str, ...] = ()
    other_names: dict[str, tuple[str, ...]] = field(default_factory=dict)

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
        """Return the rerankers by their printed means of one measure, the highest first, equal ones as printed.

        Args:
            measure: as it is spelled there.
        """
        return list(self.means(measure).sort_values(ascending=False, kind="stable").index)
