"""The marks of the product, each drawn once: dot, diamond, bar, band, cells; where names stand beside them."""

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
"""Height of a reranker's row in pixels."""
_BESIDE, _LETTER = 13, 6.1
"""Pixels beside the name of a row, and of a letter of it, about: plotly draws anew where they are too few."""
_LEAST_ROWS = 4
"""Rows whose height a chart has at least, for its legend is cut where the chart is lower."""
_TOP, CLEAR_TOP = 0.6, 0.9
"""Rows from the middle of the first to the top, and where the legend has marks as large as a row's."""
UNCERTAIN = "rgba(139,148,158,0.28)"
"""Grey of the band around a mean, on either ground."""
VALUES = ["tied", "traditional", "worst", "best"]
VALUES_HOVER = (
    "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
    "<br>worst %{customdata[3]:.4f}<br>best %{customdata[4]:.4f}<extra></extra>"
)
"""Hover text over a name and `VALUES`."""


def rows_height(n_rows: int) -> int:
    """Return the pixels of a chart of so many rows, its legend in several lines on a phone, and its axis."""
    return 96 + ROW * max(n_rows, _LEAST_ROWS)


def tied_dot(palette: Palette, size: float = 9) -> dict[str, Any]:
    """Return the marker of a tied value: a filled dot, small enough to lie inside the diamond."""
    return {"size": size, "color": palette.tied}


def traditional_diamond(palette: Palette, size: float = 15) -> dict[str, Any]:
    """Return the marker of a traditional value: a hollow diamond."""
    return {"symbol": "diamond-open", "size": size, "color": palette.traditional, "line": {"width": 2}}


def dotted_line(palette: Palette) -> dict[str, Any]:
    """Return the line of a cut-off or of a chosen value."""
    return {"color": palette.text, "width": 1.4, "dash": "dot"}


def named_rows(names: Iterable[object], values: np.ndarray) -> list[list[Any]]:
    """Return the rows that a hover text reads: a safe name, then values."""
    return [[hover_text(str(name)), *row] for name, row in zip(names, values, strict=True)]


def add_values(
    figure: Figure,
    table: pd.DataFrame,
    palette: Palette,
    line: dict[str, Any] | None = None,
    **trace: Any,  # noqa: ANN401
) -> None:
    """Add a diamond for each traditional value and a dot for each tied one.

    Args:
        figure: changed in place.
        table: traditional, tied.
        palette: colours of the theme.
        line: joins the dots, which take its colour; None for none.
        trace: x or y, the coordinate that is no value; hover, row and col of a subplot.
    """
    axis = "y" if "x" in trace else "x"
    dot = tied_dot(palette) if line is None else tied_dot(palette) | {"color": line["color"]}
    tied = {"mode": "markers" if line is None else "lines+markers", "line": line, "marker": dot}
    traditional = {"mode": "markers", "marker": traditional_diamond(palette)}
    for name, look in (("traditional", traditional), ("tied", tied)):
        figure.draw_scatter(**{axis: table[name]}, **{"name": name, "cliponaxis": False} | look | trace)


def add_diamond(figure: Figure, palette: Palette, x: float, y: float, hover: str) -> None:
    """Add the diamond of one traditional value, which stands below the axis it belongs to."""
    figure.draw_scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker=traditional_diamond(palette),
        hovertemplate=f"{hover}<extra></extra>",
        cliponaxis=False,
    )


