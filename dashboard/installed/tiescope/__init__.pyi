from pathlib import Path

from metrics import *  # noqa: F403 a stub hands on what it imports so

ROOT: Path
