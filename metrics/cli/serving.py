"""Commands that serve: app."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from metrics.cli.admitting import allow_list, demand_sign_in
from metrics.cli.options import Qrels
from metrics.errors import UsageError
from metrics.runs import read_runs

OPEN = "TIESCOPE_OPEN"
"""Environment variable that tells the app which files to open: JSON with runs and qrels."""
ALLOW = "TIESCOPE_ALLOW"
"""Environment variable that says who may sign in: addresses and domains, commas between."""
INSECURE = "TIESCOPE_INSECURE"
"""Environment variable that is 1 where nobody signs in, whoever reaches the address."""


def app_command(
    files: Annotated[list[Path] | None, typer.Argument(help="Runs to open; none: the sample data.")] = None,
    qrels: Qrels = None,
    port: Annotated[int, typer.Option(help="Port to serve on.")] = 8501,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help=f"Who may sign in: an address or a domain; else as {ALLOW} says."),
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Serve to everybody, without sign-in.")] = False,
) -> None:
    """Serve the dashboard in the browser."""
    _settle_who_may_enter(host, allow or os.environ.get(ALLOW, "").split(","), insecure=insecure)
    if files:
        paths = {
            "runs": [str(path.resolve()) for path in files],
            "qrels": str(qrels.resolve()) if qrels else None,
        }
        read_runs(files, qrels)  # fail here, not in the browser
        os.environ[OPEN] = json.dumps(paths)
    from streamlit.web import cli  # noqa: PLC0415 half a second that other commands need not pay

    page = Path(__file__).parents[2] / "dashboard" / "app.py"
    cli.main(["run", str(page), f"--server.port={port}", f"--server.address={host}"])


def _settle_who_may_enter(host: str, allow: Iterable[str], *, insecure: bool) -> None:
    """Refuse an address that others reach without sign-in, unless told; tell the app who may enter."""
    entries = allow_list(allow)
    if not insecure:
        demand_sign_in(host, entries)
    elif entries:
        raise UsageError(f"--insecure lets everybody in: leave it out, or --allow and {ALLOW}.")
    else:
        typer.echo(
            f"tiescope: --insecure: no sign-in. Everybody who reaches {host} sees and changes everything.",
            err=True,
        )
    os.environ[ALLOW], os.environ[INSECURE] = ",".join(entries), str(int(insecure))
