"""Names beside the marks of a scatter chart, each where it covers least, and at the ends of lines."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import SLOPE_COLUMNS, chart_names, text_columns
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, note_of
from metrics.support.arrays import BoolArray, FloatArray

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
