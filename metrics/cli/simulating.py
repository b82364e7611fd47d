"""Commands that make data: simulate."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pyarrow import csv

from metrics.cli.output import unwritable
from metrics.errors import UsageError
from metrics.runs import Runs
from metrics.simulation import (
    NOTEBOOK_SEGMENTS,
    LlmReranker,
    long_table,
    notebook_grag,
    notebook_llm_rerankers,
    notebook_scenarios,
    notebook_synthetic,
    simulate,
    synthetic,
)
from metrics.simulation.model import PERFORMANCE
from metrics.support.progress import progress


class SimulationKind(StrEnum):
    """What is simulated."""

    llm = "llm"
    synthetic = "synthetic"
    notebook_scenarios = "notebook-scenarios"
    notebook_synthetic = "notebook-synthetic"
    notebook_llm = "notebook-llm"
    notebook_grag = "notebook-grag"


_NOTEBOOK: Mapping[SimulationKind, Callable[[], Runs]] = {
    SimulationKind.notebook_scenarios: notebook_scenarios,
    SimulationKind.notebook_synthetic: notebook_synthetic,
    SimulationKind.notebook_llm: notebook_llm_rerankers,
    SimulationKind.notebook_grag: notebook_grag,
}
_RANGE = "LOW-HIGH, or one number."


def simulate_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="The table: .csv or .parquet.")],
    what: Annotated[
        SimulationKind,
        typer.Argument(help="LLM rerankers, synthetic lists, or what the notebook draws, draw by draw."),
    ] = SimulationKind.llm,
    queries: Annotated[int, typer.Option(help="How many queries.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same table.")] = 0,
    documents: Annotated[str | None, typer.Option(help=f"Documents of a list: {_RANGE}")] = None,
    relevant: Annotated[str | None, typer.Option(help=f"Relevant ones: {_RANGE}")] = None,
    tie_probability: Annotated[
        list[float] | None,
        typer.Option(
            help="llm: chance that a document hands its score on, repeated for several rerankers. "
            "synthetic: share of lists with ties."
        ),
    ] = None,
    levels: Annotated[
        list[int] | None, typer.Option(help="llm: score levels of each reranker; 0 for any score.")
    ] = None,
    performance: Annotated[float, typer.Option(help="llm: chance that relevance shows in a score.")] = (
        PERFORMANCE
    ),
    segments: Annotated[bool, typer.Option("--segments", help="llm: queries of the notebook's types.")] = False,
) -> None:
    """Make runs that nobody ranked, with relevance inside, as one long table."""
    if output.suffix not in (".csv", ".parquet"):
        raise UsageError(f"{output}: name it .csv or .parquet.")
    with progress("Simulating"):
        if what in _NOTEBOOK:
            runs = _NOTEBOOK[what]()
        elif what == SimulationKind.synthetic:
            share = (tie_probability or [0.3])[0]
            runs = synthetic(
                queries, _parse_range(documents, (5, 14)), _parse_range(relevant, (1, 3)), seed, share
            )
        else:
            runs = simulate(
                _rerankers(tie_probability or [0.3], levels or [10]),
                queries,
                _parse_range(documents, (8, 19)),
                _parse_range(relevant, (1, 4)),
                seed,
                performance,
                NOTEBOOK_SEGMENTS if segments else None,
            )
    _write(runs, output)
    rows = sum(len(table) for table in runs.tables.values())
    typer.echo(f"{output}: {len(runs.tables)} rerankers, {rows:,} rows.", err=True)


def _rerankers(chances: list[float], levels: list[int]) -> dict[str, LlmReranker]:
    """Return a reranker for each chance and number of levels; one of either goes with all of the other."""
    n = max(len(chances), len(levels))
    if {len(chances), len(levels)} - {1, n}:
        raise UsageError("Give as many --levels as --tie-probability, or one of either.")
    pairs = zip(chances * (n // len(chances)), levels * (n // len(levels)), strict=True)
    return {f"LLM {at} ({chance:g} ties, {many} levels)": LlmReranker(chance, many)
            for at, (chance, many) in enumerate(pairs, 1)}  # fmt: skip


def _parse_range(text: str | None, default: tuple[int, int]) -> tuple[int, int]:
    if text is None:
        return default
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise UsageError(f"{text!r} is no number and no LOW-HIGH, such as 8-19.") from None


def _write(runs: Runs, output: Path) -> None:
    table = long_table(runs)
    try:
        if output.suffix == ".parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415 loads slowly, and CSV is the usual

            pq.write_table(table, output)
        else:
            csv.write_csv(table, output, csv.WriteOptions(quoting_style="needed"))
    except OSError as error:
        raise unwritable(output, error) from error
