"""Delimited formats: tables with a header, TREC runs and judgments, and runs of MS MARCO."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pyarrow.compute as pc

from metrics.runs.columns import BY_NAME, recognise
from metrics.runs.conversion import answer_column
from metrics.runs.findings import make_finding
from metrics.runs.formats.delimited import fixed_format, head_row, open_table, table_format
from metrics.runs.formats.format import Format, Head
from metrics.runs.repeats import FORMAT as REPEATED_SCORES
from metrics.runs.repeats import numbered_scores
from metrics.runs.source import Source

_BEIR_COLUMNS = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}


def _is_beir(head: Head) -> bool:
    return [name.casefold() for name in head.header] == list(_BEIR_COLUMNS.values())


def _beir_columns(header: Sequence[str]) -> dict[str, str]:
    return dict(zip(_BEIR_COLUMNS, header, strict=True))


def is_table(head: Head) -> bool:
    """Return whether the first line names columns, and is none of a run whose id is spelled like one."""
    names_columns = bool({"query_id", "doc_id"} & recognise(head.header).keys())
    return names_columns and len(head.header) > 1 and not head.ends_in_a_number


def _is_answers(head: Head) -> bool:
    """Return whether the score of such a table is a column of answers in words."""
    return is_table(head) and bool(_answers_column(head))


def _answers_column(head: Head) -> dict[str, str]:
    return answer_column(head.header, head_row(head)[2])


def _has_repeats(head: Head) -> bool:
    """Return whether such a table has no score, and several numbered ones."""
    return is_table(head) and "score" not in recognise(head.header) and bool(numbered_scores(head.header))


TABLE = table_format(
    "table",
    f"CSV, TSV or semicolon table with a header; columns {', '.join(BY_NAME)}.",
    "reranker,query_id,doc_id,score,relevance\nllm,q1,d7,0.9,1\nllm,q1,d2,0.9,0",
    is_table,
)
FORMATS = (
    table_format(
        "beir-qrels",
        "BEIR judgments: query-id, corpus-id, score.",
        "query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td2\t0",
        _is_beir,
        _beir_columns,
    ),
    table_format(
        "answers",
        "Table with the answers of a language model as they come; the score is the number after a label such "
        "as Score, else the only number; of 7/10 it is 7. What holds none has no score.",
        'query_id,doc_id,answer\nq1,d7,**Relevance: 3**\nq1,d2,"I\'d rate this 2/3, being partial."',
        _is_answers,
        lambda header: answer_column(header, ["score: 1"] * len(header)),
    ),
    Format(
        REPEATED_SCORES,
        "Table with several scorings of one reranker, score_1, score_2 ..., and no score; the score is their "
        "mean, score_std how far one of them scatters.",
        "query_id,doc_id,score_1,score_2,score_3\nq1,d7,0.9,0.7,0.8\nq1,d2,0.8,0.8,0.8",
        _has_repeats,
        lambda head, choice: open_table(head, choice, REPEATED_SCORES, lambda _: {}).read(),
    ),
    TABLE,
)


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


LINE_FORMATS = (
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
