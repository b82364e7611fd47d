"""Whose figures are whose: published names of rerankers and measures, matched to those of the runs."""

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class NameMatches:
    """Published names beside ours.

    Attributes:
        rerankers: a row for each published reranker: published, matched (the reranker of the runs, empty where
            none is), how ("same", "alike", "by hand" or ""), candidates (those alike, where none was chosen).
        measures: the same of measures; matched is a measure of `metrics.MEASURES`, such as nDCG@10, whose gain
            the convention says.
        unpublished: rerankers of the runs that have no figure.
    """

    rerankers: pd.DataFrame
    measures: pd.DataFrame
    unpublished: tuple[str, ...] = ()

    def reranker(self, published: str) -> str:
        """Return the reranker of the runs that a published name means; empty where none does."""
        return _matched(self.rerankers, published)

    def measure(self, published: str) -> str:
        """Return our measure that a published name means; empty where none does."""
        return _matched(self.measures, published)


def _matched(table: pd.DataFrame, published: str) -> str:
    rows = table.loc[table["published"] == published, "matched"]
    return str(rows.iloc[0]) if len(rows) else ""
