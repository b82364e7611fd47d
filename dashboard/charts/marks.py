"""Marks that several charts draw: dot, diamond, bar, band, cells and the names beside them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import NAME_COLUMNS, chart_names, hover_text, text_columns
from dashboard.charts.palette import Palette
from metrics.support.arrays import BoolArray, FloatArray, histogram

_ROW, _DENSE_ROW, _FEW_ROWS = 32, 24, 12
"""Pixels of a reranker's row, also of one of more than a few rows."""
_BESIDE, _LETTER = 15, 6.3
"""Pixels beside a row's name and per letter; plotly draws again where the margin is too small."""
_LEAST_ROWS = 4
"""Minimum height of a chart in rows; a lower one cuts its legend."""
_TOP, CLEAR_TOP = 0.6, 0.9
"""Rows above the middle of the first row, and above it where legend marks are as large as those of a row."""
UNCERTAIN = "rgba(139,148,158,0.28)"
"""Grey band around a mean, for both themes."""
VALUES = ["tied", "traditional", "worst", "best"]
_VALUES_HOVER = (
    "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
    "<br>worst %{customdata[3]:.4f}<br>best %{customdata[4]:.4f}"
)
"""Hover text for a name and `VALUES`."""


def row_height(n_rows: int) -> int:
    """Return the pixels of one of `n_rows` rows."""
    return _ROW if n_rows <= _FEW_ROWS else _DENSE_ROW


def rows_height(n_rows: int) -> int:
    """Return the pixels of a chart of `n_rows` rows, its axis and a legend that wraps on a phone."""
    return 96 + row_height(n_rows) * max(n_rows, _LEAST_ROWS)


def tied_dot(palette: Palette, size: float = 9) -> dict[str, Any]:
    """Return the marker of a tied score: a filled dot that fits inside the diamond."""
    return {"size": size, "color": palette.tied}


def traditional_diamond(palette: Palette, size: float = 15) -> dict[str, Any]:
    """Return the marker of a traditional score: a hollow diamond."""
    return {"symbol": "diamond-open", "size": size, "color": palette.traditional, "line": {"width": 2}}


def covering_diamond(palette: Palette, size: float) -> dict[str, Any]:
    """Return a traditional diamond that hides what is behind it."""
    border = {"color": palette.traditional, "width": 2}
    return {"symbol": "diamond", "size": size, "color": palette.ground, "line": border, "opacity": 1}


def named_rows(names: Iterable[object], values: np.ndarray) -> list[list[Any]]:
    """Return hover data: a safe name followed by values."""
    return [[hover_text(str(name)), *row] for name, row in zip(names, values, strict=True)]


