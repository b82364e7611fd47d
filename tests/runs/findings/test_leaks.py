from fractions import Fraction
from itertools import permutations
from math import nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.errors import UsageError
from metrics.runs.inspection import order_leaks

MIXED = st.lists(st.integers(0, 1), min_size=2, max_size=5).filter(lambda tie: 0 < sum(tie) < len(tie))


def ties(*grades):
    return {f"q{at}": [(1, grade) for grade in tie] for at, tie in enumerate(grades)}


def by_enumeration(tie):
    """Mean and variance of the sum of places of relevant documents over every order."""
    sums = [sum(at for at, grade in enumerate(order, 1) if grade) for order in permutations(tie)]
    mean = Fraction(sum(sums), len(sums))
    return mean, sum((one - mean) ** 2 for one in sums) / len(sums)


@given(st.lists(MIXED, min_size=1, max_size=3))
def test_expectation_and_deviation_are_those_of_every_order(listing_of, groups):
    groups = [sorted(tie, reverse=True) for tie in groups] * 40
    [finding] = order_leaks(listing_of(ties(*groups)))
    exact = [by_enumeration(tie) for tie in groups]
    n_relevant = sum(map(sum, groups))
    mean = sum(sum(range(1, sum(tie) + 1)) for tie in groups) / n_relevant
    expected = float(sum(mean for mean, _ in exact) / n_relevant)
    deviation = float(sum(variance for _, variance in exact)) ** 0.5 / n_relevant
    assert_facts(
        finding.message,
        f"their mean rank is {mean:.2f}, and the expected rank in random order is {expected:.2f}",
        f"({(expected - mean) / deviation:.1f} standard deviations apart)",
        f"{np.mean([sum(tie) / len(tie) for tie in groups]):.0%} would in random order",
    )


def assert_facts(message, *facts):
    assert [fact for fact in facts if fact not in message] == []


def test_relevant_documents_first_in_their_ties_make_file_order_look_better(listing_of):
    [finding] = order_leaks(listing_of(ties(*[[1, 0]] * 17)))
    assert (finding.severity, finding.code, finding.line, finding.count) == ("warning", "order-leaks", 1, 17)
    assert_facts(
        finding.message,
        "In 17 ties",
        "relevant documents tend to come before",
        "mean rank is 1.00",
        "random order is 1.50",
        "4.1 standard deviations",
        "100% of these ties begin with a relevant",
        "50% would in random order",
        "look better than it is",
    )


def test_relevant_documents_last_in_their_ties_make_file_order_look_worse(listing_of):
    [finding] = order_leaks(listing_of(ties(*[[0, None, 2]] * 13)))
    assert_facts(
        finding.message,
        "In 13 ties",
        "relevant documents tend to come after",
        "mean rank is 3.00",
        "random order is 2.00",
        "4.4 standard deviations",
        " 0% of these ties begin with a relevant",
        "33% would in random order",
        "look worse than it is",
    )


def test_four_standard_deviations_are_still_chance(listing_of):
    assert not list(order_leaks(listing_of(ties(*[[1, 0]] * 16))))


def test_ties_of_one_kind_of_document_say_nothing(listing_of):
    for ties_of in (ties([1, 1], [0, 0], [1]), {"q": [1, 1]}):
        assert not list(order_leaks(listing_of(ties_of)))


def test_the_line_is_that_of_the_first_mixed_tie(listing_of_rows):
    rows = [("p", "a", 3, 1)] + [(f"q{at}", f"d{place}", 1, 1 - place) for place in (0, 1) for at in range(17)]
    [finding] = order_leaks(listing_of_rows(rows))
    assert (finding.line, finding.count) == (2, 17)


def test_shuffled_ties_are_hardly_ever_taken_for_a_leak(listing_of):
    draw = np.random.default_rng(20)
    for _ in range(300):
        groups = [draw.permutation([1] * n_relevant + [0] * 6) for n_relevant in draw.integers(1, 5, 30)]
        assert not list(order_leaks(listing_of(ties(*groups))))


def one_tie_a_query():
    """One reranker, one tie a query: grade 2 comes last in half the queries, and the others have none."""
    queries, documents = np.divmod(np.arange(40 * 6), 6)
    columns = {"query_id": [f"q{at}" for at in queries], "doc_id": [f"d{at}" for at in documents], "score": 1.0}
    return Runs.from_frame(pd.DataFrame(columns).assign(relevance=[1, 1, 1, 1, 0, 2, 1, 1, 1, 0, 0, 0] * 20))


def test_findings_about_relevance_use_the_threshold_as_scores_do():
    runs = one_tie_a_query()
    means = evaluate(runs, "RR", ["input", "expected"], relevant_from=2).means("RR").iloc[0]
    assert means.round(3).to_dict() == {"input": 0.083, "expected": 0.204}
    findings = runs.findings_from(2).set_index("code")["message"]
    assert_facts(findings["order-leaks"], "In 20 ties", "come after the others", "look worse than it is")
    without = "20 of 40 queries have no document of grade 2 or more, 'q1' first."
    assert findings["nothing-relevant"].endswith(without)
    from_grade_1 = runs.findings.set_index("code")["message"]
    assert "look better than it is" in from_grade_1["order-leaks"]
    assert "nothing-relevant" not in from_grade_1


@pytest.mark.parametrize("relevant_from", [0, -1, nan])
def test_unjudged_documents_cannot_be_relevant_to_the_findings(relevant_from):
    with pytest.raises(UsageError, match=r"relevant_from=.* must be above 0"):
        one_tie_a_query().findings_from(relevant_from)
