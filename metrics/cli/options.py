"""Options that commands share, for files, reading, scoring and output.

Commands import pandas and the library when they run, so that `tiescope --help` answers at once.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial, wraps
from glob import iglob
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import typer
from typer import Argument, Option

from metrics.cli.messages import say, say_left_out, traditional_order
from metrics.errors import TieScopeError, UsageError
from metrics.support.progress import progress

if TYPE_CHECKING:
    import pandas as pd

    from metrics.evaluation import Evaluation, ScoringOptions
    from metrics.runs import Runs

T = TypeVar("T")
_WRITING_PANEL = "What is written"
_STDIO, _STDOUT = Path("-"), Path("/dev/stdout")


class FileUse(Enum):
    """How a command uses the file that an option names; every such option is annotated with one."""

    READ = auto()
    """A file, a folder, a pattern or a URL; `-` is standard input."""
    WRITTEN = auto()
    """A file; `-` is standard output where the option is called `output`."""
    APPENDED = auto()
    """A file that grows."""


class NamedPath(NamedTuple):
    """A run on the command line.

    Attributes:
        name: name of its reranker; None takes the name from the file.
        path: a path, a URL, or a pattern for Dask.
    """

    name: str | None
    path: str


def parse_run(text: str) -> NamedPath:
    """Split NAME=PATH, with � for bytes of NAME that are not text; a file of the whole name is a path."""
    name, equals, path = text.partition("=")
    is_named = equals and path and name.strip() and not {"/", "\\"} & set(name)
    if not is_named or any(iglob(text)):  # noqa: PTH207 Path.glob refuses some patterns
        return NamedPath(None, text)
    return NamedPath(os.fsencode(name).decode(errors="replace"), path)


NAME_HELP = "NAME=PATH sets the reranker's name (default: the name in the file's rows, else the file name)."


def run_argument(sentence: str, metavar: str = "RUN") -> Any:  # noqa: ANN401 as typer.Argument
    """Return an argument for runs."""
    return Argument(metavar=metavar, parser=parse_run, help=f"{sentence} {NAME_HELP}")


Qrels = Annotated[Path | None, Option(help="Judgments; not needed if the runs hold relevance."), FileUse.READ]


def parse_output(text: str) -> Path:
    """Return the path of a file to write; refuse a folder."""
    if os.path.basename(text) in ("", ".", ".."):  # noqa: PTH119 a Path drops a slash at the end
        # Typer would rephrase a UsageError, which is a ValueError
        raise TieScopeError(f"{text}: cannot be written (it is a folder: name a file in it).")
    return Path(text)


def written_option(sentence: str, *names: str, panel: str | None = None) -> Any:  # noqa: ANN401 as typer.Option
    """Return an option for a file to write."""
    return Option(*names, parser=parse_output, metavar="<path>", help=sentence, rich_help_panel=panel)


def output_option(sentence: str = "Write to this file instead of stdout.", panel: str | None = None) -> Any:  # noqa: ANN401 as typer.Option
    """Return the option `--output`."""
    return written_option(sentence, "--output", "-o", panel=panel)


Output = Annotated[Path | None, output_option(), FileUse.WRITTEN]


def file_uses(command: Callable[..., None]) -> Mapping[str, FileUse]:
    """Return the parameters of a command that name files, each with its use."""
    return {
        name: use
        for name, parameter in signature(command).parameters.items()
        for use in getattr(parameter.annotation, "__metadata__", ())
        if isinstance(use, FileUse)
    }


def with_inputs_kept(command: Callable[..., None], log: str) -> Callable[..., None]:
    """Return a command that refuses, before it starts, to overwrite its inputs or to write where it cannot.

    Args:
        command: the function of the command.
        log: environment variable that may name one more file the command appends to.
    """
    uses = file_uses(command)

    @wraps(command)
    def run(**choices: Any) -> None:
        from metrics.runs.writing import refuse_outputs

        files: dict[FileUse, list[Path | str]] = {use: [] for use in FileUse}
        for name, use in uses.items():
            if use is FileUse.WRITTEN and choices[name] == _STDIO:
                if name != "output":
                    raise UsageError(f"--{name.replace('_', '-')} needs a file.")
                choices[name] = None
            files[use] += _paths(choices[name])
        logs = [*files[FileUse.APPENDED], *filter(None, [os.environ.get(log)])]
        refuse_outputs([], files[FileUse.READ], [Path(path) for path in (_STDOUT, *logs)])
        refuse_outputs([*map(Path, files[FileUse.WRITTEN])], [*files[FileUse.READ], *logs])
        command(**choices)

    return run


def _paths(value: Any) -> list[Path | str]:  # noqa: ANN401 one file, several or None
    values = [value] if isinstance(value, NamedPath | str | Path) else value or ()
    return [each.path if isinstance(each, NamedPath) else each for each in values]


def listing(flag: str, subject: str, names: Callable[[], list[tuple[str, str]]]) -> Any:  # noqa: ANN401 as typer.Option
    """Return an option that prints names with their summaries, and exits."""

    def show(is_requested: bool) -> None:
        if is_requested:
            for name, summary in names():
                typer.echo(f"{name}  {summary}")
            raise typer.Exit

    return Option(flag, help=f"Print {subject} and exit.", is_eager=True, callback=show)


Repeated = Literal["error", "first", "max"]
MissingScore = Literal["error", "last", "drop"]
Policy = Literal["zero", "skip"]
EmptyPolicy = Literal["zero", "one", "skip"]
Unjudged = Literal["nonrelevant", "leave_out"]
OutputFormat = Literal["table", "csv", "json", "markdown", "latex", "parquet"]
FOR_PEOPLE: Sequence[OutputFormat] = ("table", "markdown", "latex")
PRINTED_ROWS = 1_000
"""Rows of a table that a terminal gets."""

_reading_option = partial(typer.Option, rich_help_panel="How files are read")
_scoring_option = partial(typer.Option, rich_help_panel="How lists are scored")

Traditional = Annotated[
    str | None, Option(help="Tie order of traditional scores (default: input; TREC runs: docid_desc).")
]
Measures = Annotated[
    list[str] | None,
    Option("--measure", "-m", help="A measure: RR, RR@10, nDCG@10 (evaluate --list-measures). Repeatable."),
]
Targets = Annotated[
    list[str] | None,
    Option("--require", "-r", help='A target: "MTRR>=0.8", "nDCG@10>=baseline-0.01". Repeatable.'),
]
TargetBaseline = Annotated[str | None, Option(help="Reranker that `baseline` stands for in a target.")]
Columns = Annotated[
    list[str] | None,
    _reading_option(
        "--column",
        help="Read a field from a column with another name, FIELD=COLUMN: query_id=topic, score=scores.llm "
        "(nested JSON). Write latency= to ignore the latency column, FILE:FIELD=COLUMN for one file. "
        "Repeatable.",
    ),
]


@dataclass(frozen=True)
class ReadingOptions:
    """How files are read.

    Attributes:
        columns: field → its column in the files.
        repeated: policy for a document that a list holds twice.
        missing_score: policy for a score that is not a number.
        drop_self: leave out documents with the ID of their query.
    """

    columns: Mapping[str, str | Mapping[str, str]]
    repeated: Repeated
    missing_score: MissingScore
    drop_self: bool = False

    def read(self, paths: Sequence[NamedPath], qrels: Path | str | None) -> "Runs":
        """Read runs and judgments."""
        from metrics.runs import read_runs

        with progress("Reading"):
            return read_runs(paths, qrels, **vars(self))


def _reading(
    column: Columns = None,
    repeated: Annotated[
        Repeated,
        _reading_option(
            help="If a list contains a document twice: stop (error), or keep the first or highest score."
        ),
    ] = "error",
    missing_score: Annotated[
        MissingScore,
        _reading_option(
            help="A score that is not a number, such as N/A: stop with an error, rank the document last (tied "
            "with other documents without a score), or drop the document."
        ),
    ] = "error",
    drop_self: Annotated[
        bool,
        _reading_option(help="Leave out a document whose ID is that of its query, as BEIR does."),
    ] = False,
) -> ReadingOptions:
    return ReadingOptions(parse_columns(column), repeated, missing_score, drop_self)


def parse_columns(columns: list[str] | None) -> dict[str, str | Mapping[str, str]]:
    """Return field → column, from texts FIELD=COLUMN; FIELD= stands for no column.

    FILE:FIELD=COLUMN gives the name of the file → such a mapping.
    """
    shared: dict[str, str | Mapping[str, str]] = {}
    by_file: dict[str, dict[str, str]] = {}
    for text in columns or []:
        if not all(text.partition("=")[:2]):
            raise UsageError(f"--column {text}: write FIELD=COLUMN, such as query_id=topic.")
        name, theirs = text.split("=", 1)
        file, _, ours = name.rpartition(":")
        if file:
            by_file.setdefault(file, {})[ours] = theirs
        else:
            shared[ours] = theirs
    return {**shared, **by_file}


RelevantFrom = Annotated[float, _scoring_option(help="Smallest grade that counts as relevant.")]


def _scoring(
    precision: Annotated[
        str,
        _scoring_option(
            help="Rounding of scores before ties are found: float64, float32, float16, bfloat16, decimals:N, "
            "or within:E (scores within E of their group's highest score are tied)."
        ),
    ] = "float64",
    missing: Annotated[
        Policy, _scoring_option(help="Count judged queries without rows as 0, or skip them.")
    ] = "zero",
    empty: Annotated[
        EmptyPolicy,
        _scoring_option(help="Count queries without relevant documents as 0, as 1, or skip them."),
    ] = "zero",
    relevant_from: RelevantFrom = 1,
    tiebreak_by: Annotated[
        list[str] | None, _scoring_option(help="A second score column that breaks ties. Repeatable.")
    ] = None,
    criterion: Annotated[
        list[str] | None,
        _scoring_option(
            help="Rank documents by this column, such as score or cost:asc. With several columns, documents "
            "are ranked by Pareto front, and documents in the same front are tied. Repeatable."
        ),
    ] = None,
    unjudged: Annotated[
        Unjudged,
        _scoring_option(help="Count unjudged documents as not relevant, or remove them from the lists."),
    ] = "nonrelevant",
) -> "ScoringOptions":
    from metrics.evaluation import ScoringOptions

    further, criteria = tuple(tiebreak_by or ()), tuple(criterion or ())
    return ScoringOptions(precision, missing, empty, relevant_from, further, criteria, unjudged)


@dataclass(frozen=True)
class TableOutput:
    """How and where a table is written.

    Attributes:
        format: table, csv, json ...
        path: the file; None for stdout.
    """

    format: OutputFormat
    path: Path | None

    @property
    def is_for_people(self) -> bool:
        """Tell whether people read the table, and not programs."""
        return self.format in FOR_PEOPLE

    def write(self, table: "pd.DataFrame") -> None:
        """Write the table to the file or to stdout."""
        from metrics.cli.output import write_table

        write_table(table, self.format, self.path)

    def write_blocks(self, blocks: "Iterable[pd.DataFrame]") -> None:
        """Write a table that comes in blocks: CSV block by block, for a terminal only its first rows."""
        import pandas as pd

        from metrics.cli.output import csv_rows

        if self.format == "csv":
            with csv_rows(self.path) as write:
                for block in blocks:
                    write(block)
        else:
            self.write(pd.concat(_first_rows(blocks) if self.format == "table" else blocks, ignore_index=True))


def _first_rows(blocks: "Iterable[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
    n_rows = 0
    for block in blocks:
        if n_rows < PRINTED_ROWS:
            yield block[: PRINTED_ROWS - n_rows]
        n_rows += len(block)
    if n_rows > PRINTED_ROWS:
        say(f"The first {PRINTED_ROWS:,} of {n_rows:,} rows. To write all rows: --format csv -o FILE.")


@dataclass(frozen=True)
class Inputs:
    """The runs and judgments of a command.

    Attributes:
        run: the runs.
        qrels: file of the judgments; None if the runs hold relevance.
        reading: how files are read.
    """

    run: Sequence[NamedPath]
    qrels: Path | None
    reading: ReadingOptions

    def read(self) -> "Runs":
        """Read runs and judgments."""
        return self.reading.read(self.run, self.qrels)

    def score(
        self, measures: Sequence[str], traditional: str | None, scoring: "ScoringOptions"
    ) -> "tuple[Evaluation, str]":
        """Read runs and score them; return tied, best, worst and traditional scores, and the tie order.

        Raises:
            TieScopeError: the data has an error, such as judgments of other queries.
        """
        from metrics.evaluation import score_runs

        runs = self.read()
        order = traditional_order(runs, traditional)
        with progress("Scoring"):
            ties = ["expected", "optimistic", "pessimistic", order]
            evaluation = score_runs(runs, measures, ties, scoring)
        if say_left_out(runs, evaluation):
            raise TieScopeError("The data has errors (above), so its scores mean nothing. Correct the files.")
        return evaluation, order


def _table_output(
    format: Annotated[  # noqa: A002
        OutputFormat, Option(help="Format of the table.", rich_help_panel=_WRITING_PANEL)
    ] = "table",
    output: Annotated[Path | None, output_option(panel=_WRITING_PANEL), FileUse.WRITTEN] = None,
) -> TableOutput:
    return TableOutput(format, output)


_SHARED: dict[str, tuple[Callable[..., object], tuple[str, ...]]] = {
    "scoring": (_scoring, ()),
    "list_scoring": (_scoring, ("missing", "empty")),
    "reading": (_reading, ()),
    "table_output": (_table_output, ()),
}
"""Parameter of a command → the function that makes its record of options, and options that it leaves out."""


def with_shared_options(command: Callable[..., T]) -> Callable[..., T]:
    """Return a command with options in place of each parameter of `_SHARED`.

    `command` then gets one record, such as `ScoringOptions`, for each of these parameters.
    """
    own = signature(command).parameters
    options = {
        name: {key: option for key, option in signature(make).parameters.items() if key not in left_out}
        for name, (make, left_out) in _SHARED.items()
        if name in own
    }
    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for name in own
        for parameter in (options[name].values() if name in options else [own[name]])
    ]

    @wraps(command)
    def run(**choices: Any) -> T:
        records = {
            name: _SHARED[name][0](**{option: choices.pop(option) for option in names})
            for name, names in options.items()
        }
        return command(**choices, **records)

    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@with_shared_options
def _inputs(
    run: Annotated[list[NamedPath], run_argument("Run files, or long tables with relevance."), FileUse.READ],
    qrels: Qrels = None,
    *,
    reading: ReadingOptions,
) -> Inputs:
    return Inputs(run, qrels, reading)


_SHARED["inputs"] = (_inputs, ())
