"""Location and limits of the library."""

import os
from pathlib import Path

from platformdirs import user_data_path

from metrics.errors import LibraryError
from metrics.runs import files

HOME = "TIESCOPE_HOME"
"""Environment variable: folder of uploads and SQLite."""


def home() -> Path:
    """Return the folder that the environment names, by default the user's data folder."""
    return Path(os.environ.get(HOME) or user_data_path("tiescope", appauthor=False)).expanduser()


def byte_limit(variable: str, default: int) -> int:
    """Return a limit in bytes from a variable in megabytes; LibraryError if it is invalid."""
    try:
        return files.byte_limit(variable, default * 10**6)
    except ValueError as error:
        raise LibraryError(str(error)) from error
