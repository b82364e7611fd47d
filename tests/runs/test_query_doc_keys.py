"""Hashes of query and document."""

import numpy as np
import pyarrow as pa

from metrics.runs.query_doc_keys import QueryDocKeys


def test_a_million_pairs_of_ids_that_differ_in_their_digits_alone_have_hashes_of_their_own():
    queries, documents = 10, 100_000
    table = pa.table(
        {
            "query_id": np.repeat([f"test-{at}" for at in range(60, 60 + queries)], documents),
            "doc_id": np.tile([f"train-{at:06d}" for at in range(documents)], queries),
        }
    )
    assert len(np.unique(QueryDocKeys.of(table).hashes)) == queries * documents
