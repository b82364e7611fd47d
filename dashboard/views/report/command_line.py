"""The command line that makes the report a page shows. No streamlit inside."""

import shlex
from operator import attrgetter

from dashboard.library import Board
from metrics.report import ReportOptions

_USUAL = ReportOptions()
_LINE = 60
"""Letters of a command that stands on one line."""
_OPTIONS = {
    "-m": "measures",
    "--traditional": "traditional",
    "--baseline": "baseline",
    "-r": "targets",
    "--targets-for": "targets_for",
    "--title": "title",
    "--reranker": "rerankers",
    "--segment": "segments",
    "--section": "sections",
    "--precision": "scoring.precision",
    "--missing": "scoring.missing",
    "--empty": "scoring.empty",
    "--relevant-from": "scoring.relevant_from",
}
"""Option of the command → choice it makes."""


def command(board: Board, choices: ReportOptions) -> str:
    """The command line that makes the HTML file of these choices."""
    words = [["tiescope", "report"]]
    pairs = list(zip(board.files, board.sources, strict=True))
    words[0] += [file.name for file, source in pairs if source.kind == "run"]
    words += [["--qrels", file.name] for file, source in pairs if source.kind != "run"]
    for option, field in _OPTIONS.items():
        value, usual = attrgetter(field)(choices), attrgetter(field)(_USUAL)
        if value != usual:
            each = value if isinstance(value, tuple) else [f"{value:g}" if isinstance(value, float) else value]
            words += [[option, str(one)] for one in each]
    columns = dict.fromkeys(pair for entry in board.spec.entries for pair in entry.columns)
    words += [["--column", f"{ours}={theirs}"] for ours, theirs in columns]
    if board.spec.repeated != "error":
        words.append(["--repeated", board.spec.repeated])
    words.append(["-o", "report.html"])
    lines = [shlex.join(part) for part in words]
    together = " ".join(lines)
    return together if len(together) <= _LINE else " \\\n  ".join(lines)
