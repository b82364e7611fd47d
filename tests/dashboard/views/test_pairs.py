"""What the table of orders that swap writes of two values."""

import pytest

from dashboard.views.leaderboard.pairs import values_apart


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (0.889216, 0.8892, "0.88922 and 0.88920"),
        (0.5, 0.4, "0.5000 and 0.4000"),
        (1 / 3, 1 / 3 + 1e-9, "0.333333333 and 0.333333334"),
        (0.5, 0.5 + 1e-15, "0.5000 and 0.5000"),
    ],
)
def test_two_values_have_as_many_decimals_as_tell_them_apart(a, b, text):
    assert values_apart(a, b) == text
