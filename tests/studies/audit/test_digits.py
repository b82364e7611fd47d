"""When a computed figure comes out as it was printed."""

import numpy as np
import pytest

from metrics.studies.audit.digits import VERDICTS, PrintedDigits


def verdicts(printed, computed, decimals=4, scale=1):
    n = len(printed)
    digits = PrintedDigits(np.array(printed), np.full(n, decimals), np.full(n, scale))
    return [VERDICTS[place] for place in digits.verdicts(np.array(computed))]


DIGIT, ROUNDED, OFF = VERDICTS


def test_to_the_digit_is_what_c_prints():
    values = np.random.default_rng(1).random(2000)
    values[:100] = np.arange(100) / 32
    printed = [float(f"{value:6.4f}") for value in values]
    assert set(verdicts(printed, values)) == {DIGIT}


@pytest.mark.parametrize(
    ("printed", "computed", "verdict"),
    [
        (0.0313, 0.03125, ROUNDED),  # half up, where C goes to the even digit
        (0.0312, 0.03125, DIGIT),
        (0.2835, 0.28344999999, ROUNDED),  # a sum in another order
        (0.2835, 0.28349, DIGIT),
        (0.2835, 0.28344, OFF),
        (0.2835, 0.2836, OFF),
        (0.2835, np.nan, OFF),
        (0.0, 0.0, DIGIT),
    ],
)
def test_a_figure_is_off_by_rounding_only_on_the_half_or_by_the_error_of_floats(printed, computed, verdict):
    assert verdicts([0.1235, printed], [0.12349, computed]) == [DIGIT, verdict]


def test_a_value_whose_last_bit_depends_on_the_order_of_operations_prints_as_either():
    assert f"{7 / 160:.4f}" != f"{7 * (1 / 160):.4f}"
    for computed in (7 / 160, 7 * (1 / 160)):
        assert verdicts([0.0437, 0.0438, 0.0439], [computed] * 3) == [DIGIT, DIGIT, OFF]


def test_digits_that_were_cut_off_count_as_rounding_where_all_figures_are_cut():
    assert verdicts([0.2834, 0.5011], [0.28349, 0.50112]) == [ROUNDED, DIGIT]
    assert verdicts([0.2834, 0.5012], [0.28349, 0.50118]) == [OFF, DIGIT]


def test_digits_are_cut_off_the_double_below_a_value_too():
    """9/20 is .45, of which a sum in another order is .44999999999999996, which is cut to .449."""
    assert verdicts([0.449, 0.501], [9 / 20, 0.50112], 3) == [ROUNDED, DIGIT]
    assert verdicts([0.249, 0.501], [1 / 4, 0.50112], 3) == [OFF, DIGIT]


def test_percents_are_compared_as_printed():
    assert verdicts([0.284, 0.285], [0.28351, 0.2844], 1, 100) == [DIGIT, OFF]


def test_the_shortest_text_of_a_float_is_compared_as_the_float():
    value = 0.1 + 0.2
    assert verdicts([value], [value], 17) == [DIGIT]
    assert verdicts([value], [0.3], 17) == [ROUNDED]
    assert verdicts([value], [0.30001], 17) == [OFF]
