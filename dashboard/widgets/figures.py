"""Cache figures and elements of a board as long as its results."""

import pickle
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, ParamSpec

import plotly.graph_objects as go

from dashboard.cache import cached
from dashboard.charts.figure import Figure
from dashboard.visitor import is_narrow

P = ParamSpec("P")
_MAX_FIGURES, _MAX_ELEMENTS = 64, 256
"""Figures, and drawn elements, cached at most, over all boards."""


def content_digest(*values: object) -> str:
    """Return a hash of the content of picklable values."""
    return blake2b(pickle.dumps(values, protocol=5), digest_size=16).hexdigest()


def kept_figure(draw: Callable[P, Figure], *arguments: P.args, **options: P.kwargs) -> Figure:
    """Return the figure that a function of `dashboard.charts` draws, cached by its arguments."""
    return _figure(_name_of(draw), content_digest(arguments, options), draw, arguments, options)


def sent_figure(figure: Figure, *, is_clickable: bool = False) -> go.Figure:
    """Return the Plotly figure for Streamlit, made once per figure."""
    if is_clickable not in figure.sent:
        figure.sent[is_clickable] = figure.to_plotly(is_clickable=is_clickable)
    return figure.sent[is_clickable]


def kept_elements(draw: Callable[P, None], *arguments: P.args, **options: P.kwargs) -> None:
    """Show the elements that a function draws, cached by its arguments; Streamlit replays them."""
    content = content_digest(arguments, options, is_narrow())
    _element(_name_of(draw), content, draw, arguments, options)


def _name_of(draw: Callable[..., object]) -> str:
    return f"{draw.__module__}.{draw.__qualname__}"


@cached(max_entries=_MAX_FIGURES)
def _figure(
    name: str,
    content: str,
    _draw: Callable[..., Figure],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> Figure:
    return _draw(*_arguments, **_options)


@cached(max_entries=_MAX_ELEMENTS)
def _element(
    name: str,
    content: str,
    _draw: Callable[..., None],
    _arguments: tuple[Any, ...],
    _options: dict[str, Any],
) -> None:
    _draw(*_arguments, **_options)
