"""What hypothesis draws: short lists with many ties, one or several queries and rerankers."""

import math

import numpy as np
import pandas as pd
from enumeration import Doc
from hypothesis import strategies as st

MEASURES = ["RR", "RR@1", "RR@3", "Hits@1", "Hits@2", "Hits@3", "Hits@5", "Hits@10"]
TREATMENTS = ["expected", "input", "docid_desc", "docid_asc", "optimistic", "pessimistic"]

IDS = st.text("aZ09é-\uffff\U0001f600", min_size=1, max_size=3)
SCORES = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 0.5 + 2**-53, math.inf])
GRADES = st.sampled_from([0, 0, 1, 1, 2, 3, -1])


def lists(ids=IDS, scores=SCORES, grades=GRADES, *, untied=False):
    unique = (lambda doc: doc.id, lambda doc: doc.score) if untied else (lambda doc: doc.id)
    return st.lists(st.builds(Doc, ids, scores, grades), min_size=1, max_size=7, unique_by=unique)


def tables(**list_options):
    """Reranker → query → its list."""
    queries = st.dictionaries(
        st.sampled_from(["q1", "Q1", "7", "007"]), lists(**list_options), min_size=1, max_size=3
    )
    return st.dictionaries(st.sampled_from(["A", "B", "b"]), queries, min_size=1, max_size=3)


def frame(table):
    rows = [
        (reranker, query, *doc[:3])
        for reranker, queries in table.items()
        for query, docs in queries.items()
        for doc in docs
    ]
    return pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])


def one_list(scores, relevant, query="q", **columns):
    """The table of a list whose documents at some places are relevant."""
    grades = np.isin(np.arange(len(scores)), relevant).astype(float)
    documents = [f"d{number}" for number in range(len(scores))]
    table = pd.DataFrame({"doc_id": documents, "score": scores, "relevance": grades})
    return table.assign(query_id=query, **columns)


@st.composite
def scored_frames(draw):
    """A table whose scores have deviations, and what is done about those of them that are missing."""
    table = frame(draw(tables()))
    table["score_std"] = np.resize(draw(st.permutations([0.0, 0.3, 1.0])), len(table))
    missing_score = draw(st.sampled_from(["error", "last", "drop"]))
    if missing_score != "error":
        table["score"] = table["score"].replace({-np.inf: -9.0, 0.5: np.nan})
    return table, missing_score


def values(evaluation):
    """{(reranker, query, measure, ties): value}, to hold against a reference."""
    return {
        (*row, *column): v for column, rows in evaluation.scores.to_dict().items() for row, v in rows.items()
    }
