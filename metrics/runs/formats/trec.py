"""Lines without a header: TREC runs and judgments, and runs of MS MARCO, which have ranks and no scores."""

from dataclasses import replace
from itertools import pairwise

import pyarrow.compute as pc

from metrics.runs.findings import make_finding
from metrics.runs.formats.delimited import fixed_format
from metrics.runs.formats.format import Head
from metrics.runs.reading.source import Source

_RANKED_COLUMNS = ("query_id", "doc_id", "rank")
_MAX_DIGITS = 9
"""Digits of a rank; longer numbers are something else."""


def _is_ranked(head: Head) -> bool:
    """Return whether lines have three fields, the last of which counts up by one in the first list."""
    width = len(_RANKED_COLUMNS)
    if head.width != width or any(len(line) != width for line in head.lines[:-1]):
        return False
    fields = [line[2] for line in head.lines if line[0] == head.lines[0][0] and len(line) == width]
    if not all(field.isdigit() and len(field) <= _MAX_DIGITS for field in fields):
        return False
    ranks = [int(field) for field in fields]
    return ranks[0] in (0, 1) and all(after - before == 1 for before, after in pairwise(ranks))


def _ranks_as_scores(source: Source) -> Source:
    """Return the source, its scores minus the ranks where ranks are all there is."""
    if source.mapping.get("score") != "rank":
        return source
    place = source.table.column_names.index("score")
    table = source.table.set_column(place, "score", pc.negate(source.table["score"]))
    message = "The file gives ranks and no scores: the score is minus the rank, so ties cannot show."
    finding = make_finding("ranks-as-scores", source.file, message, count=len(table))
    return replace(source, table=table, noted=(*source.noted, finding))


FORMATS = (
    replace(
        fixed_format(
            "trec-run",
            "TREC run: query Q0 document rank score tag.",
            "q1 Q0 d7 1 0.9 llm\nq1 Q0 d2 2 0.9 llm\nq2 Q0 d4 1 0.3 llm",
            ("query_id", "Q0", "doc_id", "rank", "score", "tag"),
            {"query_id": "query_id", "doc_id": "doc_id", "score": "score"},
        ),
        tie_order="docid_desc",
    ),
    fixed_format(
        "trec-qrels",
        "TREC judgments: query 0 document grade.",
        "q1 0 d7 1\nq1 0 d2 0\nq2 0 d4 2",
        ("query_id", "iteration", "doc_id", "relevance"),
        {"query_id": "query_id", "doc_id": "doc_id", "relevance": "relevance"},
    ),
    fixed_format(
        "ranked",
        "MS MARCO run: query document rank.",
        "q1\td7\t1\nq1\td2\t2\nq2\td4\t1",
        _RANKED_COLUMNS,
        {"query_id": "query_id", "doc_id": "doc_id", "score": "rank"},
        recognises=_is_ranked,
        finish=_ranks_as_scores,
    ),
)
