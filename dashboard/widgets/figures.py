"""Figures of a board, kept as its results are: a page that comes back, or a measure, is not drawn again."""

import pickle
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, ParamSpec

import plotly.graph_objects as go

from dashboard.server.board_results import cached_for_board

P = ParamSpec("P")
OF_NO_BOARD = "no board"
"""What figures of lists that are on no board are kept by, in the place of its key."""
_MOST_FIGURES = 64
"""Figures kept at most, of all boards: those of some pages under some measures."""


def kept_figure(key: str, draw: Callable[P, go.Figure], *arguments: P.args, **options: P.kwargs) -> go.Figure:
    """Return the figure that a function of `dashboard.charts` draws, the same one for the same arguments.

    Args:
        key: of the board; the figure is forgotten with its results.
        draw: a function without effects; nobody changes its figure.
        *arguments: its tables, colours and words, compared as they are pickled.
        **options: likewise.
    """
    content = blake2b(pickle.dumps((arguments, options), protocol=5), digest_size=16).hexdigest()
    return _figure(key, f"{draw.__module__}.{draw.__qualname__}", content, draw, arguments, options)


@cached_for_board(show_spinner=False, max_entries=_MOST_FIGURES)
def _figure(
    key: str,
    chart_name: str,
    content: str,
    _draw: Callable[..., go.Figure],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> go.Figure:
    return _draw(*_arguments, **_options)
