"""Forms of documents to be judged."""

import pandas as pd
import pytest

from metrics import UsageError
from metrics.runs import File, read
from metrics.studies.leaderboard.judging import csv_form, form_for, trec_form


@pytest.mark.parametrize(
    ("query", "document", "ending"),
    [
        ("q1", "d1", "txt"),
        ("q 1", "d1", "csv"),
        ("q1", 'a,"b c', "csv"),
        ("#q", "d", "csv"),
        ("q", "مستند", "txt"),
    ],
)
def test_a_form_that_is_filled_in_is_read_as_judgments_of_the_same_documents(query, document, ending):
    documents = pd.DataFrame({"query_id": [query], "doc_id": [document]})
    text, chosen = form_for(documents)
    assert chosen == ending
    filled = text.replace("?", "2") if ending == "txt" else text[:-1] + "2\n"
    source = read(File(f"form.{ending}", filled.encode()))
    assert source.kind == "qrels"
    assert source.table.to_pandas().astype({"query_id": str}).to_dict("records") == [
        {"query_id": query, "doc_id": document, "relevance": 2.0}
    ]


def test_trec_qrels_refuse_what_they_cannot_say():
    documents = pd.DataFrame({"query_id": ["q"], "doc_id": ["a b"]})
    with pytest.raises(UsageError, match="document called 'a b'"):
        trec_form(documents)
    assert csv_form(documents) == "query_id,doc_id,relevance\nq,a b,\n"