def add_bounds(figure: Figure, table: pd.DataFrame, palette: Palette, **trace: Any) -> None:  # noqa: ANN401
    """Add a bar from the worst to the best value of each row.

    Args:
        figure: changed in place; its y axis counts rows from the top, 0 first.
        table: worst, best.
        palette: colours of the theme.
        trace: width, hover, row and col of a subplot.
    """
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
    """Add a worst-to-best bar, a traditional diamond and a tied dot per reranker.

    Args:
        figure: changed in place; its y axis counts rerankers from the top, 0 first.
        leaderboard: index reranker; worst, best, traditional, tied.
        palette: colours of the theme.
        subplot: its row and col, or its axes.
    """
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
    """Label rows that are counted from the top, 0 first.

    Args:
        figure: changed in place.
        names: of the rerankers, or whatever the rows are.
        palette: colours of the theme.
        longest: letters of a name that are written.
        top: rows from the middle of the first up to the legend.
    """
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
    """Label rows as `label_rows` does, above what they hold, so that a phone has room for both.

    Args:
        figure: changed in place.
        names: of the rerankers.
        palette: colours of the theme.
        raised: share of a row by which the foot of a label stands above the row's middle.
        grounds: colours behind the labels, which hide what would run through them; None for none.
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
    """Fill what lies between two lines."""
    outline = {"x": pd.concat([x, x[::-1]]), "y": np.r_[high, low[::-1]]}
    look = {"fill": "toself", "fillcolor": colour, "mode": "none", "hoverinfo": "skip"}
    figure.draw_scatter(**outline, **look | trace)


def add_segments(
    figure: Figure, x: pd.Series | pd.DataFrame, y: pd.Series | pd.DataFrame, colour: str, width: float
) -> None:
    """Add a straight line per row, between the two columns of x or of y.

    Args:
        figure: changed in place.
        x: one column, or the two ends.
        y: the same; rows that x lacks are left out.
        colour: of the lines.
        width: in pixels.
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
    """Add a dotted line after the first k places, and its name above."""
    figure.draw_shape(type="line", x0=k + 0.5, x1=k + 0.5, y0=ends[0], y1=ends[1], line=dotted_line(palette))
    note(figure, f"k = {k}", palette, **{"x": k + 0.5, "y": label, "yanchor": "bottom", "yref": "y"} | place)


def add_legend(figure: Figure, marks: dict[str, dict[str, Any]]) -> None:
    """Add entries to the legend, name → marker, that belong to no trace."""
    for name, marker in marks.items():
        figure.draw_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)


def add_chance_key(figure: Figure, palette: Palette, quarters: Sequence[str], yshift: int) -> None:
    """Write below a heatmap of chances what its shades stand for.

    Args:
        figure: changed in place.
        palette: colours of the theme.
        quarters: shades of a quarter, a half, three quarters and all.
        yshift: pixels from the lower end of the cells, negative.
    """
    swatches = (
        f"<span style='color:{shade};font-size:18px'>■</span> {share:.0%}"
        for shade, share in zip(quarters, (0.25, 0.5, 0.75, 1), strict=True)
    )
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 0, "yref": "paper", "yanchor": "top"}
    note(figure, f"chance: {' &nbsp; '.join(swatches)}", palette, **place, yshift=yshift)


