import pandas as pd

from dashboard.views.leaderboard import strip_caption
from dashboard.widgets.leaderboard_parts import slope_caption


def leaderboard(tied, traditional_ranks):
    ranks = {"traditional_rank": traditional_ranks, "tied_rank": range(1, len(tied) + 1)}
    return pd.DataFrame({"tied": tied, **ranks}, index=[f"r{n}" for n in range(len(tied))])


def test_orange_is_explained_only_where_something_is_orange():
    assert slope_caption(leaderboard([0.3, 0.2], [1, 2])) == "No reranker swaps with another."
    assert "Orange: swaps with another." in slope_caption(leaderboard([0.3, 0.2], [2, 1]))
    assert "Orange" not in slope_caption(leaderboard([0.3] * 21, range(1, 22)))


def test_the_strip_says_no_distance_of_0_where_all_tied_values_are_equal():
    assert "0.000" not in strip_caption(leaderboard([0.3] * 21, range(1, 22)))
    assert "differs from the tied score by 0.0050 or more" in strip_caption(
        leaderboard([0.3] + [0.2] * 20, range(1, 22))
    )
