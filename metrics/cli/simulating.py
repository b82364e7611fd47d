"""Commands that make data: simulate."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import typer
from pyarrow import csv

from metrics.cli.file_options import FileUse, output_option
from metrics.cli.messages import say
from metrics.cli.output import print_text
from metrics.errors import UsageError
from metrics.runs import Runs
from metrics.runs.writing import open_output
from metrics.simulation import (
    CONTINUOUS,
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
from metrics.simulation.reranker_text import default_name, parse_reranker, reranker_table
from metrics.support.progress import progress
from metrics.support.wording import count_of


class SimulationKind(StrEnum):
    """What is simulated."""

    llm = "llm"
    continuous = "continuous"
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
_ANY = ("--queries", "--seed", "--documents", "--relevant")
_OPTIONS: Mapping[SimulationKind, tuple[str, ...]] = {
    SimulationKind.llm: (
        *_ANY,
        *("--tie-probability", "--levels", "--reranker", "--performance", "--segments"),
    ),
    SimulationKind.continuous: (*_ANY, "--performance", "--segments"),
    SimulationKind.synthetic: (*_ANY, "--tie-probability"),
}
"""Options of each kind; the notebook's own draws have none."""
_EXCLUSIVE = (("--performance", "--segments"), ("--reranker", "--tie-probability"), ("--reranker", "--levels"))
"""Options of which one makes the other pointless."""
_RANGE = "LOW-HIGH, or one number."


def simulate_command(
    output: Annotated[
        Path | None, output_option("The table: .csv or .parquet; - prints CSV."), FileUse.WRITTEN
    ],
    what: Annotated[
        SimulationKind,
        typer.Argument(
            help="LLM rerankers, scores that never tie, synthetic lists, or what the notebook draws, draw by "
            "draw, which takes no option."
        ),
    ] = SimulationKind.llm,
    queries: Annotated[int | None, typer.Option(help="How many queries; 100 unless said.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed makes the same table; 0 unless said.")
    ] = None,
    documents: Annotated[str | None, typer.Option(help=f"Documents of a list: {_RANGE}")] = None,
    relevant: Annotated[str | None, typer.Option(help=f"Relevant documents of a list: {_RANGE}")] = None,
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
    reranker: Annotated[
        list[str] | None,
        typer.Option(
            help="llm: TIES,LEVELS[,PERFORMANCE[,NAME]], repeated for several, instead of --tie-probability "
            "and --levels.",
            metavar="TEXT",
        ),
    ] = None,
    performance: Annotated[
        float | None,
        typer.Option(help=f"Chance that relevance shows in a score; {PERFORMANCE:g} unless said."),
    ] = None,
    segments: Annotated[
        bool, typer.Option("--segments", help="llm, continuous: give queries the notebook's query types.")
    ] = False,
) -> None:
    """Make runs that nobody ranked, with relevance inside, as one long table."""
    if output is not None and output.suffix not in (".csv", ".parquet"):
        raise UsageError(f"{output}: name it .csv or .parquet.")
    options: dict[str, Any] = {
        "--queries": queries,
        "--seed": seed,
        "--documents": documents,
        "--relevant": relevant,
        "--tie-probability": tie_probability,
        "--levels": levels,
        "--reranker": reranker,
        "--performance": performance,
        "--segments": segments or None,
    }
    options = {name: value for name, value in options.items() if value is not None and value != []}
    _refuse_ignored(what, list(options))
    with progress("Simulating"):
        runs = _NOTEBOOK[what]() if what in _NOTEBOOK else _draw(what, options)
    _write(runs, output)
    rows = sum(len(table) for table in runs.tables.values())
    say(f"{output or 'stdout'}: {count_of(len(runs.tables), 'reranker')}, {count_of(rows, 'row')}.")


def _refuse_ignored(kind: SimulationKind, names: list[str]) -> None:
    """Refuse options that a kind of simulation would ignore."""
    options = _OPTIONS.get(kind, ())
    ignored = [name for name in names if name not in options]
    if ignored:
        remedy = f"It takes {', '.join(options)}." if options else "It draws what the notebook draws."
        raise UsageError(f"{kind} takes no {' and no '.join(ignored)}. {remedy}")
    for first, second in _EXCLUSIVE:
        if first in names and second in names:
            raise UsageError(f"Give either {first} or {second}: the one says what the other would.")


def _draw(kind: SimulationKind, options: Mapping[str, Any]) -> Runs:
    """Draw lists by options, others as usual."""
    n_queries, seed = options.get("--queries", 100), options.get("--seed", 0)
    is_synthetic = kind == SimulationKind.synthetic
    documents = _parse_range(options.get("--documents"), (5, 14) if is_synthetic else (8, 19))
    relevant = _parse_range(options.get("--relevant"), (1, 3) if is_synthetic else (1, 4))
    chances = options.get("--tie-probability", [0.3])
    if is_synthetic:
        if len(chances) > 1:
            raise UsageError("synthetic: give --tie-probability once; its lists are of one reranker.")
        return synthetic(n_queries, documents, relevant, seed, chances[0])
    rerankers = (
        {"Continuous": CONTINUOUS}
        if kind == SimulationKind.continuous
        else _rerankers(chances, options.get("--levels", [10]), options.get("--reranker", []))
    )
    segments = NOTEBOOK_SEGMENTS if "--segments" in options else None
    return simulate(rerankers, n_queries, documents, relevant, seed, options.get("--performance"), segments)


def _rerankers(chances: list[float], levels: list[int], texts: list[str]) -> dict[str, LlmReranker]:
    """Return the rerankers of the texts, else one for each chance and number of levels."""
    if texts:
        return reranker_table([parse_reranker(text) for text in texts])
    n = max(len(chances), len(levels))
    if {len(chances), len(levels)} - {1, n}:
        raise UsageError("Give as many --levels as --tie-probability, or one of either.")
    pairs = zip(chances * (n // len(chances)), levels * (n // len(levels)), strict=True)
    return {
        default_name(chance, many).replace("LLM", f"LLM {place}"): LlmReranker(chance, many)
        for place, (chance, many) in enumerate(pairs, 1)
    }


def _parse_range(text: str | None, default: tuple[int, int]) -> tuple[int, int]:
    if text is None:
        return default
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise UsageError(f"{text!r} is no number and no LOW-HIGH, such as 8-19.") from None


def _write(runs: Runs, output: Path | None) -> None:
    table = long_table(runs)
    with BytesIO() if output is None else open_output(output) as stream:
        if output is not None and output.suffix == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, stream)
        else:
            csv.write_csv(table, stream, csv.WriteOptions(quoting_style="needed"))
        if isinstance(stream, BytesIO):
            print_text(stream.getvalue().decode())
