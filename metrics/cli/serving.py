"""Commands that serve: app."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from metrics.cli.options import Qrels
from metrics.runs import read_runs

OPEN = "TIESCOPE_OPEN"
"""Environment variable that tells the app which files to open: JSON with runs and qrels."""


def app_command(
    files: Annotated[list[Path] | None, typer.Argument(help="Runs to open; none: the sample data.")] = None,
    qrels: Qrels = None,
    port: Annotated[int, typer.Option(help="Port to serve on.")] = 8501,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
) -> None:
    """Serve the dashboard in the browser."""
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
