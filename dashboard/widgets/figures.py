"""What is drawn of a board, kept as its results are: for a page or a measure that comes back."""

from collections.abc import Callable
from typing import Any, ParamSpec

import plotly.graph_objects as go

from dashboard.charts.figure import Figure
from dashboard.server.board_results import cached_by_key, content_digest
from dashboard.visitor import is_narrow

P = ParamSpec("P")
OF_NO_BOARD = "no board"
"""What figures of lists that are on no board are kept by, in the place of its key."""
_MOST_FIGURES = 64
"""Figures kept at most, of all boards: those of some pages under some measures."""
_MOST_ELEMENTS = 256
"""Tables and other elements kept so."""


def kept_figure(key: str, draw: Callable[P, Figure], *arguments: P.args, **options: P.kwargs) -> Figure:
    """Return the figure that a function of `dashboard.charts` draws, the same one for the same arguments."""
    return _figure(key, _full_name(draw), content_digest(arguments, options), draw, arguments, options)


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
    """Return what Streamlit is handed of a figure, made once: the figure is changed no more."""
    if is_clickable not in figure.sent:
        figure.sent[is_clickable] = figure.to_plotly(is_clickable=is_clickable)
    return figure.sent[is_clickable]


def kept_elements(key: str, draw: Callable[P, None], *arguments: P.args, **options: P.kwargs) -> None:
    """Show what a function draws on the page, the same elements for the same arguments."""
    content = content_digest(arguments, options, is_narrow())
    _elements(key, _full_name(draw), content, draw, arguments, options)


@cached_by_key(show_spinner=False, max_entries=_MOST_ELEMENTS)
def _elements(
    key: str,
    function_name: str,
    content: str,
    _draw: Callable[..., None],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> None:
    """Draw once: Streamlit keeps what is drawn, and shows it again where it is asked for anew."""
    _draw(*_arguments, **_options)


def _full_name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
