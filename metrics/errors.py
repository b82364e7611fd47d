"""Every error TieScope raises, in one tree.

TieScopeError
├── ReadError     a file or table cannot be read: names file, line and value
└── UsageError    a call names something that does not exist, or lacks something it needs

A message says what, where and what to do. Nothing else escapes from bad input.
"""


class TieScopeError(Exception):
    """Base of all errors of this package: catch this one to catch them all."""


class UsageError(TieScopeError, ValueError):
    """A call asks for something that does not exist or leaves out something needed."""


class ReadError(TieScopeError, ValueError):
    """A file or table holds something that cannot be read.

    Args:
        file: name of the file as the user knows it.
        problem: what is wrong, with the value.
        hint: what to do about it.
        line: line in the file, first line 1; None where no line can be named.
    """

    def __init__(self, file: str, problem: str, hint: str = "", *, line: int | None = None) -> None:
        where = file if line is None else f"{file}, line {line}"
        super().__init__(f"{where}: {problem}. {hint}".strip())
        self.file = file
        self.line = line
        self.problem = problem
        self.hint = hint
