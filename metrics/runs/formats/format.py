"""All formats, as the Guide shows them, and files that are opened before their rows are read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from metrics.runs.columns import COLUMNS, MissingScore
from metrics.runs.files import File
from metrics.runs.source import Source


@dataclass(frozen=True, kw_only=True)
class FileTable(ABC):
    """A file whose columns are known before its rows are read, and the columns to read from it.

    Attributes:
        file: the file.
        header: names of its columns.
        mapping: our column → the file's.
        extras: further score columns to read.
        missing_score: handling of documents without a numeric score.
    """

    file: File
    header: tuple[str, ...]
    mapping: Mapping[str, str]
    extras: tuple[str, ...] = ()
    missing_score: MissingScore = "error"

    @property
    def columns_read(self) -> list[str]:
        """Columns of the file to read."""
        return [*self.mapping.values(), *self.extras]

    @abstractmethod
    def read(self) -> Source:
        """Read the whole file; a ReadError if it is damaged, too large or not readable."""


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
        name: as in `Source.format`.
        summary: one line for people.
        example: three lines of such a file; for a binary format, Python code that writes one.
        has_header: the file names its columns.
        scores_may_be_grades: its numbers may be scores or grades.
        tie_order: how the software that the format belongs to breaks ties.
        fields: names of the fields of lines without a header.
        mapping: our column → the field, for such lines.
    """

    name: str
    summary: str
    example: str
    has_header: bool = True
    scores_may_be_grades: bool = False
    tie_order: str = "input"
    fields: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)


def _lines(name: str, summary: str, example: str, fields: str, number: str, tie_order: str = "input") -> Format:
    """Declare a format of lines without a header; `number` is the field of the score, or the relevance."""
    ours = "relevance" if number == "relevance" else "score"
    mapping = {"query_id": "query_id", "doc_id": "doc_id", ours: number}
    return Format(
        name, summary, example, False, tie_order=tie_order, fields=tuple(fields.split()), mapping=mapping
    )


