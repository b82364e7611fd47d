"""What other software would report for the same files, tool by tool."""

from collections.abc import Sequence

import pandas as pd

from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.prose import Prose, Strong
from metrics.studies.tools.tools import emulate

_EQUAL_VALUES = 5e-5
"""Values that agree to four decimals."""


def tool_values(runs: Runs, measure: str, rerankers: Sequence[str]) -> pd.DataFrame:
    """Return what each tool reports for a measure; for nDCG also for nDCG-linear, which most tools call nDCG.

    Args:
        runs: what was ranked.
        measure: name of a measure.
        rerankers: whose values, in this order.

    Returns:
        tool, spelling (in the tool), measure (ours), reranker, value, tied, why; rerankers as given.
    """
    measure_at = parse(measure)
    names = [measure] + ([measure.replace("nDCG", "nDCG-linear")] if measure_at.measure.name == "nDCG" else [])
    values = emulate(runs, names)
    values = values[values["reranker"].isin(rerankers) & values["value"].notna()]
    order = {name: at for at, name in enumerate(rerankers)}
    return values.sort_values("reranker", key=lambda names: names.map(order), kind="stable").reset_index(
        drop=True
    )


def by_tool(values: pd.DataFrame) -> pd.DataFrame:
    """Arrange the values in a row a tool and measure, with a column a reranker.

    Returns:
        tool, spelling, one column a reranker, why.
    """
    keys = ["tool", "spelling", "why"]
    rows = values[keys].drop_duplicates().set_index(["tool", "spelling"])
    wide = values.pivot_table(index=["tool", "spelling"], columns="reranker", values="value", sort=False)
    wide = wide.reindex(columns=values["reranker"].unique())
    return wide.join(rows).reset_index()


def tool_finding(values: pd.DataFrame, measure: str) -> Prose:
    """Say how far tools are apart on the reranker they disagree on most, and whether they name another leader.

    Args:
        values: as `tool_values` returns it.
        measure: our measure.
    """
    values = values[values["measure"] == measure]
    if len(set(values["tool"])) <= 1:
        return (f"No two tools here compute {measure} in a way that can be told from their code.",)
    ends = values.groupby("reranker", sort=False)["value"].agg(["min", "max"])
    width = ends["max"] - ends["min"]
    widest = str(width.idxmax())
    if width.max() < _EQUAL_VALUES:
        return (Strong("Every tool says the same "), f"of {measure} here, to four decimals.")
    low, high = (
        values.loc[values[values["reranker"] == widest]["value"].agg(at)] for at in ("idxmin", "idxmax")
    )
    return (
        "The same file gives ",
        Strong(widest),
        f" {measure} ",
        Strong(f"{low['value']:.4f}"),
        f" in {low['tool']} and ",
        Strong(f"{high['value']:.4f}"),
        f" in {high['tool']}.{_leaders(values)}",
    )


def _leaders(values: pd.DataFrame) -> str:
    best = values.loc[values.groupby("tool", sort=False)["value"].idxmax(), "reranker"]
    if len(set(values["reranker"])) == 1:
        return ""
    leaders = len(set(best))
    return " All name the same leader." if leaders == 1 else f" They name {leaders} different leaders."
