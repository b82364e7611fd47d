from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metrics.runs.formats.preferences import Comparisons

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 5), st.sampled_from([0, 0.5, 1])).filter(
        lambda row: row[1] != row[2]
    ),
    min_size=1,
    max_size=40,
)
"""List, two of its documents, and how the first of them fared."""


def comparisons_of(rows):
    names = sorted({(row[0], document) for row in rows for document in row[1:3]})
    place = {name: position for position, name in enumerate(names)}
    left, right = (np.array([place[row[0], row[side]] for row in rows]) for side in (1, 2))
    lists = np.unique([name[0] for name in names], return_inverse=True)[1]
    return names, Comparisons.of(lists, left, right, np.array([row[3] for row in rows], float))


def by_hand(rows):
    """{(list, document): Copeland score}, missing pairs, inconsistent pairs."""
    met = {}
    for which, first, second, result in rows:
        pair = (which, min(first, second), max(first, second))
        met.setdefault(pair, []).append(result if first < second else 1 - result)
    documents = {(which, document) for which, *pair in met for document in pair}
    scores = dict.fromkeys(documents, 0.0)
    for (which, first, second), results in met.items():
        mean = sum(results) / len(results)
        scores[which, first] += 1 if mean > 0.5 else 0.5 * (mean == 0.5)
        scores[which, second] += 1 if mean < 0.5 else 0.5 * (mean == 0.5)
    missing = sum((which == other) for (which, _), (other, _) in combinations(sorted(documents), 2)) - len(met)
    return scores, missing, sum(len(set(results)) > 1 for results in met.values())


@given(ROWS)
def test_copeland_missing_and_inconsistent_pairs_are_as_counted_by_hand(rows):
    names, comparisons = comparisons_of(rows)
    scores, missing, inconsistent = by_hand(rows)
    assert dict(zip(names, comparisons.copeland, strict=True)) == scores
    assert comparisons.n_missing.sum() == missing
    assert comparisons.is_inconsistent.sum() == inconsistent
