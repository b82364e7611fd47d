"""Commands of the library of boards: push, boards, pull."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dashboard.access.admission import plain_address
from metrics.cli.messages import say
from metrics.cli.options import Columns, FileUse, NamedPath, Qrels, Repeated, parse_columns, parse_run
from metrics.errors import UsageError, needs
from metrics.support.escaping import clean
from metrics.support.progress import progress
from metrics.support.wording import count_of

if TYPE_CHECKING:
    from dashboard.library.store import Library

Owner = Annotated[
    str, typer.Option(metavar="ADDRESS", help="E-mail address of the board's owner, for a server with sign-in.")
]


def push_command(
    run: Annotated[
        list[NamedPath],
        typer.Argument(
            metavar="RUN",
            parser=parse_run,
            help="Run files or tables, or one .tiescope file. NAME=PATH names a file.",
        ),
        FileUse.READ,
    ],
    board: Annotated[str, typer.Option(help="Name or ID of the board. A new name creates a board.")] = "",
    qrels: Qrels = None,
    column: Columns = None,
    repeated: Annotated[
        Repeated | None,
        typer.Option(help="How to treat a document that a list contains twice (default: the board's setting)."),
    ] = None,
    note: Annotated[str, typer.Option(help="Note to store with the files in the library.")] = "",
    owner: Owner = "",
) -> None:
    """Add runs and judgments to a board of the library, replacing files of the same name."""
    if not board and not all(file.path.casefold().endswith(".tiescope") for file in run):
        raise UsageError("Name the board: --board NAME.")
    with _library() as library, progress("Pushing"):
        from dashboard.library import exchange

        files = exchange.read_files_to_push(run, qrels, parse_columns(column), repeated)
        pushed = exchange.push(library, files, board, _owner(owner), repeated=repeated, note=note)
    typer.echo(clean(pushed.label))
    replaced = f"{count_of(len(pushed.replaced), 'file')} replaced" if pushed.replaced else "board updated"
    uploads = f"{count_of(pushed.n_new, 'new upload')}, {pushed.n_known} already in the library."
    say(f"{'new board' if pushed.is_new else replaced}: {uploads}")


def boards_command(
    format: Annotated[  # noqa: A002
        Literal["table", "csv", "json"], typer.Option(help="Format of the list.")
    ] = "table",
    owner: Owner = "",
) -> None:
    """List the boards of the library, the most recently changed first."""
    with _library() as library, progress("Reading"):
        from dashboard.library import exchange
        from metrics.cli.output import write_table

        table = exchange.boards_table(library, _owner(owner), for_people=format == "table")
        unknown = exchange.describe_unknown_files(library)
    write_table(table, format, None)
    if unknown:
        say(unknown)


def pull_command(
    board: Annotated[str, typer.Argument(help="ID or name of the board.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to."), FileUse.FOLDER],
    format: Annotated[  # noqa: A002
        Literal["parquet", "trec", "tiescope"],
        typer.Option(
            help="parquet: tables with TieScope's column names; trec: runs and qrels; tiescope: one board file."
        ),
    ] = "parquet",
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    owner: Owner = "",
) -> None:
    """Write the runs and judgments of a board as files that other tools read."""
    if output == Path("-"):
        raise UsageError("A board consists of several files. Name a folder: -o FOLDER.")
    owner_address = _owner(owner)
    with needs("app"):
        from dashboard.library.place import home
    if output.resolve().is_relative_to((home() / "uploads").resolve()):
        raise UsageError(f"{output}: the library keeps its uploads there. Name another folder.")
    with _library() as library, progress("Pulling"):
        from dashboard.library import exchange
        from dashboard.library.audit import record_event
        from metrics.cli.output import print_text

        record = library.find(exchange.require_board(library, board, owner_address).id, owner_address)
        published = library.published(record.id, owner_address)
        paths = exchange.pull(record, output, format, force=force, published=published)
        record_event("exported", owner_address, board=record.id, name=record.name)
    for path in paths:
        print_text(f"{path}\n")


@contextmanager
def _library() -> Iterator["Library"]:
    with needs("app"):
        from dashboard.library.store import Library

    library = Library.open()
    try:
        yield library
    finally:
        library.close()


def _owner(text: str) -> str:
    address = plain_address(text) if text else ""
    if address is None:
        raise UsageError(f"--owner {text!r} is not an e-mail address.")
    return address
