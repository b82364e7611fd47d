"""The command that serves the dashboard: app."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from dashboard.access.admission import demand_sign_in, parse_allow_list, redirect_origin
from dashboard.library.audit import AUDIT_LOG, prepare_audit_log
from dashboard.settings import ALLOW, ALLOW_HOST, EMBED, INSECURE, OPEN, UPLOAD_LIMITS
from metrics.cli.messages import say
from metrics.cli.options import FileUse, NamedPath, Qrels, parse_run
from metrics.errors import UsageError, needs

_ORIGIN = re.compile(r"https?://(\*\.)?[\w-]+(\.[\w-]+)*(:\d{1,5})?", re.ASCII)
"""Scheme, host (`*.` for all hosts of a domain) and port."""
_ALL_ADDRESSES = ("", "0.0.0.0", "::")  # noqa: S104 only compared


def app_command(
    files: Annotated[
        list[NamedPath] | None,
        typer.Argument(
            metavar="FILE",
            parser=parse_run,
            help="Runs or stored evaluations to open (default: the sample data). NAME=PATH names a file.",
        ),
        FileUse.READ,
    ] = None,
    qrels: Qrels = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to serve on.")] = 8501,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help=f"Address or domain that may sign in (default: {ALLOW})."),
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Serve to everybody, without sign-in.")] = False,
    embed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help=f"Site that may embed the app, such as https://wiki.example.org (default: {EMBED}).",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="Host name of the server, or origin of a proxy in front of it, such as "
            f"https://tiescope.example.org (default: {ALLOW_HOST}). Requests for other hosts are refused.",
        ),
    ] = None,
    audit_log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append a JSON line to this file whenever somebody opens, saves, shares or deletes a board "
            "(default: TIESCOPE_AUDIT_LOG).",
        ),
        FileUse.APPENDED,
    ] = None,
) -> None:
    """Serve the dashboard in the browser."""
    _settle_who_may_enter(host, allow or os.environ.get(ALLOW, "").split(","), insecure=insecure)
    if log := audit_log or os.environ.get(AUDIT_LOG):
        os.environ[AUDIT_LOG] = prepare_audit_log(Path(log))
    _settle_hosts(host, allow_host or os.environ.get(ALLOW_HOST, "").split())
    if files:
        os.environ[OPEN] = json.dumps(_validated_files(files, qrels))
    os.environ[EMBED] = " ".join(_validated_embedders(embed or os.environ.get(EMBED, "").split()))
    with needs("app"):
        from dashboard.library.turns import max_at_once
        from dashboard.settings import byte_limit

    for setting, megabytes in UPLOAD_LIMITS.items():
        byte_limit(setting, megabytes)
    max_at_once()
    with needs("app"):
        from dashboard.server.connections import allow_many_files, limit_waiting
        from dashboard.streamlit_internals import run_app

    limit_waiting()
    allow_many_files()
    guarded_app = Path(__file__).parents[1] / "asgi.py"
    options = [f"--server.port={port}", f"--server.address={host}"]
    if host in _ALL_ADDRESSES:  # else Streamlit asks another site for this machine's address
        options.append("--browser.serverAddress=localhost")
    run_app(guarded_app, options)


def _settle_who_may_enter(host: str, allow: Iterable[str], *, insecure: bool) -> None:
    """Refuse a public address without sign-in unless --insecure allows it; tell the app who may sign in."""
    entries = parse_allow_list(allow)
    if not insecure:
        demand_sign_in(host, entries)
    elif entries:
        raise UsageError(
            "--insecure lets everybody in, so an allow-list has no effect. Leave out either --insecure, "
            f"or both --allow and {ALLOW}."
        )
    else:
        say(
            f"tiescope: --insecure: sign-in is off. Anybody who can reach {host} can see and change everything."
        )
    os.environ[ALLOW], os.environ[INSECURE] = ",".join(entries), str(int(insecure))


def _settle_hosts(host: str, declared: list[str]) -> None:
    """Tell the app which hosts it answers to besides this machine's own; announce them on a public address."""
    with needs("app"):
        from dashboard.server.hosts import parse_declared

    own = [host] if host not in _ALL_ADDRESSES and ":" not in host else []
    hosts = list(dict.fromkeys([*own, *declared, *filter(None, [redirect_origin()])]))
    for name in hosts:
        parse_declared(name)
    if host in _ALL_ADDRESSES:
        names = ", ".join(["localhost", "the IP addresses of this machine", *hosts])
        say(f"tiescope: this server accepts requests for {names}. Add other host names with --allow-host.")
    os.environ[ALLOW_HOST] = " ".join(hosts)


def _validated_embedders(origins: list[str]) -> list[str]:
    """Return the origins; refuse a wrong one, because browsers ignore the whole header then."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise UsageError(f"--embed {origin}: write an origin, such as https://wiki.example.org.")
    return origins


def _validated_files(files: list[NamedPath], qrels: Path | None) -> dict[str, Any]:
    """Return the files that the app opens: runs, read once to check them, and stored evaluations."""
    if "-" in [*(path for _, path in files), str(qrels)]:
        raise UsageError(
            "-: the app cannot read standard input, because it reads its files repeatedly. Name a file."
        )
    with needs("app"):
        from dashboard.library.boards import open_files
    from metrics.runs import File
    from metrics.runs.named_judgments import PREFIX
    from metrics.scale.stored import Stored, is_stored

    stored = [Path(path) for _, path in files if Path(path).is_file() and is_stored(File.open(path))]
    runs = [file for file in files if Path(file.path) not in stored]
    for path in stored:
        Stored.open(path)
    if runs:
        open_files(runs, str(qrels) if qrels else None)
    elif qrels:
        raise UsageError("--qrels applies only to runs. A stored evaluation already contains its judgments.")
    places = [(name, str(Path(path).resolve())) for name, path in runs]
    return {
        "runs": [place if name is None else (name, place) for name, place in places],
        "qrels": (str(qrels) if str(qrels).startswith(PREFIX) else str(qrels.resolve())) if qrels else None,
        "stored": [str(path.resolve()) for path in stored],
    }
