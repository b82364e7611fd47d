"""Figures inside sentences."""

from math import inf

import pytest

from metrics.studies.prose import Strong, decimal, headline, plain, signed, signed_decimals


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.4567, "0.457"),
        (0.0124, "0.012"),
        (0.0014, "0.0014"),
        (0.00031, "0.00031"),
        (-0.00031, "-0.00031"),
        (1.0, "1.000"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (3e-17, "0.000"),
        (float("nan"), "nan"),
        (2.0**49, "562949953421312.000"),
        (-(2.0**500), "-3.273e+150"),
        (inf, "∞"),
        (-inf, "-∞"),
    ],
)
def test_a_small_number_keeps_two_figures_a_large_one_four_and_noise_is_nothing(value, text):
    assert decimal(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.05, "+0.050"),
        (-0.05, "−0.050"),
        (-0.0004, "−0.00040"),
        (-1e-17, "0"),
        (1e-17, "0"),
        (inf, "+∞"),
        (-inf, "−∞"),
    ],
)
def test_a_difference_has_its_sign_and_nothing_has_none(value, text):
    assert signed(value) == text


def test_a_headline_is_the_first_sentence_with_more_than_a_strong_word():
    assert plain(headline((Strong("9 of 91"), ", of .5. The sort puts ", Strong("a. b"), " first."))) == (
        "9 of 91, of .5."
    )
    assert plain(headline((Strong("No order swaps. "), "None of 3 pairs. And more."))) == (
        "No order swaps. None of 3 pairs."
    )
    assert plain(headline(("By ", Strong("x. y"), " it is 0.5 off."))) == "By x. y it is 0.5 off."
    two = (Strong("2 of 9 rest."), " ", Strong("a"), " leads (p = 0.01).", " ", Strong("b"), " trails.")
    assert plain(headline(two)) == "2 of 9 rest. a leads (p = 0.01)."


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-1e-13, "0"), (4e-4, "+0.00040"), (-4e-6, "−4.0e−06"), (0.0126, "+0.013"), (-0.0126, "−0.013")],
)
def test_a_gap_has_a_sign_and_is_0_only_where_there_is_none(value, text):
    assert signed_decimals(value) == text
    assert (signed(value) == "0") == (text == "0")
