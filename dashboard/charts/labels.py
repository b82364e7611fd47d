"""Names beside the marks of a scatter chart, each where it covers least."""

import html
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe
from metrics.support.arrays import BoolArray, FloatArray

WIDE, SMALL, TALL = 400, 230, 330
"""Pixels between the axes for which names are placed, across and down; on more room they only move apart."""
APART = 5
"""Pixels below which two marks are one to the eye."""
HIDDEN = 25
"""Square pixels of marks and other names that a name may cover."""
LINE = 16
"""Pixels a line of text is tall."""

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
        """What a line or mark with this much around it covers."""
        across = [self.width * (value - self.left) / (self.right - self.left) for value in x]
        down = [TALL * (self.top - value) / (self.top - self.bottom) for value in y]
        return min(across) - edge, max(across) + edge, min(down) - edge, max(down) + edge

    def outside(self, box: Box) -> float:
        """Pixels by which a box reaches over the border."""
        return sum(max(over, 0) for over in (-box[0], box[1] - self.width, -box[2], box[3] - TALL))


def add_names(
    figure: go.Figure,
    names: Sequence[str],
    strong: BoolArray,
    spots: FloatArray,
    plane: PlotArea,
    crossed: Sequence[Box],
    palette: Palette,
    figures: Sequence[str] | None = None,
) -> go.Figure:
    """Name each mark where its name covers least; one that finds no room is left to hovering.

    Args:
        figure: changed in place and returned.
        names: of the rerankers.
        strong: (n,) whose names are bold, and always drawn.
        spots: (n, 3) x, and y of the dot and of the diamond.
        plane: where they stand.
        crossed: lines that a name should not cross.
        palette: colours of the theme.
        figures: ours, after each name.
    """
    x, *heights = spots.T
    marks = [
        plane.box((a, a), (b, b), size)
        for y, size in zip(heights, (5, 8), strict=True)
        for a, b in zip(x, y, strict=True)
    ]
    solid, lines = np.array(marks), np.array(crossed).reshape(-1, 4)
    middle = np.column_stack([solid[:, :2].mean(axis=1), solid[:, 2:].mean(axis=1)])
    for group in group_overlapping(middle, strong):
        text = joint_name([names[at] for at in group])
        extra = figures[group[0]] if figures and len(group) == 1 else ""
        bold = bool(strong[group].any())
        wide = 6.5 * text_columns(text) * (1.07 if bold else 1) + (80 if extra else 4)
        near = np.delete(solid, [group[0], group[0] + len(x)], axis=0) + np.array([-9, 9, -9, 9])
        tries: list[tuple[float, float, Box, dict[str, object]]] = []
        for at, y in ((group[0], heights[0]), (group[0] + len(x), heights[1])):
            for box, told in candidate_places(middle[at], wide, palette):
                hidden = covered_area(box, solid)
                cost = (
                    3 * hidden
                    + covered_area(box, lines)
                    + covered_area(box, near) / 3
                    + 30 * plane.outside(box)
                )
                tries.append((cost + 2 * len(tries), hidden, box, told | {"x": x[group[0]], "y": y[group[0]]}))
        _, hidden, box, told = min(tries, key=lambda one: one[0])
        if hidden <= HIDDEN or bold:
            solid = np.vstack([solid, box])
            told["font"] = {"size": 12, "color": palette.text if bold else palette.muted}
            note(figure, (f"<b>{text}</b>" if bold else text) + extra, palette, **told)
    return figure


def group_overlapping(middle: FloatArray, strong: BoolArray) -> list[list[int]]:
    """Rerankers whose dots, and diamonds, are one to the eye share a name; those with a bold one first."""
    groups: list[list[int]] = []
    both = middle.reshape(2, -1, 2)
    for at in range(len(strong)):
        near = (group for group in groups if np.abs(both[:, at] - both[:, group[0]]).max() < APART)
        found = next(near, None)
        if found is None:
            groups.append([at])
        else:
            found.append(at)
    return sorted(groups, key=lambda group: not strong[group].any())


def joint_name(names: Sequence[str]) -> str:
    """One name for rerankers that stand in one place."""
    if len(names) == 1:
        return safe(names[0], 24)
    if len(names) == 2:  # noqa: PLR2004 both have room if short
        return f"{safe(names[0], 12)} and {safe(names[1], 12)}"
    return f"{safe(names[0], 18)} and {len(names) - 1} more"


def text_columns(text: str) -> int:
    """Letters a text is wide; those of East Asian scripts count twice."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in html.unescape(text))


def candidate_places(
    mark: FloatArray, wide: float, palette: Palette
) -> Iterator[tuple[Box, dict[str, object]]]:
    """Places for a text beside a mark, the usual ones first: its box, and how plotly is told."""
    for far in (12, 20, 34):
        for across, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1)):
            x = across * (far if not down else 0.7 * far)
            y = down * (far if not across else 0.7 * far)
            left = mark[0] + x - wide * (1 - across) / 2
            up = mark[1] + y - LINE * (1 - down) / 2
            yield (
                (left, left + wide, up, up + LINE),
                {
                    "xanchor": {1: "left", 0: "center", -1: "right"}[across],
                    "yanchor": {1: "top", 0: "middle", -1: "bottom"}[down],
                    "showarrow": True,
                    "arrowhead": 0,
                    "arrowwidth": 1,
                    "arrowcolor": palette.other if far > 20 else "rgba(0,0,0,0)",  # noqa: PLR2004 the near ones
                    "standoff": 6,
                    "ax": x,
                    "ay": y,
                },
            )


def covered_area(box: Box, others: FloatArray) -> float:
    """Square pixels of a box that others cover."""
    left, right, top, bottom = others.T
    across = np.minimum(box[1], right) - np.maximum(box[0], left)
    down = np.minimum(box[3], bottom) - np.maximum(box[2], top)
    return float((across.clip(0) * down.clip(0)).sum())
