"""Marks that several charts draw: dot, diamond, bar, band, cells and the names beside them."""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import CHART_COLUMNS, SLOPE_COLUMNS, chart_names, hover_text, text_columns
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, note_of, set_yaxes
from metrics.support.arrays import BoolArray, FloatArray

ROW = 34
"""Pixels of a reranker's row."""
_BESIDE, _LETTER = 13, 6.1
"""Pixels beside a row's name and per letter; plotly draws again where the margin is too small."""
_LEAST_ROWS = 4
"""Minimum height of a chart in rows; a lower one cuts its legend."""
_TOP, CLEAR_TOP = 0.6, 0.9
"""Rows above the middle of the first row, and above it where legend marks are as large as those of a row."""
UNCERTAIN = "rgba(139,148,158,0.28)"
"""Grey band around a mean, for both themes."""
VALUES = ["tied", "traditional", "worst", "best"]
VALUES_HOVER = (
    "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
    "<br>worst %{customdata[3]:.4f}<br>best %{customdata[4]:.4f}<extra></extra>"
)
"""Hover text for a name and `VALUES`."""


def rows_height(n_rows: int) -> int:
    """Return the pixels of a chart of `n_rows` rows, its axis and a legend that wraps on a phone."""
    return 96 + ROW * max(n_rows, _LEAST_ROWS)


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


def dotted_line(palette: Palette) -> dict[str, Any]:
    """Return the line style of a cut-off or a selected value."""
    return {"color": palette.text, "width": 1.4, "dash": "dot"}


def named_rows(names: Iterable[object], values: np.ndarray) -> list[list[Any]]:
    """Return hover data: a safe name followed by values."""
    return [[hover_text(str(name)), *row] for name, row in zip(names, values, strict=True)]


def add_values(
    figure: Figure,
    table: pd.DataFrame,
    palette: Palette,
    line: dict[str, Any] | None = None,
    **trace: Any,  # noqa: ANN401
) -> None:
    """Add a diamond per traditional score and a dot per tied score of a table.

    `line` connects the dots and sets their colour. `trace` holds the other coordinate (x or y), hover and
    panel.
    """
    axis = "y" if "x" in trace else "x"
    dot = tied_dot(palette) if line is None else tied_dot(palette) | {"color": line["color"]}
    tied = {"mode": "markers" if line is None else "lines+markers", "line": line, "marker": dot}
    traditional = {"mode": "markers", "marker": traditional_diamond(palette)}
    for name, look in (("traditional", traditional), ("tied", tied)):
        figure.draw_scatter(**{axis: table[name]}, **{"name": name, "cliponaxis": False} | look | trace)


def add_diamond(figure: Figure, palette: Palette, x: float, y: float, hover: str) -> None:
    """Add the diamond of one traditional score below its axis."""
    figure.draw_scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker=traditional_diamond(palette),
        hovertemplate=f"{hover}<extra></extra>",
        cliponaxis=False,
    )


def add_bounds(figure: Figure, table: pd.DataFrame, palette: Palette, **trace: Any) -> None:  # noqa: ANN401
    """Add a bar from `worst` to `best` for each row of a table, counted from the top."""
    look = {"width": 0.42, "marker": {"color": palette.bounds}, "name": "worst to best"}
    rows = np.arange(len(table))
    figure.draw_bars(
        x=table["best"] - table["worst"], base=table["worst"], y=rows, orientation="h", **look | trace
    )


def add_bounds_rows(
    figure: Figure,
    leaderboard: pd.DataFrame,
    palette: Palette,
    **subplot: Any,  # noqa: ANN401
) -> None:
    """Add bounds, diamond and dot for each reranker of a leaderboard; `subplot` names panel or axes."""
    trace: dict[str, Any] = {
        "customdata": named_rows(leaderboard.index, leaderboard[VALUES].to_numpy()),
        "hovertemplate": VALUES_HOVER,
        **subplot,
    }
    add_bounds(figure, leaderboard, palette, **trace)
    add_values(figure, leaderboard, palette, y=np.arange(len(leaderboard)), **trace)


def label_rows(
    figure: Figure,
    names: Iterable[object],
    palette: Palette,
    longest: int = CHART_COLUMNS,
    top: float = _TOP,
) -> None:
    """Label rows counted from the top; `top` is the space above the first row, in rows."""
    labels = list(chart_names(map(str, names), longest).values())
    set_yaxes(
        figure,
        tickvals=np.arange(len(labels)),
        ticktext=labels,
        tickfont={"color": palette.text, "size": 13},
        range=[len(labels) - 0.4, -top],
        showgrid=False,
    )
    columns = max((text_columns(unescape(label)) for label in labels), default=0)
    figure.set_layout(margin={"l": _BESIDE + round(_LETTER * columns)})


