"""Figures of a board, kept as its results are, and sent so that the browser draws each of them once."""

import pickle
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, ParamSpec

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from dashboard.server.board_results import cached_for_board

P = ParamSpec("P")
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


class SentFigure(BaseFigure):  # type: ignore[misc]  # plotly has no types
    """A figure as it is sent: no template, lists for arrays; drawn once where all its axes have ends.

    Streamlit hands each new chart to plotly twice. Plotly takes any template, any array that travels in base64
    and data without a revision for others the second time, and draws all again; what it does not draw again
    has no ends of its own choice, and aliases of labels no lines at zero.
    """

    def __init__(self, figure: go.Figure) -> None:
        """Wrap a figure, which has the template of `style`."""
        self._figure = figure

    def to_dict(self) -> dict[str, Any]:
        """Return its traces and its layout."""
        layout = self._figure.layout.to_plotly_json()
        look = layout.pop("template")["layout"]
        looks = {name: look.pop(name) for name in ("xaxis", "yaxis")}
        layout = _laid_over(look, {"xaxis": {}, "yaxis": {}} | layout)
        axes = {name: _laid_over(looks[name[:5]], layout[name]) for name in layout if name[:5] in looks}
        is_settled = all("range" in axis and "labelalias" not in axis for axis in axes.values())
        revision = {"datarevision": 0} if is_settled else {}
        traces = [trace.to_plotly_json() for trace in self._figure.data]
        return {"data": _listed(traces), "layout": _listed(layout | axes | revision)}


def _laid_over(look: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return properties at any depth: a figure's own, and of its look those that it lacks."""
    both = {
        name: _laid_over(look[name], part)
        for name, part in own.items()
        if isinstance(part, dict) and name in look
    }
    return look | own | both


def _listed(part: Any) -> Any:  # noqa: ANN401 any part of a figure
    """Return a part of a figure with its arrays as lists."""
    if isinstance(part, np.ndarray):
        return part.tolist()
    if isinstance(part, dict):
        return {name: _listed(value) for name, value in part.items()}
    return [_listed(value) for value in part] if isinstance(part, list | tuple) else part