def values_hover(
    table: pd.DataFrame, names: Iterable[object] | None = None, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the hover box of each row: its name, by default its index, `VALUES` and an escaped note if any."""
    data = named_rows(table.index if names is None else names, table[VALUES].to_numpy())
    if not any(notes):
        return {"customdata": data, "hovertemplate": _VALUES_HOVER}
    rows = [[*row, note] for row, note in zip(data, notes, strict=True)]
    return {"customdata": rows, "hovertemplate": f"{_VALUES_HOVER}<br>%{{customdata[5]}}"}


def add_values(figure: Figure, table: pd.DataFrame, **trace: Any) -> None:
    """Add a diamond per traditional score and a dot per tied score of a table.

    `trace` holds the other coordinate (x or y), hover and panel.
    """
    axis = "y" if "x" in trace else "x"
    for name, marker in (("traditional", traditional_diamond), ("tied", tied_dot)):
        look = {"mode": "markers", "marker": marker(figure.palette), "name": name, "cliponaxis": False}
        figure.draw_scatter(**{axis: table[name]}, **look | trace)


def add_bounds(figure: Figure, table: pd.DataFrame, **trace: Any) -> None:
    """Add a bar from `worst` to `best` for each row of a table, counted from the top."""
    look = {"width": 0.42, "marker": {"color": figure.palette.bounds}, "name": "worst to best"}
    look |= {"y": np.arange(len(table)), "orientation": "h"}
    figure.draw_bars(x=table["best"] - table["worst"], base=table["worst"], **look | trace)


def add_bounds_rows(figure: Figure, leaderboard: pd.DataFrame, **subplot: Any) -> None:
    """Add bounds, diamond and dot for each reranker of a leaderboard; `subplot` names panel or axes."""
    trace = values_hover(leaderboard) | subplot
    add_bounds(figure, leaderboard, **trace)
    add_values(figure, leaderboard, y=np.arange(len(leaderboard)), **trace)


def label_rows(figure: Figure, names: Iterable[object], longest: int = NAME_COLUMNS, top: float = _TOP) -> None:
    """Label rows counted from the top; `top` is the space above the first row, in rows."""
    labels = list(chart_names(map(str, names), longest).values())
    figure.set_yaxes(
        tickvals=np.arange(len(labels)),
        ticktext=labels,
        tickfont={"color": figure.palette.text, "size": 13},
        ticklabelstandoff=6,
        range=[len(labels) - 0.4, -top],
        showgrid=False,
    )
    columns = max((text_columns(unescape(label)) for label in labels), default=0)
    figure.set_layout(margin={"l": _BESIDE + round(_LETTER * columns)})


def label_rows_above(
    figure: Figure, names: Iterable[object], raised: float, grounds: Iterable[str | None] | None = None
) -> None:
    """Label rows above their marks, so that both fit on a phone.

    `raised` is the offset of a label above its row's middle, in rows. `grounds` are backgrounds that hide lines
    behind the labels.
    """
    labels = chart_names(map(str, names)).values()
    grounds = [None] * len(labels) if grounds is None else grounds
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom"}
    font = {"color": figure.palette.text, "size": 13}
    for row, (label, ground) in enumerate(zip(labels, grounds, strict=True)):
        figure.write(label, **place, y=row - raised, font=font, bgcolor=ground)
    figure.set_yaxes(showticklabels=False, range=[len(labels) - 0.4, -_TOP], showgrid=False)


def add_band(figure: Figure, x: pd.Series, low: pd.Series, high: pd.Series, colour: str, **trace: Any) -> None:
    """Fill the area between two lines."""
    outline = {"x": pd.concat([x, x[::-1]]), "y": np.r_[high, low[::-1]]}
    figure.draw_scatter(**outline, **{"fill": "toself", "fillcolor": colour, "mode": "none"} | trace)


def add_segments(
    figure: Figure,
    x: pd.Series | pd.DataFrame,
    y: pd.Series | pd.DataFrame,
    colour: str,
    width: float,
    **trace: Any,
) -> None:
    """Add a straight line per row. One of x and y has two columns, the ends.

    Rows that only one of x and y has are skipped.
    """
    rows = x.index.intersection(y.index)
    ends = (table.loc[rows].to_numpy(dtype=float).reshape(len(rows), table.ndim) for table in (x, y))
    along, up = (np.insert(np.broadcast_to(pair, (len(rows), 2)), 2, np.nan, axis=1).ravel() for pair in ends)
    figure.draw_line(x=along, y=up, line={"color": colour, "width": width}, **trace)


def add_cutoff(figure: Figure, k: int, ends: tuple[float, float], label: float, **place: Any) -> None:
    """Add a dotted line after rank k, labelled at the height `label`."""
    figure.draw_upright(k + 0.5, y0=ends[0], y1=ends[1])
    figure.write(f"k = {k}", **{"x": k + 0.5, "y": label, "yanchor": "bottom", "yref": "y"} | place)


def add_legend(figure: Figure, marks: dict[str, dict[str, Any]]) -> None:
    """Add legend entries, name → marker, without a trace."""
    for name, marker in marks.items():
        figure.draw_marks(x=[None], y=[None], marker=marker, name=name)


def add_chance_key(figure: Figure, quarters: Sequence[str], yshift: int, top: float = 1) -> None:
    """Explain the shades of a probability heatmap up to `top`, `yshift` pixels from its lower end."""
    swatches = (
        f"<span style='color:{shade};font-size:18px'>■</span> {share * top:.0%}"
        for shade, share in zip(quarters, (0.25, 0.5, 0.75, 1), strict=True)
    )
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 0, "yref": "paper", "yanchor": "top"}
    figure.write(f"chance: {' &nbsp; '.join(swatches)}", **place, yshift=yshift)


def cells(z: np.ndarray, colours: Sequence[Any], text: Any = None, **trace: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a heatmap trace of separate cells.

    `z` is (rows, columns), NaN for no cell. `colours` are evenly spaced, or pairs of position and colour.
    """
    look: dict[str, Any] = {"showscale": False, "xgap": 2, "ygap": 2, "hoverongaps": False}
    if text is not None:
        look |= {"text": text, "texttemplate": "%{text}", "textfont": {"size": 12}}
    if isinstance(colours[0], str):
        colours = list(zip(np.linspace(0, 1, len(colours)).tolist(), colours, strict=True))
    return {"type": "heatmap", "z": z, "colorscale": colours, **look | trace}


WIDE, TALL = 400, 260
"""Pixels of the plot for which names are placed; on more space they only move apart."""
MOST_BARS = 8
"""Rerankers above which a scatter chart has no bars, for bars and names would overlap."""
LINE = 16
"""Pixels of a line of text."""
_SPOT_NAME, _SPOT_NAMES = 24, 36
"""Columns of a name at a mark, and of two names at one mark."""
_SAME_SPOT = 5
"""Pixels below which two marks look like one."""
_MAX_COVERED = 25
"""Square pixels of marks and names that a name may cover."""
_MAX_OUTSIDE = 4
"""Pixels by which a name may cross the border of the plot."""
_DISTANCES = (12, 20, 34)
"""Pixels between a name and its mark, in order of preference; the last draws a leader line."""
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Directions across and down, in order of preference."""
_MARGIN = np.array([-9, 9, -9, 9])
"""Pixels around marks and names within which a name would be ambiguous."""

Box = tuple[float, float, float, float]
"""Left, right, top and bottom in pixels from the upper left corner."""


@dataclass(frozen=True)
class PlotArea:
    """Ends of the axes, as powers of ten on a log axis, and the plot's width in pixels."""

    left: float
    right: float
    bottom: float
    top: float
    width: int

    def box(self, x: tuple[float, float], y: tuple[float, float], edge: float = 2) -> Box:
        """Return the pixels that a line or mark between these ends covers, plus `edge` around it."""
        across = [self.width * (value - self.left) / (self.right - self.left) for value in x]
        down = [TALL * (self.top - value) / (self.top - self.bottom) for value in y]
        return min(across) - edge, max(across) + edge, min(down) - edge, max(down) + edge


def add_names(
    figure: Figure,
    names: Sequence[str],
    is_bold: BoolArray,
    spots: FloatArray,
    plot: PlotArea,
    lines: Sequence[Box],
    figures: Sequence[str] | None = None,
) -> Figure:
    """Name each mark where the name covers least; names without space appear on hover only.

    `spots` is (n, 3): x, and y of dot and diamond. `lines` are boxes that names avoid. Bold names may cover
    marks. `figures` are texts after the names.
    """
    n, labels = len(spots), chart_names(names, _SPOT_NAME)
    marks = [plot.box((x, x), (y, y), size) for end, size in ((1, 5), (2, 8)) for x, y in spots[:, [0, end]]]
    covered, crossed = np.array(marks), np.array(lines).reshape(-1, 4)
    middles = covered.reshape(-1, 2, 2).mean(axis=2)
    for group in _group_overlapping(middles, is_bold):
        first, bold = group[0], bool(is_bold[group].any())
        text = _joint_name([names[index] for index in group], labels)
        extra = figures[first] if figures and len(group) == 1 else ""
        width = 6.5 * text_columns(unescape(text)) * (1.07 if bold else 1) + (80 if extra else 4)
        places = [(mark, place) for mark in (first, first + n) for place in product(_DISTANCES, _DIRECTIONS)]
        boxes = np.array([_name_box(middles[mark], width, *place) for mark, place in places])
        near = np.delete(covered, [first, first + n], axis=0) + _MARGIN
        hidden, cut, close = (_covered_areas(boxes, others) for others in (covered, crossed, near))
        outside = (np.array([-1, 1, -1, 1]) * boxes - [0, plot.width, 0, TALL]).clip(0).sum(axis=1)
        best = int((3 * hidden + cut + close / 3 + 30 * outside + 2 * np.arange(len(boxes))).argmin())
        if (hidden[best] <= _MAX_COVERED or bold) and outside[best] <= _MAX_OUTSIDE:
            covered = np.vstack([covered, boxes[best]])
            mark, (distance, direction) = places[best]
            x, y = spots[first, [0, 1 + (mark > first)]]
            ax, ay = _shift(distance, direction)
            has_leader = distance == _DISTANCES[-1]
            figure.write(
                (f"<b>{text}</b>" if bold else text) + extra,
                x=x,
                y=y,
                font={"size": 12, "color": figure.palette.text if bold else figure.palette.muted},
                xanchor=("center", "left", "right")[direction[0]],
                yanchor=("middle", "top", "bottom")[direction[1]],
                showarrow=True,
                arrowhead=0,
                arrowwidth=1,
                arrowcolor=figure.palette.other if has_leader else "rgba(0,0,0,0)",
                standoff=6,
                ax=ax,
                ay=ay,
            )
    return figure


def _group_overlapping(middles: FloatArray, is_bold: BoolArray) -> list[list[int]]:
    """Group rerankers whose marks overlap; groups with a bold name first."""
    groups: list[list[int]] = []
    pairs = middles.reshape(2, -1, 2)
    for index in range(len(is_bold)):
        for group in groups:
            if np.abs(pairs[:, index] - pairs[:, group[0]]).max() < _SAME_SPOT:
                group.append(index)
                break
        else:
            groups.append([index])
    return sorted(groups, key=lambda group: not is_bold[group].any())


def _joint_name(names: Sequence[str], labels: Mapping[str, str]) -> str:
    """Return one name for all rerankers at one spot."""
    text = " and ".join(labels[name] for name in names)
    if len(names) == 1 or text_columns(unescape(text)) <= _SPOT_NAMES:
        return text
    return f"{labels[names[0]]} and {len(names) - 1} more"


def _shift(distance: float, direction: tuple[int, int]) -> tuple[float, float]:
    """Return the pixels across and down from a mark to its name."""
    across, down = (side * distance * (0.7 if all(direction) else 1) for side in direction)
    return across, down


def _name_box(mark: FloatArray, width: float, distance: float, direction: tuple[int, int]) -> Box:
    (x, y), (across, down) = mark + _shift(distance, direction), direction
    left, top = x - width * (1 - across) / 2, y - LINE * (1 - down) / 2
    return left, left + width, top, top + LINE


def _covered_areas(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the square pixels of each box that other boxes cover."""
    left, right, top, bottom = others.T
    across = np.minimum(boxes[:, 1:2], right) - np.maximum(boxes[:, :1], left)
    down = np.minimum(boxes[:, 3:], bottom) - np.maximum(boxes[:, 2:3], top)
    areas: FloatArray = (across.clip(0) * down.clip(0)).sum(axis=1)
    return areas


_BARS = 60
"""Bars of a small histogram."""


def column_histogram(values: FloatArray, palette: Palette, *, is_score: bool) -> Figure:
    """Draw a small histogram of scores (blue) or grades (grey); infinite values are skipped."""
    counts, middles = histogram(values, _BARS)
    figure = Figure(palette).style(72, t=2, b=2, l=0, r=0).set_layout(bargap=0.08)
    figure.draw_bars(
        x=np.arange(_BARS),  # the browser can place neither neighbours in float64 nor the ends of its range
        y=counts,
        customdata=middles,
        marker={"color": palette.tied if is_score else palette.other},
        hovertemplate="%{y:,} rows near %{customdata:.4g}",
    )
    return figure.set_yaxes(visible=False).set_xaxes(visible=False)
