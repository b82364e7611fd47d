"""Where each reranker can finish."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import hover_text
from dashboard.charts.marks import add_chance_key, cells, label_rows_above
from dashboard.charts.palette import Palette, blend, ink
from dashboard.charts.style import set_xaxes, set_yaxes, style
from metrics.support.arrays import BoolArray
from metrics.support.wording import percent, with_signs

_MAX_WRITTEN = 12
"""Places up to which cells carry figures."""
_ROW, _NAME = 58, 24
"""Pixels of a row, and of a name between two rows of cells."""
_HALF = (_ROW - _NAME) / 2 / _ROW
"""Share of a row by which its cells begin above its middle and end below."""
_LOWERED = 8 / _ROW
"""Share of a row by which a diamond stands below the middle of a cell whose figure is above it."""
_MAX_SIGNED = 8
"""Places up to which figures have room for a percent sign."""
_NEARLY = 1 - 1e-9
"""The largest chance of a place that is not the only one."""
_MIN_CHANCE = 0.005
"""Chance of a place from which on it is drawn."""


def finish_heatmap(
    places: pd.DataFrame, spread: pd.DataFrame, traditional: Sequence[int], palette: Palette
) -> Figure:
    """Draw the chance of each place as a shade, what the ties allow as an outline, the sort as a diamond.

    Args:
        places: index reranker, columns 1 to n: chance of each place.
        spread: same index; best_place, worst_place.
        traditional: place of each by the traditional value.
        palette: colours of the theme.
    """
    n = places.shape[1]
    names = np.array([hover_text(str(name)) for name in places.index], dtype=object)
    is_open = (spread["worst_place"] > spread["best_place"]).to_numpy()
    chance = places.to_numpy().clip(max=np.where(is_open, _NEARLY, 1.0)[:, None])
    is_drawn = chance >= _MIN_CHANCE
    words = np.vectorize(_chance_text, otypes=[object])(chance)
    short = np.where(is_drawn, [[text.removesuffix("%") for text in row] for row in words], "")
    text = np.where(is_drawn, words, "") if n <= _MAX_SIGNED else short if n <= _MAX_WRITTEN else None
    shades = (*palette.heat[:4], palette.tied)
    is_traditional = np.arange(1, n + 1) == np.array(traditional)[:, None]
    figure = Figure().draw(
        cells(
            np.where(is_drawn, chance, np.nan),
            shades,
            None
            if text is None
            else np.vectorize(partial(_inked, shades), otypes=[object])(text, chance, is_traditional),
            x=np.arange(1, n + 1),
            zmin=0,
            zmax=1,
            xgap=3,
            ygap=_NAME,
            customdata=np.dstack([np.repeat(names[:, None], n, axis=1), words]),
            hovertemplate="<b>%{customdata[0]}</b><br>place %{x}: %{customdata[1]}<extra></extra>",
        )
    )
    for row, (best, worst) in enumerate(zip(spread["best_place"], spread["worst_place"], strict=True)):
        box = {"x0": best - 0.5, "x1": worst + 0.5, "y0": row - _HALF - 0.03, "y1": row + _HALF + 0.03}
        figure.draw_shape(type="rect", line={"color": palette.other, "width": 1.5}, **box)
    _add_traditional(figure, names, traditional, is_drawn, palette)
    style(figure, palette, 96 + _ROW * len(names), b=40)
    add_chance_key(figure, palette, shades[1:], -6)
    label_rows_above(figure, places.index, palette, _HALF + 0.04)
    set_yaxes(figure, range=[len(names) - 0.5, -0.85])
    step = 1 if n <= 2 * _MAX_WRITTEN else 10
    return set_xaxes(figure, side="top", showgrid=False, tickformat="d", dtick=step, range=[0.4, n + 0.6])


def _inked(shades: Sequence[str], text: str, chance: float, is_traditional: bool) -> str:  # noqa: FBT001 vectorized
    """Return the text of a cell in the ink that is read best on its shade, above a diamond."""
    low = min(int(chance * (len(shades) - 1)), len(shades) - 2)
    shade = blend(shades[low], shades[low + 1], chance * (len(shades) - 1) - low)
    return text and f"<span style='color:{ink(shade)}'>{text}</span>{'<br>&nbsp;' * is_traditional}"


def _chance_text(chance: float) -> str:
    """Return a chance as a percent; 100% only where it is sure."""
    return with_signs(percent(chance))


def _add_traditional(
    figure: Figure, names: np.ndarray, traditional: Sequence[int], is_drawn: BoolArray, palette: Palette
) -> None:
    """Add a diamond at each traditional place; `is_drawn` says which cells are, (rerankers, places)."""
    n = is_drawn.shape[1]
    has_figure = is_drawn[np.arange(len(names)), np.array(traditional, dtype=int) - 1] & (n <= _MAX_WRITTEN)
    figure.draw_scatter(
        x=np.array(traditional),
        y=np.arange(len(names)) + _LOWERED * has_figure,
        mode="markers",
        marker={
            "symbol": "diamond",
            "size": 12,
            "color": palette.ground,
            "line": {"color": palette.traditional, "width": 2},
            "opacity": 1,
        },
        customdata=list(zip(names, traditional, strict=True)),
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}. by the traditional value<extra></extra>",
    )
