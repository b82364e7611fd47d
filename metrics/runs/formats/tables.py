"""Tables with a header: CSV, TSV and semicolon tables, and the judgments of BEIR."""

from collections.abc import Sequence

from metrics.runs.formats.delimited import table_format
from metrics.runs.formats.format import Head
from metrics.runs.reading.columns import BY_NAME, recognise

_BEIR_COLUMNS = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}


def _is_beir(head: Head) -> bool:
    return [name.casefold() for name in head.header] == list(_BEIR_COLUMNS.values())


def _beir_columns(header: Sequence[str]) -> dict[str, str]:
    return dict(zip(_BEIR_COLUMNS, header, strict=True))


def _is_table(head: Head) -> bool:
    return {"query_id", "doc_id"} & recognise(head.header).keys() != set() and len(head.header) > 1


TABLE = table_format(
    "table",
    f"CSV, TSV or semicolon table with a header; columns {', '.join(BY_NAME)}.",
    "reranker,query_id,doc_id,score,relevance\nllm,q1,d7,0.9,1\nllm,q1,d2,0.9,0",
    _is_table,
)
FORMATS = (
    table_format(
        "beir-qrels",
        "BEIR judgments: query-id, corpus-id, score.",
        "query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td2\t0",
        _is_beir,
        _beir_columns,
    ),
    TABLE,
)
