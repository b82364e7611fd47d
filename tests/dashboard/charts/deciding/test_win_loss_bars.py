"""Queries won and lost, drawn."""

import pandas as pd
import pytest

from dashboard.charts.deciding.win_loss_bars import win_loss_bars
from dashboard.charts.palette import LIGHT


@pytest.mark.parametrize(("n_queries", "step"), [(1, 1), (8, 1), (9, None)])
def test_few_queries_have_a_tick_each_and_none_between_them(n_queries, step):
    counts = {"won": n_queries, "equal": 0, "lost": 0}
    table = pd.DataFrame([counts | {f"{name}_before": count for name, count in counts.items()}], index=["a"])
    assert win_loss_bars(table, LIGHT).settings["xaxis"].get("dtick") == step
