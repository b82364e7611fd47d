"""Where what is kept lies on disk, and how much of it there may be: the environment says both."""

import os
from pathlib import Path

from platformdirs import user_data_path

from metrics.errors import LibraryError
from metrics.support import environment

HOME = "TIESCOPE_HOME"
"""Environment variable: the folder of uploads, of SQLite and of what was scored by path."""


def home() -> Path:
    """Return the folder that the environment names, else the user's data folder."""
    return Path(os.environ.get(HOME) or user_data_path("tiescope", appauthor=False)).expanduser()


def byte_limit(variable: str, default: int) -> int:
    """Return a limit of the environment, whole megabytes, in bytes; LibraryError where it is no number."""
    try:
        return environment.byte_limit(variable, default * 10**6)
    except ValueError as error:
        raise LibraryError(str(error)) from error
