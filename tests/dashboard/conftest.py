"""What a page of a test sends to the browser is what plotly knows."""

import plotly.graph_objects as go
import pytest

from dashboard.charts.figure import Figure


@pytest.fixture(autouse=True)
def _plotly_knows_what_is_sent(monkeypatch):
    """Have plotly check each figure that is sent: the app checks none."""
    unchecked = Figure.browser_spec

    def browser_spec(figure, **options):
        spec = unchecked(figure, **options)
        go.Figure([dict(trace) for trace in spec["data"]], spec["layout"])
        return spec

    monkeypatch.setattr(Figure, "browser_spec", browser_spec)
