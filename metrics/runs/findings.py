"""What is worth knowing of runs before they are scored. Nothing is left out without a line here."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Finding:
    """One thing found: how bad, which kind, where, what, and what to do about it."""

    severity: Literal["error", "warning", "info"]
    code: str
    file: str
    line: int | None
    message: str
    hint: str


def as_frame(found: Iterable[Finding]) -> pd.DataFrame:
    """Findings as a table, the gravest first."""
    columns = [column.name for column in fields(Finding)]
    frame = pd.DataFrame([asdict(one) for one in found], columns=columns)
    frame["line"] = frame["line"].astype("Int64")
    order = frame["severity"].map({"error": 0, "warning": 1, "info": 2})
    return frame.iloc[order.argsort(kind="stable")].reset_index(drop=True)


def coverage(asked: Mapping[str, pa.Array], judged: pa.Array | None) -> list[Finding]:
    """Queries that only one side knows.

    Args:
        asked: reranker → its queries.
        judged: queries of the judgments, None where there are none apart.
    """
    if judged is None:
        return _own_queries(asked)
    found: list[Finding] = []
    for name, queries in asked.items():
        only_run = len(queries) - (pc.sum(pc.is_in(queries, value_set=judged)).as_py() or 0)
        missing = len(judged) - (len(queries) - only_run)
        if len(queries) and len(judged) and only_run == len(queries):
            found.append(_no_overlap(name, queries, judged))
            continue
        if missing:
            found.append(
                Finding(
                    "warning",
                    "queries-missing",
                    name,
                    None,
                    f"{missing} of {len(judged)} judged queries have no rows.",
                    'They count as 0 (missing="zero") or are left out (missing="skip").',
                )
            )
        if only_run:
            found.append(
                Finding(
                    "info",
                    "queries-unjudged",
                    name,
                    None,
                    f"{only_run} of {len(queries)} queries of the run have no judgments.",
                    "They are left out.",
                )
            )
    return found


def _no_overlap(name: str, queries: pa.Array, judged: pa.Array) -> Finding:
    return Finding(
        "warning",
        "no-overlap",
        name,
        None,
        f"No query of the run is judged: it asks {queries[0].as_py()!r}, judgments know {judged[0].as_py()!r}.",
        "Every score is 0. Check that the ids are written alike and the judgments belong to the run.",
    )


def _own_queries(asked: Mapping[str, pa.Array]) -> list[Finding]:
    counts = {name: len(queries) for name, queries in asked.items()}
    return [
        Finding(
            "info",
            "queries-differ",
            name,
            None,
            f"{count} queries, where another reranker has {max(counts.values())}.",
            "Each mean is over the reranker's own queries.",
        )
        for name, count in counts.items()
        if count < max(counts.values())
    ]
