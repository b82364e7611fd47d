"""Runs on the command line. Nothing is imported here that reads them: a server starts without."""

from glob import iglob
from pathlib import Path
from typing import Annotated, NamedTuple

import typer


class NamedPath(NamedTuple):
    """A run on the command line.

    Attributes:
        name: what its reranker is to be called; None leaves that to the file.
        path: of the file: a path, a URL, or what Dask is to expand.
    """

    name: str | None
    path: str


def parse_run(text: str) -> NamedPath:
    """Return a run given as NAME=PATH or as PATH; a file that exists under the whole text is a path."""
    name, equals, path = text.partition("=")
    is_named = equals and path and name.strip() and not {"/", "\\"} & set(name)
    if not is_named or any(iglob(text)):  # noqa: PTH207 which Path.glob may refuse
        return NamedPath(None, text)
    return NamedPath(name, path)


NAME_HELP = "NAME=PATH names its reranker; else its rows do, else the name of the file."
RunPaths = Annotated[
    list[NamedPath],
    typer.Argument(
        metavar="RUN", parser=parse_run, help=f"Run files, or long tables with relevance. {NAME_HELP}"
    ),
]
RunPath = Annotated[
    NamedPath,
    typer.Argument(metavar="RUN", parser=parse_run, help=f"A run file, or a table with relevance. {NAME_HELP}"),
]
Qrels = Annotated[Path | None, typer.Option(help="Judgments; not needed where RUN holds relevance.")]
