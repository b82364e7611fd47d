"""Messages on stderr, and how a command ends: its exit code, and one line on stderr after an error.

0 success, 1 a check failed, 2 unusable input or no room for the output, 70 a bug in TieScope, 130 interrupted,
141 the reader of stdout has gone, 128 plus the number of another signal.
"""

import atexit
import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from metrics.errors import TieScopeError
from metrics.support.escaping import clean_lines, visible
from metrics.support.wording import OUTCOMES, count_of, describe_part

if TYPE_CHECKING:
    import pandas as pd

    from metrics.evaluation import Evaluation, ScoringOptions
    from metrics.report import DrawCharts
    from metrics.runs import Runs
    from metrics.scale.dask import Dataset

UNUSABLE, DEFECT, INTERRUPTED, UNREAD = 2, 70, 130, 141
_BAD_COMMAND_LINE: Any = typer.BadParameter.__base__
"""Typer's error for a command line it cannot parse; it exports only this subclass."""
_MAX_RERANKERS = 20
"""Rerankers with a message of their own about queries without rows or relevant documents."""


def say(text: str) -> None:
    """Write a message to stderr, without characters that control the terminal or reorder text."""
    typer.echo(clean_lines(text), err=True)


def traditional_order(runs: "Runs", choice: str | None) -> str:
    """Return the chosen tie order, else the usual one of the files, which is announced."""
    from metrics.ties import order_of_ties

    label = order_of_ties(choice or runs.tie_order).label
    if choice is not None or runs.tie_order == "input":
        return choice or runs.tie_order
    say(f"Tie order for TREC runs: {label}. For file order: --traditional input.")
    return runs.tie_order


def say_left_out(runs: "Runs | Dataset", evaluation: "Evaluation | None" = None) -> bool:
    """Report skipped rows and queries and the reasons; return whether the data has errors.

    With an evaluation, report queries counted as 0 too.
    """
    findings = runs.left_out
    findings = findings[findings["code"] != "queries-missing"]
    groups = findings.groupby(["severity", "message", "hint"], sort=False)
    for (severity, message, hint), files in groups["file"]:
        more_files = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
        say(f"{severity} · {files.iloc[0]}{more_files} · {message} {hint}")
    if evaluation is not None:
        _say_policies(evaluation.policies, evaluation.options)
    return "error" in set(findings["severity"])


def _say_policies(policies: "pd.DataFrame", options: "ScoringOptions") -> None:
    """Report the queries of each reranker without rows or relevant documents, and how they were counted."""
    incomplete = policies[(policies["n_missing"] > 0) | (policies["n_empty"] > 0)]
    reasons = (
        ("n_missing", "have no rows", options.missing),
        ("n_empty", "have no relevant documents", options.empty),
    )
    for reranker, counts in incomplete[:_MAX_RERANKERS].iterrows():
        for name, reason, policy in reasons:
            if counts[name]:
                part = describe_part(int(counts[name]), int(counts["n_queries"]), "query", reason)
                say(f"{reranker}: {part}, {OUTCOMES[policy]}.")
    if len(incomplete) > _MAX_RERANKERS:
        n_more = count_of(len(incomplete) - _MAX_RERANKERS, "more reranker")
        say(f"… and {n_more} with queries that have no rows or no relevant documents.")


def say_own_rules(evaluation: "Evaluation") -> None:
    """Name the measures that break ties by a rule of their own, and the measures to read them with."""
    from metrics.studies.prose import own_rule_note, plain

    for name in evaluation.measures:
        if note := own_rule_note(name):
            say(plain(note).strip())


def run(app: typer.Typer, draw: "DrawCharts") -> None:
    """Run the command line of the process with an application, and end the process."""

    def command() -> None:
        tiescope = typer.main.get_command(app)
        with tiescope.make_context("tiescope", sys.argv[1:], obj=draw) as context:
            tiescope.invoke(context)

    end(exit_code(command))


def exit_code(command: Callable[[], None]) -> int:
    """Run a command; return the exit code of the process, and report errors on stderr."""
    code = 0
    try:
        with _ended_by_signals():
            command()
            sys.stdout.flush()
    except typer.Exit as stop:
        code = stop.exit_code
    except SystemExit as stop:
        is_unread = isinstance(stop.__context__, BrokenPipeError)  # Rich, which prints the help, exits so
        code = UNREAD if is_unread else stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BrokenPipeError:
        code = UNREAD
    except KeyboardInterrupt:
        code = INTERRUPTED
    except _BAD_COMMAND_LINE as error:
        code, error.message = UNUSABLE, visible(error.message)
        with suppress(OSError):
            error.show()
    except (TieScopeError, MemoryError, OSError) as error:
        code = UNUSABLE
        _say_last(f"tiescope: {_reason(error)}")
    except Exception:  # noqa: BLE001 a bug is not a failed check
        code = DEFECT
        with suppress(OSError):
            traceback.print_exc()
        _say_last("tiescope: this is a bug in TieScope. Please report the lines above.")
    if code == INTERRUPTED:
        _say_last("tiescope: interrupted.")
    return code


def _reason(error: TieScopeError | MemoryError | OSError) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory. Use smaller data, or evaluate with --engine dask."
    if not isinstance(error, OSError):
        return str(error)
    if error.errno == errno.EBADF:
        return "standard output is closed."
    if error.errno == errno.ENOENT and not error.filename:  # of os.getcwd
        return "the current folder no longer exists. Change to another folder."
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."


def _say_last(text: str) -> None:
    """Write a message to stderr if it is still open; the exit code says the same."""
    with suppress(OSError):
        say(text)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Turn signals into exits, so that the block cleans up before the process ends."""
    received: list[int] = []

    def end_by(number: int, _frame: FrameType | None) -> NoReturn:
        received.append(number)
        # a second signal would cut the cleanup short; only a second Ctrl-C may
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_IGN)
        sys.exit(128 + number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # nohup ignores it
            signal.signal(number, end_by)
    try:
        yield
    except BaseException:
        if received:  # an import may turn the exit into another error
            sys.exit(128 + received[0])
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end(code: int) -> NoReturn:
    """End the process; an interrupt or a closed stdout on the way out stays silent."""
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