def cells(z: np.ndarray, colours: Sequence[Any], text: Any = None, **trace: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a heatmap of separate cells.

    Args:
        z: (rows, columns) values; NaN is left out.
        colours: from low to high, evenly spaced, or pairs of the place of each from 0 to 1 and the colour.
        text: (rows, columns) words in the cells; None for none.
        trace: where the cells stand, what they tell, and what differs from the usual.
    """
    look: dict[str, Any] = {"showscale": False, "xgap": 2, "ygap": 2, "hoverongaps": False}
    if text is not None:
        look |= {"text": text, "texttemplate": "%{text}", "textfont": {"size": 12}}
    if isinstance(colours[0], str):
        colours = list(zip(np.linspace(0, 1, len(colours)).tolist(), colours, strict=True))
    return {"type": "heatmap", "z": z, "colorscale": colours, **look | trace}


WIDE, SMALL, TALL = 400, 230, 330
"""Pixels between the axes for which names are placed, across and down; on more room they only move apart."""
MOST_BARS = 8
"""Rerankers up to which each has its bars in a scatter chart; of more, bars and names cover one another."""
LINE = 16
"""Pixels a line of text is tall."""
_LINE_STEP = 17
"""Pixels from one name to the next at the ends of lines."""
_SAME_SPOT = 5
"""Pixels below which two marks are one to the eye."""
_MAX_COVERED = 25
"""Square pixels of marks and other names that a name may cover."""
_MAX_OUTSIDE = 4
"""Pixels by which a name may reach over the border; on more room than is reckoned with, it does not."""
_DISTANCES = (12, 20, 34)
"""Pixels of a name from its mark, tried in order; the last is joined to it by a line."""
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Across and down, the usual ones first."""

_MARGIN = np.array([-9, 9, -9, 9])
"""Pixels around other marks and names in which a name is confused with them."""

Box = tuple[float, float, float, float]
"""Left, right, top and bottom in pixels from the upper left corner."""


@dataclass(frozen=True)
class PlotArea:
    """What lies between the axes: their ends, as powers of ten on a log axis, and the pixels across."""

    left: float
    right: float
    bottom: float
    top: float
    width: int

    def box(self, x: tuple[float, float], y: tuple[float, float], edge: float = 2) -> Box:
        """Return what a line or mark covers.

        Args:
            x: its two ends across, as on the axis.
            y: its two ends up.
            edge: pixels around it.
        """
        across = [self.width * (value - self.left) / (self.right - self.left) for value in x]
        down = [TALL * (self.top - value) / (self.top - self.bottom) for value in y]
        return min(across) - edge, max(across) + edge, min(down) - edge, max(down) + edge

    def outside(self, box: Box) -> float:
        """Return the pixels by which a box reaches over the border."""
        return sum(max(over, 0) for over in (-box[0], box[1] - self.width, -box[2], box[3] - TALL))


class Place(NamedTuple):
    """A place for a text: what it covers, and the annotation that stands there."""

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
    """Name each mark where its name covers least; one that finds no room is left to hovering.

    Args:
        figure: changed in place and returned.
        names: of the rerankers.
        is_bold: (n,) whose names are bold, and drawn also over other marks.
        spots: (n, 3) x, and y of the dot and of the diamond.
        plot: where they stand.
        lines: what a name should not cross.
        palette: colours of the theme.
        figures: ours, after each name.
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
    """Return (2 n, 4) boxes of the dots, then of the diamonds."""
    sizes = ((1, 5), (2, 8))
    return np.array(
        [plot.box((x, x), (y, y), size) for column, size in sizes for x, y in spots[:, [0, column]]]
    )


def _best_place(
    places: Sequence[Place], plot: PlotArea, covered: FloatArray, crossed: FloatArray, near: FloatArray
) -> Place:
    """Return the place of the least cost; earlier ones are cheaper."""

    def cost(index: int) -> float:
        box = places[index].box
        hidden, cut, close = (_covered_area(box, others) for others in (covered, crossed, near))
        return 3 * hidden + cut + close / 3 + 30 * plot.outside(box) + 2 * index

    return places[min(range(len(places)), key=cost)]


def _group_overlapping(middles: FloatArray, is_bold: BoolArray) -> list[list[int]]:
    """Return the rerankers that share a name, as their marks are one to the eye; those with a bold one first.

    `middles` are (2 n, 2) pixels of the dots, then of the diamonds.
    """
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
    """Return one name for rerankers that stand in one place; `labels` are theirs by width."""
    if len(names) == 1:
        return labels[24][names[0]]
    if len(names) == 2:  # noqa: PLR2004 both have room if short
        return f"{labels[12][names[0]]} and {labels[12][names[1]]}"
    return f"{labels[18][names[0]]} and {len(names) - 1} more"


def _candidate_places(mark: FloatArray, width: float, palette: Palette) -> Iterator[Place]:
    """Yield the places of a text beside a mark, the usual ones first; x and y are the mark's."""
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
    """Return the square pixels of a box that the other (n, 4) boxes cover."""
    left, right, top, bottom = boxes.T
    across = np.minimum(box[1], right) - np.maximum(box[0], left)
    down = np.minimum(box[3], bottom) - np.maximum(box[2], top)
    return float((across.clip(0) * down.clip(0)).sum())


def line_names(
    ends: pd.Series, colours: Mapping[str, str], palette: Palette, axis: tuple[float, float], height: float
) -> list[dict[str, object]]:
    """Return an annotation for each line, beside its end or as near as other names and the plot allow.

    Args:
        ends: name → value at the right end of its line.
        colours: name → colour of its line.
        palette: colours of the theme.
        axis: lowest and highest value of the axis.
        height: pixels between them.
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
