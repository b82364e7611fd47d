"""Command lines that reproduce a page's results."""

import shlex
from operator import attrgetter

from dashboard.library.boards import Board
from dashboard.library.uploads import DROP_SELF, MISSING_SCORE
from metrics.report import ReportOptions

_DEFAULTS = ReportOptions()
_LINE = 60
"""Maximum letters of a command on one line."""
_OPTIONS = {
    "-m": "measures",
    "--traditional": "traditional",
    "--baseline": "baseline",
    "-r": "targets",
    "--targets-for": "targets_for",
    "--title": "title",
    "--reranker": "rerankers",
    "--segment": "segments",
    "--preset": "preset",
    "--section": "sections",
    "--precision": "scoring.precision",
    "--missing": "scoring.missing",
    "--empty": "scoring.empty",
    "--relevant-from": "scoring.relevant_from",
    "--tiebreak-by": "scoring.tiebreak_by",
    "--unjudged": "scoring.unjudged",
    "--criterion": "scoring.criteria",
}
"""Command-line option → field of `ReportOptions`."""


def _changed_options(options: ReportOptions) -> list[list[str]]:
    """Return the options that differ from their defaults, with values."""
    words = []
    for option, field in _OPTIONS.items():
        value = attrgetter(field)(options)
        if value != attrgetter(field)(_DEFAULTS):
            values = value if isinstance(value, tuple) else (value,)
            words += [[option, f"{item:g}" if isinstance(item, float) else str(item)] for item in values]
    return words


def command(board: Board, options: ReportOptions) -> str:
    """Return the command line that writes the report of a board."""
    files = list(zip(board.files, board.sources, strict=True))
    words = [["tiescope", "report", *(file.name for file, source in files if source.kind == "run")]]
    words += [["--qrels", file.name] for file, source in files if source.kind != "run"]
    words += _changed_options(options)
    if options.published is not None:
        words += [["--published", str(name)] for name in dict.fromkeys(options.published.figures["file"])]
        words += [["--names", f"{name}={ours}"] for name, ours in options.published_names]
    for name, choice in dict.fromkeys(pair for entry in board.spec.entries for pair in entry.columns):
        rules = {MISSING_SCORE: ["--missing-score", choice], DROP_SELF: ["--drop-self"]}
        words.append(rules.get(name, ["--column", f"{name}={choice}"]))
    if board.spec.repeated != "error":
        words.append(["--repeated", board.spec.repeated])
    words.append(["-o", "report.html"])
    lines = [shlex.join(part) for part in words]
    line = " ".join(lines)
    return line if len(line) <= _LINE else " \\\n  ".join(lines)
