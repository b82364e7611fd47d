"""Cache figures and elements of a board as long as its results."""

from collections.abc import Callable
from typing import Any, ParamSpec

import plotly.graph_objects as go

from dashboard.charts.figure import Figure
from dashboard.choices import board_key
from dashboard.server.board_results import cached_by_key, content_digest
from dashboard.visitor import is_narrow

P = ParamSpec("P")
_MOST_FIGURES = 64
"""Figures cached at most, over all boards."""
_MOST_ELEMENTS = 256
"""Elements cached at most, over all boards."""


def kept_figure(draw: Callable[P, Figure], *arguments: P.args, **options: P.kwargs) -> Figure:
    """Return the figure that a function of `dashboard.charts` draws, cached by its arguments."""
    return _figure(board_key(), _full_name(draw), content_digest(arguments, options), draw, arguments, options)


@cached_by_key(show_spinner=False, max_entries=_MOST_FIGURES)
def _figure(
    key: str,
    chart_name: str,
    content: str,
    _draw: Callable[..., Figure],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> Figure:
    return _draw(*_arguments, **_options)


def sent_figure(figure: Figure, *, is_clickable: bool = False) -> go.Figure:
    """Return the Plotly figure for Streamlit, made once per figure."""
    if is_clickable not in figure.sent:
        figure.sent[is_clickable] = figure.to_plotly(is_clickable=is_clickable)
    return figure.sent[is_clickable]


def kept_elements(draw: Callable[P, None], *arguments: P.args, **options: P.kwargs) -> None:
    """Show the elements that a function draws, cached by its arguments."""
    content = content_digest(arguments, options, is_narrow())
    _elements(board_key(), _full_name(draw), content, draw, arguments, options)


@cached_by_key(show_spinner=False, max_entries=_MOST_ELEMENTS)
def _elements(
    key: str,
    function_name: str,
    content: str,
    _draw: Callable[..., None],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> None:
    _draw(*_arguments, **_options)


def _full_name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
