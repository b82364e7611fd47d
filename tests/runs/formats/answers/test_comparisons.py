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
    """{(list, document): Copeland score}, missing pairs, inconsistent pairs, lists with a cycle."""
    met = {}
    for which, first, second, result in rows:
        pair = (which, min(first, second), max(first, second))
        met.setdefault(pair, []).append(result if first < second else 1 - result)
    documents = {(which, document) for which, *pair in met for document in pair}
    scores, beats = dict.fromkeys(documents, 0.0), set()
    for (which, first, second), results in met.items():
        mean = sum(results) / len(results)
        scores[which, first] += 1 if mean > 0.5 else 0.5 * (mean == 0.5)
        scores[which, second] += 1 if mean < 0.5 else 0.5 * (mean == 0.5)
        if mean != 0.5:
            beats.add(((which, first), (which, second))[:: 1 if mean > 0.5 else -1])
    missing = sum((which == other) for (which, _), (other, _) in combinations(sorted(documents), 2)) - len(met)
    for middle in documents:
        beats |= {
            (one, two) for one in documents for two in documents if {(one, middle), (middle, two)} <= beats
        }
    cyclic = {document for document in documents if (document, document) in beats}
    return scores, missing, sum(len(set(results)) > 1 for results in met.values()), cyclic


@given(ROWS)
def test_copeland_missing_inconsistent_and_cycles_are_as_counted_by_hand(rows):
    names, comparisons = comparisons_of(rows)
    scores, missing, inconsistent, cyclic = by_hand(rows)
    assert dict(zip(names, comparisons.copeland, strict=True)) == scores
    assert comparisons.n_missing.sum() == missing
    assert comparisons.is_inconsistent.sum() == inconsistent
    assert {name for name, is_cyclic in zip(names, comparisons.is_in_cycle, strict=True) if is_cyclic} == cyclic


@given(ROWS)
def test_the_slope_of_the_likelihood_is_zero_at_bradley_terry_scores(rows):
    _, comparisons = comparisons_of(rows)
    assert np.abs(comparisons.gradient(comparisons.bradley_terry())).max() < 1e-5


@given(ROWS, st.randoms(use_true_random=False))
def test_documents_that_fared_alike_tie_exactly_in_bradley_terry_scores(rows, random):
    """Two documents that met the same others with the same results, in any order of the rows."""
    twins = [(which, 9, second, result) for which, first, second, result in rows if first == 0 and second != 0]
    twins += [(which, first, 9, result) for which, first, second, result in rows if second == 0]
    rows = [*rows, *twins]
    random.shuffle(rows)
    names, comparisons = comparisons_of(rows)
    scores = dict(zip(names, comparisons.bradley_terry(), strict=True))
    for which in range(3):
        if (which, 9) in scores:
            assert scores[which, 9] == scores[which, 0]


def test_bradley_terry_scores_agree_with_hunters_mm_iteration():
    """Equation 3 of Hunter, 2004, with one tie of each document with one of ability 1."""
    rng = np.random.default_rng(3)
    rows = [(0, *rng.choice(6, 2, replace=False).tolist(), rng.choice([0, 0.5, 1])) for _ in range(80)]
    _, comparisons = comparisons_of(rows)
    ability = np.ones(len(comparisons.list_of))
    first, second = comparisons.first, comparisons.second
    wins = (
        0.5 + np.bincount(first, comparisons.wins, 6) + np.bincount(second, comparisons.n - comparisons.wins, 6)
    )
    for _ in range(5000):
        share = comparisons.n / (ability[first] + ability[second])
        ability = wins / (np.bincount(first, share, 6) + np.bincount(second, share, 6) + 1 / (ability + 1))
    assert np.allclose(comparisons.bradley_terry(), np.log(ability), atol=1e-6)
