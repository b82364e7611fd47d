"""Commands that are imported when they are called."""

from collections.abc import Callable, Sequence
from functools import cached_property
from inspect import getdoc
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from dashboard.cli.loading import loading_modules

Command = Callable[..., None]
"""A function whose parameters are the arguments and options of a command."""


class DeferredCommand(TyperCommand):
    """A command whose name and summary are known, and whose module is imported when it is called."""

    def __init__(self, load: Callable[[], Command]) -> None:
        """Take the name and the summary from the function that imports the command."""
        super().__init__(name=load.__name__.replace("_", "-"), help=getdoc(load))
        self._load = load

    @cached_property
    def loaded(self) -> TyperCommand:
        """The command itself, with its options."""
        with loading_modules():
            from metrics.cli.file_options import with_inputs_kept

            app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            app.command(self.name)(with_inputs_kept(self._load(), "TIESCOPE_AUDIT_LOG"))
            return cast("TyperCommand", typer.main.get_command(app))

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 lines are wrapped, not cut
        """Return all of the summary."""
        return self.help or ""

    def make_context(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 as Typer's
        """Read the command line of the command itself."""
        return self.loaded.make_context(*arguments, **options)


def command_line(commands: Sequence[Callable[[], Command]]) -> TyperGroup:
    """Return the command `tiescope` with these subcommands.

    Its help is set without Rich, which takes longer to import than to say all of it.
    """
    return TyperGroup(
        name="tiescope",
        help="How much of a reranker's score is relevance, and how much is the order its ties were sorted in.",
        epilog="Begin with: tiescope evaluate llm.trec --qrels qrels.txt · or: tiescope app llm.trec --qrels "
        "qrels.txt",
        commands=[DeferredCommand(load) for load in commands],
        params=typer.main.get_group(_own_options()).params,
        no_args_is_help=True,
        rich_markup_mode=None,
    )


def _own_options() -> typer.Typer:
    """Return an application that has the options of `tiescope` itself, and does nothing."""
    app = typer.Typer(add_completion=False)

    @app.callback()
    def options(
        *,
        version: Annotated[
            bool,
            typer.Option(
                "--version", is_eager=True, callback=_print_version, help="Say which version this is."
            ),
        ] = False,
    ) -> None: ...

    return app


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"tiescope {version('tiescope')}")
        except PackageNotFoundError:
            typer.echo("tiescope, a checkout that is not installed")
        raise typer.Exit
