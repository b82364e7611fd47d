"""Where what is kept lies on disk."""

import os
from pathlib import Path

from platformdirs import user_data_path

HOME = "TIESCOPE_HOME"
"""Environment variable: the folder of uploads, of SQLite and of what was scored by path."""


def home() -> Path:
    """The folder the environment names, else the user's data folder."""
    return Path(os.environ.get(HOME) or user_data_path("tiescope", appauthor=False)).expanduser()
