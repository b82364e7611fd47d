import pandas as pd
import pytest
from drawing import TREATMENTS

import metrics
from metrics import Runs, UsageError, evaluate


def rr(documents, ties, **policies):
    rows = pd.DataFrame(documents, columns=["doc_id", "score", "relevance"]).assign(query_id="q")
    return evaluate(Runs.from_frame(rows), ["RR"], [ties], **policies).scores.iloc[0, 0]


def test_the_treatments_are_those_that_are_promised():
    assert [one.name for one in metrics.TREATMENTS] == [*TREATMENTS, "std"]


@pytest.mark.parametrize("treatment", metrics.TREATMENTS, ids=lambda treatment: treatment.name)
def test_a_treatment_says_in_one_line_what_it_does_and_who_does_it(treatment):
    for text in (treatment.summary, treatment.used_by):
        assert text.strip()
        assert "\n" not in text


def test_input_keeps_the_order_of_the_file_inside_a_tie():
    assert rr([("z", 1, 0), ("a", 1, 1), ("m", 1, 0)], "input") == pytest.approx(1 / 2)


@pytest.mark.parametrize(("ties", "rank"), [("docid_asc", 3), ("docid_desc", 2)])
def test_docid_treatments_compare_ids_by_code_point_not_by_alphabet_or_number(ties, rank):
    assert rr([("10", 1, 0), ("9", 1, 0), ("a", 1, 1), ("é", 1, 0)], ties) == pytest.approx(1 / rank)


def test_docid_order_holds_past_the_basic_plane_where_utf16_order_differs():
    documents = [("\U0001f600", 1, 1), ("\uffff", 1, 0)]
    assert rr(documents, "docid_desc") == 1
    assert rr(documents, "docid_asc") == pytest.approx(1 / 2)


def test_upper_case_comes_before_lower_case():
    assert rr([("a", 1, 1), ("B", 1, 0)], "docid_asc") == pytest.approx(1 / 2)


@pytest.mark.parametrize(("ties", "value"), [("optimistic", 1), ("pessimistic", 1 / 4)])
def test_best_and_worst_put_relevant_documents_first_and_last(ties, value):
    assert rr([("a", 1, -1), ("b", 1, 2), ("c", 1, 0), ("d", 1, 0)], ties) == pytest.approx(value)


def test_scores_a_rounding_apart_are_no_tie():
    assert rr([("a", 0.3, 1), ("b", 0.1 + 0.2, 0)], "expected") == pytest.approx(1 / 2)


def test_positive_and_negative_zero_tie():
    assert rr([("a", -0.0, 1), ("b", 0.0, 0)], "expected") == pytest.approx(3 / 4)


def test_equal_infinities_tie_and_stand_at_the_ends():
    documents = [("a", -float("inf"), 1), ("b", 0, 0), ("c", float("inf"), 0), ("d", float("inf"), 0)]
    assert rr(documents, "expected") == pytest.approx(1 / 4)


def test_a_treatment_that_does_not_exist_is_refused_by_name_with_those_that_do():
    with pytest.raises(UsageError, match=r"'best'.*expected, input"):
        rr([("a", 1, 1)], "best")
