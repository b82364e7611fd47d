import numpy as np
import pyarrow as pa
import pytest

from metrics.runs.inspection import Listing
from metrics.runs.query_doc_keys import QueryDocKeys


def summaries(findings):
    return [(one.severity, one.code, one.line, one.count, one.message) for one in findings]


def line_of(row):
    return row + 1


@pytest.fixture(scope="session")
def listing_of():
    """A listing from {query: scores, or (score, grade) pairs}; documents of each list are d1, d2 and so on."""

    def build(lists, *, ranks=None, name="llm", file="llm.trec", has_grades=None):
        rows = [
            (query, f"d{at}", *(one if isinstance(one, tuple) else (one, None)))
            for query, scores in lists.items()
            for at, one in enumerate(scores, 1)
        ]
        if has_grades is None:
            has_grades = any(grade is not None for *_, grade in rows)
        return rows_of(rows, ranks, name, file, has_grades)

    return build


@pytest.fixture(scope="session")
def listing_of_rows():
    """A listing from rows of query, document, score and grade, None where unjudged."""

    def build(rows, *, ranks=None, name="llm", file="llm.trec", has_grades=True):
        return rows_of(rows, ranks, name, file, has_grades)

    return build


def rows_of(rows, ranks, name, file, has_grades):
    queries, documents, scores, grades = zip(*rows, strict=True) if rows else ([], [], [], [])
    columns = {
        "query_id": pa.array(queries, pa.string()).dictionary_encode(),
        "doc_id": pa.array(documents, pa.string()),
        "score": pa.array(scores, pa.float64()),
    }
    if ranks is not None:
        columns["rank"] = pa.array(ranks)
    table = pa.table(columns)
    grade_array = np.array([np.nan if grade is None else grade for grade in grades], dtype=np.float64)
    return Listing(file, table, QueryDocKeys.of(table), line_of, name, grade_array if has_grades else None)


@pytest.fixture(scope="session")
def judged_of():
    """Judgments from {query: {document: grade}}."""

    def build(grades, file="qrels.txt"):
        rows = [(query, document, grade) for query, of in grades.items() for document, grade in of.items()]
        queries, documents, relevance = zip(*rows, strict=True) if rows else ([], [], [])
        table = pa.table(
            {
                "query_id": pa.array(queries, pa.string()).dictionary_encode(),
                "doc_id": pa.array(documents, pa.string()),
                "relevance": pa.array(relevance, pa.float64()),
            }
        )
        grade_array = np.array(relevance, dtype=np.float64)
        return Listing(file, table, QueryDocKeys.of(table), line_of, None, grade_array)

    return build


@pytest.fixture(scope="session")
def clean(listing_of):
    """A run that nothing is to be said of."""
    return listing_of({"q1": [(0.912345, 1), (0.812345, 0)], "q2": [(0.712345, 0), (0.612345, 2)]})
