"""Hashes of query and document."""

import numpy as np
import pyarrow as pa

from metrics.runs import query_doc_keys
from metrics.runs.query_doc_keys import QueryDocKeys, hashes_after


def test_a_million_ids_that_differ_only_in_digits_have_distinct_hashes():
    queries, documents = 10, 100_000
    table = pa.table(
        {
            "query_id": np.repeat([f"test-{at}" for at in range(60, 60 + queries)], documents),
            "doc_id": np.tile([f"train-{at:06d}" for at in range(documents)], queries),
        }
    )
    assert len(np.unique(QueryDocKeys.of(table).hashes)) == queries * documents


def test_matching_reuses_the_hashes_that_found_no_repeats_and_frees_them(monkeypatch):
    keys = QueryDocKeys.of(pa.table({"query_id": ["q"] * 40, "doc_id": [f"d{at}" for at in range(40)]}))
    judged = QueryDocKeys.of(pa.table({"query_id": ["q"], "doc_id": ["d7"]}))
    assert keys.repeats == judged.repeats == (None, 0)
    hashes = keys.hashes.copy()
    with monkeypatch.context() as patch:
        patch.delattr(query_doc_keys, "hashes_after")
        assert [rows.tolist() for rows in keys.match(judged)] == [[7], [0]]
    assert "hashes" not in vars(keys)
    np.testing.assert_array_equal(keys.hashes, hashes)


def test_pairs_whose_hashes_collide_are_told_apart_by_query_and_by_document(monkeypatch):
    monkeypatch.setattr(query_doc_keys, "hashes_after", lambda _, __, texts: np.zeros(len(texts), np.uint64))
    keys = QueryDocKeys.of(pa.table({"query_id": ["p", "q", "q", "r"], "doc_id": ["d", "d", "e", "e"]}))
    judged = QueryDocKeys.of(pa.table({"query_id": ["s", "q", "q"], "doc_id": ["d", "e", "d"]}))
    rows, judgments = keys.match(judged)
    assert dict(zip(rows.tolist(), judgments.tolist(), strict=True)) == {1: 2, 2: 1}
    assert keys.repeats == (None, 0)


def test_a_hash_does_not_depend_on_the_rows_hashed_with_it(monkeypatch):
    texts = pa.array(["", "a", "\0a", "a\0", "seventeen letters", "eighteen letters..", "ab"] * 5)
    starts = np.random.default_rng(1).integers(2**63, size=3, dtype=np.uint64)
    start = np.arange(len(texts), dtype=np.int32) % 3
    hashes = hashes_after(starts, start, texts)
    monkeypatch.setattr(query_doc_keys, "_CACHED_ROWS", 4)
    np.testing.assert_array_equal(hashes_after(starts, start, texts), hashes)
    assert len(np.unique(hashes)) == 7 * 3