LINE_FORMATS = (
    _lines(
        "trec-run",
        "TREC run: query Q0 document rank score tag.",
        "q1 Q0 d7 1 0.9 llm\nq1 Q0 d2 2 0.9 llm\nq2 Q0 d4 1 0.3 llm",
        "query_id Q0 doc_id rank score tag",
        "score",
        "docid_desc",
    ),
    _lines(
        "colbert",
        "ColBERT ranking: query document rank score.",
        "0\t7\t1\t0.9\n0\t2\t2\t0.9\n1\t4\t1\t0.3",
        "query_id doc_id rank score",
        "score",
    ),
    _lines(
        "trec-qrels",
        "TREC judgments: query 0 document grade.",
        "q1 0 d7 1\nq1 0 d2 0\nq2 0 d4 2",
        "query_id iteration doc_id relevance",
        "relevance",
    ),
    _lines(
        "ranked",
        "MS MARCO run: query document rank.",
        "q1\td7\t1\nq1\td2\t2\nq2\td4\t1",
        "query_id doc_id rank",
        "rank",
    ),
)
"""Formats of lines without a header that are cut into fields, in the order in which they are tried."""
FORMATS = (
    Format(
        "parquet",
        "Parquet table; columns as in a CSV table.",
        'import pandas as pd\ntable = pd.read_csv("llm.csv")\ntable.to_parquet("llm.parquet")',
    ),
    Format(
        "listwise",
        "Permutations such as [3] > [1] > [2], with the documents shown (RankGPT, RankLLM); documents that an "
        "answer leaves out are tied below the others.",
        '{"qid": "q1", "candidates": [{"docid": "d7"}, {"docid": "d2"}], "response": "[2] > [1]"}\n'
        '{"qid": "q2", "candidates": [{"docid": "d4"}, {"docid": "d9"}], "response": "[1]"}\n'
        '{"qid": "q3", "candidates": [{"docid": "d1"}, {"docid": "d4"}], "response": "Sorry, no."}',
    ),
    Format(
        "preferences",
        "Preferences between two documents, one row or record each. The column preferred holds a document ID, "
        "a or b, 1 or 2, or tie. The score is Copeland's: pairs won plus half of the tied pairs.",
        "query,a,b,preferred\nq1,d7,d2,d7\nq1,d2,d7,d7",
    ),
    Format(
        "grade-probabilities",
        "Probabilities of grades, or their logarithms, for documents without a score. The score is the "
        "expected grade, score_std its standard deviation, argmax_grade the most likely grade.",
        "query_id,doc_id,p_0,p_1,p_2\nq1,d7,0.1,0.3,0.6\nq1,d2,0,0.25,0.75",
    ),
    Format(
        "json-lists",
        "JSON rankings, or relevant documents, without scores: {query: [document, ...]}. One object may hold "
        "both: rankings in results, relevant documents in ground_truth.",
        '{"q1": ["d7",\n        "d2"],\n "q2": ["d4"]}',
        has_header=False,
        scores_may_be_grades=True,
    ),
    Format(
        "json-hits",
        "JSON hits by query: {query: [{doc_id, score, ...}, ...]}, or a list of such lists, whose queries are "
        "numbered from 0.",
        '{"q1": [{"doc_id": "d7", "score": 0.9},\n        {"doc_id": "d2", "score": 0.9}],\n'
        ' "q2": [{"doc_id": "d4", "score": 0.3}]}',
        has_header=False,
        scores_may_be_grades=True,
    ),
    Format(
        "rank-eval",
        "Response of the ranking evaluation (_rank_eval) of Elasticsearch and OpenSearch: scores and ratings.",
        '{"details": {"q1": {"hits": [{"hit": {"_id": "d7", "_score": 0.9}, "rating": 1},\n'
        '                             {"hit": {"_id": "d2", "_score": 0.9}, "rating": 0}]},\n'
        '             "q2": {"hits": [{"hit": {"_id": "d4", "_score": 0.3}, "rating": 1}]}}}',
        has_header=False,
    ),
    Format(
        "mteb-predictions",
        "MTEB's predictions: {subset: {split: {query: {document: score}}}}; several subsets or splits become "
        "query groups.",
        '{"mteb_model_meta": {"model_name": "llm"},\n "default": {"test": {"q1": {"d7": 0.9, "d2": 0.9},\n'
        '                      "q2": {"d4": 0.3}}}}',
        has_header=False,
        scores_may_be_grades=True,
        tie_order="docid_desc",
    ),
    Format(
        "nested-json",
        "JSON by query and document: {query: {document: score}}; if all numbers are whole, they are grades.",
        '{"q1": {"d7": 0.9,\n        "d2": 0.9},\n "q2": {"d4": 0.3}}',
        has_header=False,
        scores_may_be_grades=True,
    ),
    Format(
        "json",
        "JSON records: [{query_id, doc_id, score, ...}, ...].",
        '[{"query_id": "q1", "doc_id": "d7", "score": 0.9},\n'
        ' {"query_id": "q1", "doc_id": "d2", "score": 0.9},\n'
        ' {"query_id": "q2", "doc_id": "d4", "score": 0.3}]',
    ),
    Format(
        "jsonl",
        "JSON, one record per line. Nested fields get dotted names, and each document in an array "
        "becomes a row.",
        '{"query_id": "q1", "doc_id": "d7", "score": 0.9}\n'
        '{"query_id": "q1", "doc_id": "d2", "score": 0.9}\n'
        '{"query_id": "q2", "doc_id": "d4", "score": 0.3}',
    ),
    Format(
        "beir-qrels",
        "BEIR judgments: query-id, corpus-id, score. If a score is not a whole number, they are a run.",
        "query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td2\t0",
    ),
    Format(
        "ranked-cells",
        "Table with one row per query and its documents in one cell, best first, as in submissions to Kaggle, "
        'or with scores as JSON: {"d7": 0.9, "d2": 0.9}.',
        "query_id,doc_ids\nq1,d7 d2 d9\nq2,d4 d1",
    ),
    Format(
        "answers",
        "Table with the answers of a language model. The score is the number that an answer is, or has after a "
        "label such as Score or in JSON (7/10 gives 7). Other answers have no score.",
        'query_id,doc_id,answer\nq1,d7,**Relevance: 3**\nq1,d2,"I\'d rate this 2/3, being partial."',
    ),
    Format(
        "table",
        f"CSV, TSV or semicolon table with a header; columns {', '.join(column.name for column in COLUMNS)}.",
        "reranker,query_id,doc_id,score,relevance\nllm,q1,d7,0.9,1\nllm,q1,d2,0.9,0",
    ),
    Format(
        "letor",
        "LETOR lines: grade, qid:query and features; scored by files of predictions, one number per line.",
        "2 qid:1 1:0.5 2:0.3 # docid = d7\n0 qid:1 1:0.1 2:0.3 # docid = d2\n1 qid:2 1:0.4 2:0.9 # docid = d4",
        has_header=False,
    ),
    *LINE_FORMATS,
)
"""All formats."""
_WITHOUT_FILES = (Format("frame", "", ""), Format("predictions", "", "", has_header=False))
FORMATS_BY_NAME: Mapping[str, Format] = {each.name: each for each in (*FORMATS, *_WITHOUT_FILES)}
"""Formats by `Source.format`, also of frames, and of predictions before they have queries and documents."""
