"""Files for whoever judges: a line a document, in which the grade is missing."""

import pandas as pd

from metrics.errors import UsageError
from metrics.support.escaping import clean, csv_text

OPEN_GRADE = "?"
"""What stands for a grade in TREC qrels: a file with one left in it is refused, and says how many are."""
_ODD = ("#", "[", "{")
"""How a line begins that is no judgment."""


def trec_form(documents: pd.DataFrame) -> str:
    """Return TREC qrels to be filled in, `query 0 document ?`; UsageError where an id is not one word."""
    for kind, name in (("query", "query_id"), ("document", "doc_id")):
        if wrong := next((text for text in documents[name] if not _is_word(text)), None):
            raise UsageError(
                f"There is a {kind} called {clean(wrong)!r}: TREC qrels cannot say that. Write a CSV file."
            )
    pairs = zip(documents["query_id"], documents["doc_id"], strict=True)
    return "".join(f"{query} 0 {document} {OPEN_GRADE}\n" for query, document in pairs)


def csv_form(documents: pd.DataFrame) -> str:
    """Return a CSV file to be filled in: query_id, doc_id and an empty relevance."""
    return csv_text(documents[["query_id", "doc_id"]].assign(relevance=""))


def form_for(documents: pd.DataFrame) -> tuple[str, str]:
    """Return a form and the ending of its file: TREC qrels where all ids are words, else CSV."""
    try:
        return trec_form(documents), "txt"
    except UsageError:
        return csv_form(documents), "csv"


def _is_word(text: str) -> bool:
    return text.split() == [text] and not text.startswith(_ODD) and not {"\0", "\ufeff"} & set(text)