def label_rows_above(
    figure: Figure,
    names: Iterable[object],
    palette: Palette,
    raised: float,
    grounds: Iterable[str] | None = None,
) -> None:
    """Label rows above their marks, so that both fit on a phone.

    `raised` is the offset of a label above its row's middle, in rows. `grounds` are backgrounds that hide lines
    behind the labels.
    """
    labels = chart_names(map(str, names)).values()
    looks = [{}] * len(labels) if grounds is None else [{"bgcolor": ground} for ground in grounds]
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom"}
    font = {"color": palette.text, "size": 13}
    figure.write_notes(
        note_of(label, palette, **place, y=row - raised, font=font, **look)
        for row, (label, look) in enumerate(zip(labels, looks, strict=True))
    )
    set_yaxes(figure, showticklabels=False, range=[len(labels) - 0.4, -_TOP], showgrid=False)


def add_band(
    figure: Figure,
    x: pd.Series,
    low: pd.Series,
    high: pd.Series,
    colour: str,
    **trace: Any,  # noqa: ANN401
) -> None:
    """Fill the area between two lines."""
    outline = {"x": pd.concat([x, x[::-1]]), "y": np.r_[high, low[::-1]]}
    look = {"fill": "toself", "fillcolor": colour, "mode": "none", "hoverinfo": "skip"}
    figure.draw_scatter(**outline, **look | trace)


def add_segments(
    figure: Figure, x: pd.Series | pd.DataFrame, y: pd.Series | pd.DataFrame, colour: str, width: float
) -> None:
    """Add a straight line per row. One of x and y has two columns, the ends.

    Rows that only one of x and y has are skipped.
    """
    rows = x.index.intersection(y.index)
    ends = (table.loc[rows].to_numpy(dtype=float).reshape(len(rows), table.ndim) for table in (x, y))
    along, up = (np.insert(np.broadcast_to(pair, (len(rows), 2)), 2, np.nan, axis=1).ravel() for pair in ends)
    line = {"color": colour, "width": width}
    figure.draw_scatter(x=along, y=up, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def add_cutoff(
    figure: Figure,
    palette: Palette,
    k: int,
    ends: tuple[float, float],
    label: float,
    **place: Any,  # noqa: ANN401
) -> None:
    """Add a dotted line after rank k, labelled at the height `label`."""
    figure.draw_shape(type="line", x0=k + 0.5, x1=k + 0.5, y0=ends[0], y1=ends[1], line=dotted_line(palette))
    note(figure, f"k = {k}", palette, **{"x": k + 0.5, "y": label, "yanchor": "bottom", "yref": "y"} | place)


def add_legend(figure: Figure, marks: dict[str, dict[str, Any]]) -> None:
    """Add legend entries, name → marker, without a trace."""
    for name, marker in marks.items():
        figure.draw_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)


def add_chance_key(figure: Figure, palette: Palette, quarters: Sequence[str], yshift: int) -> None:
    """Explain the shades of a probability heatmap, `yshift` pixels from its lower end."""
    swatches = (
        f"<span style='color:{shade};font-size:18px'>■</span> {share:.0%}"
        for shade, share in zip(quarters, (0.25, 0.5, 0.75, 1), strict=True)
    )
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 0, "yref": "paper", "yanchor": "top"}
    note(figure, f"chance: {' &nbsp; '.join(swatches)}", palette, **place, yshift=yshift)


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


WIDE, SMALL, TALL = 400, 230, 330
"""Pixels of the plot for which names are placed; on more space they only move apart."""
MOST_BARS = 8
"""Rerankers above which a scatter chart has no bars, for bars and names would overlap."""
LINE = 16
"""Pixels of a line of text."""
_LINE_STEP = 17
"""Pixels between names at the ends of lines."""
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

    def outside(self, box: Box) -> float:
        """Return the pixels by which a box crosses the border."""
        return sum(max(over, 0) for over in (-box[0], box[1] - self.width, -box[2], box[3] - TALL))


class Place(NamedTuple):
    """A position for a text: the box it covers and its annotation."""

    box: Box
    annotation: dict[str, object]


