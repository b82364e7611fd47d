"""Loads the first page in the background while the browser still loads the front end."""

import os
from threading import Event, Thread

from dashboard.settings import OPEN

_IS_IDLE = Event()
_IS_IDLE.set()


def begin_loading() -> None:
    """Import the first page, read its data and draw its chart in another thread."""
    _IS_IDLE.clear()
    Thread(target=_load, daemon=True).start()


def await_loading() -> None:
    """Wait until loading has ended; two threads that import the same modules are slower."""
    _IS_IDLE.wait()


def _load() -> None:
    try:
        _import_pages()
        if OPEN not in os.environ:  # else the app opens on files that the command named
            _draw_sample()
    finally:
        _IS_IDLE.set()


def _import_pages() -> None:
    """Import the modules of the frame and the first page."""
    import dashboard.long_work
    import dashboard.pages
    import dashboard.views.data.files
    import dashboard.views.large
    import dashboard.views.leaderboard  # noqa: F401 imported for those who import them again


def _draw_sample() -> None:
    """Score and draw the sample once, because the first use of each library is slow."""
    import plotly.tools  # noqa: F401 Streamlit's chart imports it

    from dashboard import cache
    from dashboard.charts.leaderboard import leaderboard_figure
    from dashboard.charts.palette import LIGHT
    from metrics import evaluate
    from metrics.studies.leaderboard import leaderboard

    treatments = ["expected", "input", "optimistic", "pessimistic"]
    evaluation = evaluate(cache.sample_board().runs, ["RR"], treatments)
    figure = leaderboard_figure(leaderboard(evaluation, "RR", "input"), LIGHT, ("MTRR", "MRR"))
    figure.to_json()
