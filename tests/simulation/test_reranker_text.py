import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.simulation import LlmReranker
from metrics.simulation.link_text import (
    MAX_LEVELS,
    MAX_RERANKERS,
    NamedReranker,
    format_rerankers,
    parse_rerankers,
    reranker_table,
)

RERANKERS = st.builds(
    NamedReranker,
    ties=st.integers(0, 20).map(lambda twentieths: round(twentieths / 20, 2)),
    levels=st.integers(0, MAX_LEVELS),
    performance=st.none() | st.sampled_from([0.0, 0.25, 1.0]),
    name=st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters=";"), min_size=1),
)


@given(st.lists(RERANKERS, min_size=1, max_size=MAX_RERANKERS))
def test_a_line_holds_the_rerankers_it_was_made_from(rerankers):
    assert parse_rerankers(format_rerankers(rerankers)) == rerankers


def test_a_name_given_twice_gets_a_number_and_one_left_out_says_the_settings():
    table = reranker_table(parse_rerankers("0.1,3,,A; 0.2,0,1,A; 0,0"))
    assert table == {
        "A": LlmReranker(0.1, 3),
        "A (2)": LlmReranker(0.2, 0, 1),
        "LLM (0 ties, any score)": LlmReranker(0, 0),
    }


@pytest.mark.parametrize(
    "line",
    ["", ";", "x", "0.3", "2,3", "0.3,-1", "0.3,5,7", "nan,3", "0.3,2.5", "0.3,51", "; ".join(["0,0"] * 11)],
)
def test_what_is_no_line_of_rerankers_is_none(line):
    assert parse_rerankers(line) is None
