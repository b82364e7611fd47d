"""The runs and judgments that a measure of another library looks at."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from metrics.runs import Runs
from metrics.support.arrays import FloatArray, with_column


class JudgmentView(NamedTuple):
    """What measures must agree on to be taken in one go.

    Attributes:
        rel: smallest grade that counts as relevant.
        judged_only: whether what nobody judged is left out of the lists.
        gains: old and new grade, of those that change.
    """

    rel: int
    judged_only: bool
    gains: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "JudgmentView":
        """Return that of a measure, by its parameters that are given: rel, judged_only, gains."""
        gains = tuple(sorted(params.get("gains", {}).items()))
        return cls(params.get("rel", 1), bool(params.get("judged_only", False)), gains)

    def of_runs(self, runs: Runs, judgments: pa.Table) -> Runs:
        """Return the runs under these judgments, grades changed, and without what is left out."""
        grades = judgments["relevance"].to_numpy()
        if self.gains:
            changed = grades.copy()
            for grade, gain in self.gains:
                changed[grades == grade] = gain
            judgments, grades = with_column(judgments, "relevance", pa.array(changed)), changed
        runs = runs.judged_by(judgments)
        return _judged(runs, grades) if self.judged_only else runs


def _judged(runs: Runs, grades: FloatArray) -> Runs:
    """Return the rows that somebody judged; a negative grade is no judgment, as trec_eval has it."""
    tables = {}
    for name, table in runs.tables.items():
        judgment = runs.judgment_places(name)
        rows = np.flatnonzero(judgment >= 0)
        tables[name] = table.take(pa.array(rows[grades[judgment[rows]] >= 0]))
    return replace(runs, tables=tables)
