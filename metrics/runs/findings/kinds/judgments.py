"""Kinds of findings about judgments that come from several files."""

from metrics.runs.findings.kinds.kind import Kind

JUDGMENT_KINDS: tuple[Kind, ...] = (
    Kind(
        "judged-twice",
        "info",
        "Documents are judged in two files, with the same grade; each counts once.",
        "Nothing to do: they agree.",
        "judged alike in two files",
        "file",
    ),
    Kind(
        "grades-contradict",
        "warning",
        "Documents have another grade in another file of judgments, and one of them counts, as you chose.",
        "Ask those who judged which grade holds, and leave the other out.",
        "graded unlike in two files",
        "file",
    ),
)
"""Kinds of findings of judgments from several files."""
