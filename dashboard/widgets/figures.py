"""Cache figures and elements of a board as long as its results."""

from collections.abc import Callable
from typing import Any, ParamSpec, cast

import plotly.graph_objects as go

from dashboard.charts.figure import Figure
from dashboard.choices import board_key
from dashboard.server.board_results import cached_by_key, content_digest
from dashboard.visitor import is_narrow

P = ParamSpec("P")
_MOST_KEPT = 256
"""Figures and drawn elements cached at most, over all boards."""


def kept_figure(draw: Callable[P, Figure], *arguments: P.args, **options: P.kwargs) -> Figure:
    """Return the figure that a function of `dashboard.charts` draws, cached by its arguments."""
    return cast("Figure", _kept(draw, arguments, options))


def sent_figure(figure: Figure, *, is_clickable: bool = False) -> go.Figure:
    """Return the Plotly figure for Streamlit, made once per figure."""
    if is_clickable not in figure.sent:
        figure.sent[is_clickable] = figure.to_plotly(is_clickable=is_clickable)
    return figure.sent[is_clickable]


def kept_elements(draw: Callable[P, None], *arguments: P.args, **options: P.kwargs) -> None:
    """Show the elements that a function draws, cached by its arguments; Streamlit replays them."""
    _kept(draw, arguments, options)


def _kept(draw: Callable[..., object], arguments: tuple[Any, ...], options: dict[str, Any]) -> object:
    name = f"{draw.__module__}.{draw.__qualname__}"
    return _drawn(board_key(), name, content_digest(arguments, options, is_narrow()), draw, arguments, options)


@cached_by_key(show_spinner=False, max_entries=_MOST_KEPT)
def _drawn(
    key: str,
    name: str,
    content: str,
    _draw: Callable[..., object],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> object:
    return _draw(*_arguments, **_options)
