"""Environment variables that several parts of the app read; `library` names its own."""

import os
from pathlib import Path

from metrics.errors import LibraryError

OPEN = "TIESCOPE_OPEN"
"""Files to open: JSON with runs, qrels and stored."""
ALLOW = "TIESCOPE_ALLOW"
"""Addresses and domains that may sign in, separated by commas."""
INSECURE = "TIESCOPE_INSECURE"
"""1 disables sign-in on every address."""
EMBED = "TIESCOPE_EMBED"
"""Origins that may embed the app in a frame, separated by spaces."""
ALLOW_HOST = "TIESCOPE_ALLOW_HOST"
"""Further hosts and origins that the server answers to, separated by spaces."""
UPLOAD_LIMITS = {"TIESCOPE_MAX_VISITOR_MB": 1_000, "TIESCOPE_MAX_VISITORS_MB": 4_000}
"""Default megabytes of uploads per visitor (per page without sign-in) and for the server."""
HOME = "TIESCOPE_HOME"
"""Environment variable: folder of uploads and SQLite."""


def home() -> Path:
    """Return the folder that the environment names, by default the user's data folder."""
    from platformdirs import user_data_path  # noqa: PLC0415 comes with the app, commands run without it

    return Path(os.environ.get(HOME) or user_data_path("tiescope", appauthor=False)).expanduser()


def byte_limit(variable: str, default: int) -> int:
    """Return a limit in bytes from a variable in megabytes; LibraryError if it is invalid."""
    from metrics.runs.files import byte_limit as bytes_of  # noqa: PLC0415 the server loads it, commands do not

    try:
        return bytes_of(variable, default * 10**6)
    except ValueError as error:
        raise LibraryError(str(error)) from error
