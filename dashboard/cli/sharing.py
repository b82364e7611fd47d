"""Commands of the library of boards: push, boards, pull.

The library is imported when one of these is called: other commands need not wait for a database.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dashboard.access.admission import plain_address
from metrics.cli.file_options import FileUse, NamedPath, Qrels, parse_run
from metrics.cli.messages import say
from metrics.cli.options import Columns, Repeated, parse_columns
from metrics.cli.output import print_text, write_table
from metrics.errors import UsageError, needs
from metrics.support.escaping import clean
from metrics.support.progress import progress

if TYPE_CHECKING:
    from dashboard.library.store import Library

Owner = Annotated[str, typer.Option(metavar="ADDRESS", help="Whose, on a server that people sign in to.")]


class ListingFormat(StrEnum):
    """How boards are listed."""

    table = "table"
    csv = "csv"
    json = "json"


class PulledFormat(StrEnum):
    """How a board is written."""

    parquet = "parquet"
    trec = "trec"
    tiescope = "tiescope"


def push_command(
    run: Annotated[
        list[NamedPath],
        typer.Argument(
            metavar="RUN",
            parser=parse_run,
            help="Run files, or tables; or one .tiescope file. NAME=PATH calls a file NAME.",
        ),
        FileUse.READ,
    ],
    board: Annotated[
        str, typer.Option(help="Name of the board, or its id; a new one where there is none.")
    ] = "",
    qrels: Qrels = None,
    column: Columns = None,
    repeated: Annotated[
        Repeated | None, typer.Option(help="A document twice in one list; omitted: as the board does.")
    ] = None,
    note: Annotated[str, typer.Option(help="What is said of the files in the library.")] = "",
    owner: Owner = "",
) -> None:
    """Keep runs and judgments on a board of the library; a file of a name that is there takes its place."""
    if not board and not all(file.path.casefold().endswith(".tiescope") for file in run):
        raise UsageError("Say on which board: --board NAME.")
    repeat_rule: Any = repeated and repeated.value
    with _library() as library, progress("Pushing"):
        from dashboard.library import exchange

        files = exchange.read_files_to_push(run, qrels, parse_columns(column), repeat_rule)
        pushed = exchange.push(library, files, board, _owner(owner), repeated=repeat_rule, note=note)
    typer.echo(clean(pushed.label))
    joined = f"{len(pushed.replaced)} replaced" if pushed.replaced else "joined"
    uploads = f"{pushed.n_new} upload{'s' * (pushed.n_new != 1)} new, {pushed.n_known} known."
    say(f"{'a new board' if pushed.is_new else joined}: {uploads}")


def boards_command(
    format: Annotated[ListingFormat, typer.Option(help="How to print.")] = ListingFormat.table,  # noqa: A002
    owner: Owner = "",
) -> None:
    """List the boards of the library, the one changed last first."""
    with _library() as library, progress("Reading"):
        from dashboard.library import exchange

        table = exchange.boards_table(library, _owner(owner), for_people=format == ListingFormat.table)
        unknown = exchange.describe_unknown_files(library)
    write_table(table, format.value, None)
    if unknown:
        say(unknown)


def pull_command(
    board: Annotated[str, typer.Argument(help="Id or name of the board.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to."), FileUse.FOLDER],
    format: Annotated[  # noqa: A002
        PulledFormat,
        typer.Option(help="Parquet with our column names, TREC runs and qrels, or one file to send."),
    ] = PulledFormat.parquet,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    owner: Owner = "",
) -> None:
    """Write the runs and judgments of a board as files that every tool reads."""
    if output == Path("-"):
        raise UsageError("A board is several files, and not printed: -o FOLDER.")
    owner_address = _owner(owner)
    _refuse_uploads_folder(output)
    with _library() as library, progress("Pulling"):
        from dashboard.library import exchange
        from dashboard.library.audit import record_event

        record = library.find(exchange.require_board(library, board, owner_address).id, owner_address)
        published = library.published(record.id, owner_address)
        written = exchange.pull(record, output, format.value, force=force, published=published)
        record_event("exported", owner_address, board=record.id, name=record.name)
    for path in written:
        print_text(f"{path}\n")


@contextmanager
def _library() -> Iterator["Library"]:
    """Open the library that the environment names; close it in the end."""
    with needs("app"):
        from dashboard.library.store import Library

    library = Library.open()
    try:
        yield library
    finally:
        library.close()


def _refuse_uploads_folder(folder: Path) -> None:
    """Raise a UsageError at a folder in which the library keeps its uploads."""
    with needs("app"):
        from dashboard.library.place import home

    uploads = home() / "uploads"
    if folder.resolve().is_relative_to(uploads.resolve()):
        raise UsageError(f"{folder}: the library keeps its uploads there. Name another folder.")


def _owner(text: str) -> str:
    address = plain_address(text) if text else ""
    if address is None:
        raise UsageError(f"--owner {text!r} is no e-mail address.")
    return address
