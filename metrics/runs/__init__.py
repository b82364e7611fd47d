"""Floor 1: what was ranked, as given."""

from metrics.runs.files import File
from metrics.runs.formats import FORMATS, Format, read
from metrics.runs.model import Runs, as_judgments, as_run, read_runs, read_table
from metrics.runs.source import Source

__all__ = [
    "FORMATS",
    "File",
    "Format",
    "Runs",
    "Source",
    "as_judgments",
    "as_run",
    "read",
    "read_runs",
    "read_table",
]
