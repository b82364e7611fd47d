"""Hashes of query and document."""

import numpy as np
import pyarrow as pa

from metrics.runs import query_doc_keys
from metrics.runs.query_doc_keys import QueryDocKeys, hashes_after


def test_a_million_pairs_of_ids_that_differ_in_their_digits_alone_have_hashes_of_their_own():
    queries, documents = 10, 100_000
    table = pa.table(
        {
            "query_id": np.repeat([f"test-{at}" for at in range(60, 60 + queries)], documents),
            "doc_id": np.tile([f"train-{at:06d}" for at in range(documents)], queries),
        }
    )
    assert len(np.unique(QueryDocKeys.of(table).hashes)) == queries * documents


def test_documents_are_hashed_once_for_repeats_and_for_judgments(monkeypatch):
    hashed_lengths = []

    def count(starts, start, texts):
        hashed_lengths.append(len(texts))
        return hashes_after(starts, start, texts)

    keys = QueryDocKeys.of(pa.table({"query_id": ["q"] * 40, "doc_id": [f"d{at}" for at in range(40)]}))
    judged = QueryDocKeys.of(pa.table({"query_id": ["q"], "doc_id": ["d7"]}))
    monkeypatch.setattr(query_doc_keys, "hashes_after", count)
    assert keys.repeats == (None, 0)
    assert [rows.tolist() for rows in keys.match(judged)] == [[7], [0]]
    assert hashed_lengths.count(40) == 1
