"""The command that makes data: simulate."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from metrics.cli.messages import say
from metrics.cli.options import FileUse, output_option
from metrics.errors import UsageError
from metrics.support.progress import progress
from metrics.support.wording import count_of

if TYPE_CHECKING:
    from metrics.runs import Runs

Notebook = Literal["notebook-scenarios", "notebook-synthetic", "notebook-llm", "notebook-grag"]
Kind = Literal["llm", "synthetic", Notebook]
_ANY = ("--queries", "--seed", "--documents", "--relevant")
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "llm": (*_ANY, "--tie-probability", "--levels", "--reranker", "--performance", "--segments"),
    "synthetic": (*_ANY, "--tie-probability"),
}
"""Options of each kind; the notebook's own data takes none."""
_EXCLUSIVE = (("--performance", "--segments"), ("--reranker", "--tie-probability"), ("--reranker", "--levels"))
_RANGE = "LOW-HIGH, or one number."


def simulate_command(
    output: Annotated[Path | None, output_option("Table: .csv or .parquet; - prints CSV."), FileUse.WRITTEN],
    what: Annotated[
        Kind,
        Argument(
            help="What to simulate: LLM rerankers, synthetic lists, or the notebook's data (without other "
            "options)."
        ),
    ] = "llm",
    queries: Annotated[int | None, Option(help="Number of queries (default: 100).")] = None,
    seed: Annotated[int | None, Option(min=0, help="The same seed gives the same table (default: 0).")] = None,
    documents: Annotated[str | None, Option(help=f"Documents per list: {_RANGE}")] = None,
    relevant: Annotated[str | None, Option(help=f"Relevant documents per list: {_RANGE}")] = None,
    tie_probability: Annotated[
        float | None,
        Option(
            help="llm: probability that a document's score is copied to another document, which makes a tie. "
            "synthetic: share of lists with ties."
        ),
    ] = None,
    levels: Annotated[
        int | None, Option(help="llm: number of score levels; 0 for continuous scores (default: 10).")
    ] = None,
    reranker: Annotated[
        list[str] | None,
        Option(
            help="llm: TIES,LEVELS[,PERFORMANCE[,NAME]] instead of --tie-probability and --levels. Repeatable.",
            metavar="TEXT",
        ),
    ] = None,
    performance: Annotated[
        float | None,
        Option(help="Probability that relevance raises the score of a relevant document (default: 0.9)."),
    ] = None,
    segments: Annotated[
        bool,
        Option("--segments", help="llm: add the query types of the notebook as query groups."),
    ] = False,
) -> None:
    """Simulate runs with judgments, as one long table."""
    from metrics import simulation

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
    notebook = {
        "notebook-scenarios": simulation.notebook_scenarios,
        "notebook-synthetic": simulation.notebook_synthetic,
        "notebook-llm": simulation.notebook_llm_rerankers,
        "notebook-grag": simulation.notebook_grag,
    }
    with progress("Simulating"):
        runs = notebook[what]() if what in notebook else _draw(what, options)
    _write(runs, output)
    rows = sum(len(table) for table in runs.tables.values())
    say(f"{output or 'stdout'}: {count_of(len(runs.tables), 'reranker')}, {count_of(rows, 'row')}.")


def _refuse_ignored(kind: str, names: list[str]) -> None:
    options = _OPTIONS.get(kind, ())
    ignored = [name for name in names if name not in options]
    if ignored:
        remedy = f"Options of {kind}: {', '.join(options)}." if options else f"{kind} has no options."
        raise UsageError(f"{kind} does not take {' or '.join(ignored)}. {remedy}")
    for first, second in _EXCLUSIVE:
        if first in names and second in names:
            raise UsageError(f"Give either {first} or {second}: both set the same thing.")


def _draw(kind: str, options: Mapping[str, Any]) -> "Runs":
    from metrics.simulation import NOTEBOOK_SEGMENTS, simulate, synthetic
    from metrics.simulation.link_text import parse_reranker, reranker_table

    n_queries, seed = options.get("--queries", 100), options.get("--seed", 0)
    is_synthetic = kind == "synthetic"
    documents = _parse_range(options.get("--documents"), (5, 14) if is_synthetic else (8, 19))
    relevant = _parse_range(options.get("--relevant"), (1, 3) if is_synthetic else (1, 4))
    chance = options.get("--tie-probability", 0.3)
    if is_synthetic:
        return synthetic(n_queries, documents, relevant, seed, chance)
    texts = options.get("--reranker", [f"{chance},{options.get('--levels', 10)}"])
    rerankers = reranker_table([parse_reranker(text) for text in texts])
    segments = NOTEBOOK_SEGMENTS if "--segments" in options else None
    return simulate(rerankers, n_queries, documents, relevant, seed, options.get("--performance"), segments)


def _parse_range(text: str | None, default: tuple[int, int]) -> tuple[int, int]:
    if text is None:
        return default
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise UsageError(f"{text!r}: write a number or LOW-HIGH, such as 8-19.") from None


def _write(runs: "Runs", output: Path | None) -> None:
    import pyarrow.parquet as pq
    from pyarrow import csv

    from metrics.cli.output import print_text
    from metrics.runs.writing import open_output
    from metrics.simulation import long_table

    table = long_table(runs)
    with BytesIO() if output is None else open_output(output) as stream:
        if output is not None and output.suffix == ".parquet":
            pq.write_table(table, stream)
        else:
            csv.write_csv(table, stream, csv.WriteOptions(quoting_style="needed"))
        if isinstance(stream, BytesIO):
            print_text(stream.getvalue().decode())
