"""Files that commands read and write, by what their options declare.

Nothing is imported here that reads them: a server starts without.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import wraps
from glob import iglob
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from metrics.errors import TieScopeError, UsageError

_STDIO = Path("-")
_STDOUT = Path("/dev/stdout")


class FileUse(Enum):
    """What a command does with the file that an option names; every such option is annotated with one."""

    READ = auto()
    """A file, a folder, a pattern or a URL; `-` is standard input."""
    WRITTEN = auto()
    """A file; `-` is standard output where the option is called `output`."""
    APPENDED = auto()
    """A file that grows."""
    FOLDER = auto()
    """A folder that a command puts files into, none over another."""


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
    FileUse.READ,
]
RunPath = Annotated[
    NamedPath,
    typer.Argument(metavar="RUN", parser=parse_run, help=f"A run file, or a table with relevance. {NAME_HELP}"),
    FileUse.READ,
]
Qrels = Annotated[
    Path | None, typer.Option(help="Judgments; not needed where RUN holds relevance."), FileUse.READ
]


def parse_output(text: str) -> Path:
    """Return a file to be written; refuse what can only be a folder."""
    if os.path.basename(text) in ("", ".", ".."):  # noqa: PTH119 a Path forgets the slash at the end
        # not a UsageError, which is a ValueError: Typer would put the message into words of its own
        raise TieScopeError(f"{text}: cannot be written (it is a folder: name a file in it).")
    return Path(text)


def written_option(sentence: str, *names: str) -> Any:  # noqa: ANN401 as typer.Option
    """Return an option that names a file to be written, described in a sentence."""
    return typer.Option(*names, parser=parse_output, metavar="<path>", help=sentence)


def output_option(sentence: str = "Write to this file, not to stdout.") -> Any:  # noqa: ANN401 as typer.Option
    """Return the option `--output` of a command, described in a sentence."""
    return written_option(sentence, "--output", "-o")


Output = Annotated[Path | None, output_option(), FileUse.WRITTEN]


def file_uses(command: Callable[..., None]) -> Mapping[str, FileUse]:
    """Return the parameters of a command that name files, and what it does with these."""
    return {
        name: use
        for name, parameter in signature(command).parameters.items()
        for use in getattr(parameter.annotation, "__metadata__", ())
        if isinstance(use, FileUse)
    }


def with_inputs_kept(command: Callable[..., None], log: str) -> Callable[..., None]:
    """Return a command that refuses before it begins to write over what it reads, and where it cannot write."""
    uses = file_uses(command)

    @wraps(command)
    def run(**choices: Any) -> None:  # noqa: ANN401 as the options of the command type them
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


def _paths(value: Any) -> Iterator[Path | str]:  # noqa: ANN401 a file, several or none
    """Yield the paths that the value of an option names."""
    if isinstance(value, NamedPath):
        yield value.path
    elif isinstance(value, str | Path):
        yield value
    elif isinstance(value, Iterable):
        for file in value:
            yield from _paths(file)
