"""What the first page needs is loaded while the browser of its visitor still loads the front end."""

import os
from threading import Event, Thread

from dashboard.access.settings import OPEN

_IS_IDLE = Event()
_IS_IDLE.set()


def begin_loading() -> None:
    """Have another thread import the first page, read its data and draw its chart once."""
    _IS_IDLE.clear()
    Thread(target=_load, daemon=True).start()


def await_loading() -> None:
    """Return once nothing is being loaded: what two threads load at a time takes longer."""
    _IS_IDLE.wait()


def _load() -> None:
    try:
        _import_pages()
        if OPEN not in os.environ:  # else the app opens on files that the command named
            _draw_sample()
    finally:
        _IS_IDLE.set()


def _import_pages() -> None:
    """Import what the frame and the first page import."""
    import dashboard.long_work
    import dashboard.pages
    import dashboard.results
    import dashboard.views.data.files
    import dashboard.views.large
    import dashboard.views.leaderboard
    import dashboard.widgets.browser  # noqa: F401 imported for those who import them again


def _draw_sample() -> None:
    """Read the sample, which is kept; score and draw it, for what each library does first is slow."""
    import plotly.tools  # noqa: F401 Streamlit's chart imports it

    from dashboard import cache
    from dashboard.charts.leaderboard import place_and_score
    from dashboard.charts.palette import LIGHT
    from metrics import evaluate
    from metrics.studies.leaderboard import leaderboard

    treatments = ["expected", "input", "optimistic", "pessimistic"]
    evaluation = evaluate(cache.sample_board().runs, ["RR"], treatments)
    figure = place_and_score(leaderboard(evaluation, "RR", "input"), LIGHT, "MRR")
    figure.to_json()
