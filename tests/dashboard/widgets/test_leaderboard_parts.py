import pandas as pd

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
