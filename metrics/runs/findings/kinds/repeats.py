"""Kinds of findings about repeats of one reranker that were combined."""

from metrics.runs.findings.kinds.kind import Kind

REPEAT_KINDS: tuple[Kind, ...] = (
    Kind(
        "repeats-combined",
        "info",
        "Several scorings of one reranker are one: the score is their mean, score_std how far they scatter.",
        "Score with the treatment noise to see what this scatter does to a measure.",
        "repeats combined to one reranker",
        "file",
    ),
    Kind(
        "repeats-incomplete",
        "warning",
        "Documents are missing from some repeat of a reranker; their mean is over the repeats that have them.",
        "Give every repeat the same documents: lists that end at a rank favour what barely reached it once.",
        "documents that some repeats lack",
        "file",
    ),
    Kind(
        "repeats-unlike",
        "warning",
        "Repeats of a reranker span unlike ranges of scores, so that one of them makes most of the mean.",
        "Check that they are repeats: same model, same scale, nothing but chance between them.",
        "repeats on unlike scales",
        "file",
    ),
)
"""Kinds of findings of repeats that are combined."""
