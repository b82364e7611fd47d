import pytest

from metrics.support.wording import compared_as, count_of, describe_part, part_of, percent, quote, written_p


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(1, "list", "1 list"), (0, "list", "0 lists"), (1204, "query", "1,204 queries"), (1, "query", "1 query")],
)
def test_a_noun_goes_with_its_number(number, noun, text):
    assert count_of(number, noun) == text


def test_a_part_is_said_of_the_whole():
    assert part_of(1000, 2000, "judged query") == "1,000 of 2,000 judged queries"


@pytest.mark.parametrize(
    ("part", "phrase", "text"),
    [
        (2, "have no rows", "2 of 43 queries have no rows"),
        (1, "have no rows", "1 of 43 queries has no rows"),
        (1, "are left out", "1 of 43 queries is left out"),
        (1, "hold one document", "1 of 43 queries holds one document"),
    ],
)
def test_a_verb_goes_with_the_part(part, phrase, text):
    assert describe_part(part, 43, "query", phrase) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (1e-9, "under 1%"), (0.504, "50%"), (0.9951, "over 99%"), (1, "100%")],
)
def test_only_nothing_is_0_percent_and_only_everything_is_100(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("p", "digits", "text"),
    [
        (0, 3, "<0.001"),
        (0.00099, 3, "<0.001"),
        (0.012, 3, "0.012"),
        (0.0496, 3, "0.0496"),
        (0.99949, 3, "0.999"),
        (0.9996, 3, ">0.999"),
        (1, 3, ">0.999"),
        (1, 4, ">0.9999"),
        (0.00001, 4, "<0.0001"),
    ],
)
def test_no_p_is_written_as_0_or_1(p, digits, text):
    assert written_p(p, digits) == text


def test_a_long_name_is_cut_short():
    assert quote("q1") == "'q1'"
    assert quote("x" * 61) == "'" + "x" * 59 + "…'"


def test_a_number_that_is_written_out_already_takes_its_noun_too():
    assert [count_of(number, "ordering") for number in ("1", "720", "about 10^12")] == [
        "1 ordering",
        "720 orderings",
        "about 10^12 orderings",
    ]


def test_scores_are_said_to_be_compared_as_what_they_are():
    assert [compared_as(precision) for precision in ("float32", "decimals:2", "within:0.01")] == [
        "float32",
        "decimals:2",
        "tied if within 0.01 of the group's highest score",
    ]
