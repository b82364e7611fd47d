import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import evaluate
from metrics.simulation.link_text import (
    MAX_DOCUMENTS,
    Document,
    format_list,
    parse_list,
    runs_from_list,
)

DOCUMENTS = st.builds(
    Document,
    st.text("ab,<é", min_size=1, max_size=5),
    st.integers(-1000, 1000).map(lambda hundredths: hundredths / 100),
    st.integers(0, 10).map(float),
    st.sampled_from([0.0, 2.0, -0.25]),
)


@given(st.lists(DOCUMENTS, min_size=1, max_size=8))
def test_a_list_reads_back_from_its_line(documents):
    assert parse_list(format_list(documents)) == documents


def test_grades_and_names_may_be_left_out():
    assert parse_list("0.9; 0.8,1;0.8,2,my doc") == [
        Document("doc1", 0.9, 0),
        Document("doc2", 0.8, 1),
        Document("my doc", 0.8, 2),
    ]


@pytest.mark.parametrize(
    "line", ["", " ; ", "high", "0.9,yes", "nan", "inf,1", "1,inf", "1;" * (MAX_DOCUMENTS + 1)]
)
def test_what_is_no_list_reads_as_none(line):
    assert parse_list(line) is None


def test_a_semicolon_in_a_name_becomes_a_space():
    assert parse_list(format_list([Document("a;b", 1, 0)])) == [Document("a b", 1, 0)]


def test_documents_of_one_name_are_scored_apart():
    runs = runs_from_list([Document("a", 1, 1), Document("a", 1, 0)])
    assert evaluate(runs, "RR", "expected").scores.iloc[0, 0] == pytest.approx(0.75)
