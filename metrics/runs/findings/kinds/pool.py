"""Kinds of findings about whose documents were judged."""

from metrics.runs.findings.kinds.kind import Kind

POOL_KINDS: tuple[Kind, ...] = (
    Kind(
        "unjudged",
        "info",
        "Documents near the top were judged by nobody and count as not relevant, which lowers scores.",
        "Read scores beside Judged@10; a reranker that finds new documents is hurt most.",
        "unjudged documents in the top 10",
    ),
    Kind(
        "outside-pool",
        "warning",
        "Far more of what a reranker puts first is unjudged than of what the others do, so it is compared by "
        "judgments that were made for them.",
        "Do not rank it by these scores alone: show what unjudged documents leave open, and have its first "
        "ones judged.",
        "far more unjudged documents than others have",
    ),
    Kind(
        "judged-from-run",
        "warning",
        "The judgments seem to have been made from one run: they know its documents and few of the others', so "
        "they favour it.",
        "Have the first documents of the other rerankers judged, too, before comparing them with it.",
        "judgments that seem to be made from one run",
    ),
)
"""Kinds of findings of the pool that was judged."""