def add_names(
    figure: Figure,
    names: Sequence[str],
    is_bold: BoolArray,
    spots: FloatArray,
    plot: PlotArea,
    lines: Sequence[Box],
    palette: Palette,
    figures: Sequence[str] | None = None,
) -> Figure:
    """Name each mark where the name covers least; names without space appear on hover only.

    `spots` is (n, 3): x, and y of dot and diamond. `lines` are boxes that names avoid. Bold names may cover
    marks. `figures` are texts after the names.
    """
    n, labels = len(spots), {longest: chart_names(names, longest) for longest in (12, 18, 24)}
    marks = _mark_boxes(spots, plot)
    covered, crossed = marks, np.array(lines).reshape(-1, 4)
    middles = np.column_stack([marks[:, :2].mean(axis=1), marks[:, 2:].mean(axis=1)])
    for group in _group_overlapping(middles, is_bold):
        first, bold = group[0], bool(is_bold[group].any())
        text = _joint_name([names[index] for index in group], labels)
        extra = figures[first] if figures and len(group) == 1 else ""
        width = 6.5 * text_columns(html.unescape(text)) * (1.07 if bold else 1) + (80 if extra else 4)
        near = np.delete(covered, [first, first + n], axis=0) + _MARGIN
        places = [
            Place(place.box, place.annotation | {"x": spots[first, 0], "y": spots[first, column]})
            for column, mark in ((1, first), (2, first + n))
            for place in _candidate_places(middles[mark], width, palette)
        ]
        place = _best_place(places, plot, covered, crossed, near)
        is_free = _covered_area(place.box, covered) <= _MAX_COVERED or bold
        if is_free and plot.outside(place.box) <= _MAX_OUTSIDE:
            covered = np.vstack([covered, place.box])
            font = {"size": 12, "color": palette.text if bold else palette.muted}
            note(figure, (f"<b>{text}</b>" if bold else text) + extra, palette, **place.annotation, font=font)
    return figure


def _mark_boxes(spots: FloatArray, plot: PlotArea) -> FloatArray:
    """Return (2 n, 4) boxes: all dots, then all diamonds."""
    sizes = ((1, 5), (2, 8))
    return np.array(
        [plot.box((x, x), (y, y), size) for column, size in sizes for x, y in spots[:, [0, column]]]
    )


def _best_place(
    places: Sequence[Place], plot: PlotArea, covered: FloatArray, crossed: FloatArray, near: FloatArray
) -> Place:
    def cost(index: int) -> float:
        box = places[index].box
        hidden, cut, close = (_covered_area(box, others) for others in (covered, crossed, near))
        return 3 * hidden + cut + close / 3 + 30 * plot.outside(box) + 2 * index

    return places[min(range(len(places)), key=cost)]


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


def _joint_name(names: Sequence[str], labels: Mapping[int, Mapping[str, str]]) -> str:
    """Return one name for all rerankers at one spot."""
    if len(names) == 1:
        return labels[24][names[0]]
    if len(names) == 2:  # noqa: PLR2004 both have room if short
        return f"{labels[12][names[0]]} and {labels[12][names[1]]}"
    return f"{labels[18][names[0]]} and {len(names) - 1} more"


def _candidate_places(mark: FloatArray, width: float, palette: Palette) -> Iterator[Place]:
    """Yield positions beside a mark, preferred ones first."""
    for distance in _DISTANCES:
        for across, down in _DIRECTIONS:
            x, y = (side * distance * (0.7 if across and down else 1) for side in (across, down))
            left, top = mark[0] + x - width * (1 - across) / 2, mark[1] + y - LINE * (1 - down) / 2
            annotation = {
                "xanchor": {1: "left", 0: "center", -1: "right"}[across],
                "yanchor": {1: "top", 0: "middle", -1: "bottom"}[down],
                "showarrow": True,
                "arrowhead": 0,
                "arrowwidth": 1,
                "arrowcolor": palette.other if distance == _DISTANCES[-1] else "rgba(0,0,0,0)",
                "standoff": 6,
                "ax": x,
                "ay": y,
            }
            yield Place((left, left + width, top, top + LINE), annotation)


def _covered_area(box: Box, boxes: FloatArray) -> float:
    """Return the square pixels of a box that other boxes cover."""
    left, right, top, bottom = boxes.T
    across = np.minimum(box[1], right) - np.maximum(box[0], left)
    down = np.minimum(box[3], bottom) - np.maximum(box[2], top)
    return float((across.clip(0) * down.clip(0)).sum())


def line_names(
    ends: pd.Series, colours: Mapping[str, str], palette: Palette, axis: tuple[float, float], height: float
) -> list[dict[str, object]]:
    """Return an annotation per line, beside its right end without overlap.

    `ends` maps name → last value. `axis` is the range of the y axis, `height` its pixels.
    """
    (low, high), ordered = axis, ends.sort_values(ascending=False, kind="stable")
    heights = height * (high - ordered.to_numpy()) / (high - low)
    steps = _LINE_STEP * np.arange(len(heights))
    places = np.minimum(steps + np.maximum.accumulate(heights - steps), height - steps[::-1])
    labels = chart_names(map(str, ends.index), SLOPE_COLUMNS)
    beside = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6}
    return [
        note_of(
            labels[str(name)],
            palette,
            **beside,
            y=value,
            yshift=own - place,
            font={"size": 12, "color": colours[str(name)]},
        )
        for (name, value), own, place in zip(ordered.items(), heights, places, strict=True)
    ]
