import pandas as pd

from dashboard.views.leaderboard import strip_caption
from dashboard.widgets.leaderboard_parts import shared_text


def leaderboard(tied, traditional_ranks):
    ranks = {"traditional_rank": traditional_ranks, "tied_rank": range(1, len(tied) + 1)}
    return pd.DataFrame({"tied": tied, **ranks}, index=[f"r{n}" for n in range(len(tied))])


def test_ends_that_all_long_names_share_are_said_once():
    assert not shared_text(leaderboard([0.3, 0.2], [1, 2]))
    rows = leaderboard([0.3, 0.2], [1, 2]).rename(
        index=lambda name: f"run_Qwen2.5-1.5B-Instruct_{name}_scifact"
    )
    assert shared_text(rows).replace("\\", "") == "Names leave out “run_Qwen2.5-1.5B-Instruct_” and “_scifact”."


def test_the_strip_says_no_distance_of_0_where_all_tied_values_are_equal():
    assert "0.000" not in strip_caption(leaderboard([0.3] * 21, range(1, 22)))
    assert "differs from the tied score by 0.0050 or more" in strip_caption(
        leaderboard([0.3] + [0.2] * 20, range(1, 22))
    )
