"""Tables with a header: CSV, TSV and semicolon tables, and the judgments of BEIR."""

from collections.abc import Sequence

from metrics.runs.formats.delimited import head_row, open_table, table_format
from metrics.runs.formats.format import Format, Head
from metrics.runs.reading.columns import BY_NAME, recognise
from metrics.runs.reading.worded_grades import answer_column
from metrics.runs.repeats.columns import FORMAT as REPEATED_SCORES
from metrics.runs.repeats.names import numbered_scores

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
