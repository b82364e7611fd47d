"""All errors that TieScope raises.

TieScopeError
├── ReadError     a file or table cannot be read: names file, line and value
│   └── RepeatError   a document is twice in one list: one of its rows can be kept
├── UsageError    a call names something that does not exist, or lacks something it needs
│   └── MissingPackageError   an optional package is not installed; also an ImportError
└── LibraryError  stored data cannot be read or written, or is not available to this visitor

A message says what is wrong, where, and what to do. Bad input raises no other errors.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

_MAX_PROBLEM, _MAX_NAME = 600, 200
"""Letters of a problem or hint, and of a file's name, that a message shows."""


class TieScopeError(Exception):
    """Base of all errors of this package: catch this one to catch them all."""


class UsageError(TieScopeError, ValueError):
    """A call asks for something that does not exist or omits something needed."""


class MissingPackageError(UsageError, ImportError):
    """An optional package is not installed; `extra` is the extra of this package that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        problem = f"{package} is not installed, or its version is too old."
        super().__init__(f'{problem} Install it: pip install "tiescope[{extra}]"')
        self._arguments = package, extra

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild the error in the process that receives it from a worker."""
        return type(self), self._arguments


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import what an extra installs; a MissingPackageError says how to install it."""
    try:
        yield
    except MissingPackageError:
        raise
    except ImportError as error:
        package = (error.name or extra).partition(".")[0]
        if package in {"metrics", "dashboard"}:
            raise
        raise MissingPackageError(package, extra) from error


class LibraryError(TieScopeError):
    """The library's stored data cannot be read or written now; nothing was changed."""


class ReadError(TieScopeError, ValueError):
    """A file or table cannot be read.

    Args:
        file: name of the file as the user knows it.
        problem: what is wrong, with the value.
        hint: what to do about it.
        line: line in the file, from 1; None if no line can be named.
        unit: what `line` counts if not lines: rows or entries.
    """

    def __init__(
        self, file: str, problem: str, hint: str = "", *, line: int | None = None, unit: str = "line"
    ) -> None:
        file, problem, hint = _printable(file, _MAX_NAME), _printable(problem), _printable(hint)
        place = file if line is None else f"{file}, {unit} {line}"
        super().__init__(f"{place}: {problem}. {hint}".strip())
        self.file = file
        self.line = line
        self.unit = unit
        self.problem = problem
        self.hint = hint
        self.header: tuple[str, ...] = ()
        self.mapping: dict[str, str] = {}

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild the error in the process that receives it from a worker."""
        rebuild = partial(type(self), line=self.line, unit=self.unit)
        return rebuild, (self.file, self.problem, self.hint), vars(self)

    def with_columns(self, header: Iterable[str], mapping: Mapping[str, str]) -> "ReadError":
        """Add the columns of the table, and our column → the one it was read from; return this error.

        The dashboard then offers to choose other columns.
        """
        self.header, self.mapping = tuple(header), dict(mapping)
        return self


def _printable(text: str, max_length: int = _MAX_PROBLEM) -> str:
    """Return the text without its middle if it is too long, and without halves of surrogate pairs."""
    if len(text) > max_length:
        half = max_length // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return text.encode("utf-8", "replace").decode()


class RepeatError(ReadError):
    """A document is twice in one list."""


def relevant_from_error(grade: float) -> UsageError:
    """Return the error for a threshold at which unjudged documents would be relevant."""
    return UsageError(f"relevant_from={grade}: it must be above 0, because unjudged documents have grade 0.")
