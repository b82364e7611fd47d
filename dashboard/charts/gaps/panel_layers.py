"""A panel of lists by ties and gap: shaded cells, a strip of those without a gap, their mean; and a margin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import UNCERTAIN, add_band, cells
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, set_xaxes, set_yaxes, signed_ticks
from metrics.support.arrays import FloatArray, IntArray


def gap_axis_top(largest: float) -> float:
    """Return the upper end of an axis of absolute gaps."""
    return max(float(largest), 0.05) * 1.08


_STRIP = 0.075
"""Height of the strip of lists without a gap, as a share of the axis of gaps above it."""


def middles(edges: FloatArray) -> FloatArray:
    """Return the (n,) middles of n + 1 edges."""
    return (edges[1:] + edges[:-1]) / 2


def first_dots(lists: pd.DataFrame, places: Mapping[str, float]) -> pd.DataFrame:
    """Return the first of the lists whose dots fall on one another, with n_hidden behind each.

    `places` has the two columns of a dot's position → how far apart two dots are told from each other.
    """
    x, y = ((lists[column].to_numpy() / step).round() for column, step in places.items())
    _, first, counts = np.unique(x + 1j * y, return_index=True, return_counts=True)
    order = first.argsort()
    return lists.iloc[first[order]].assign(n_hidden=counts[order] - 1)


@dataclass(frozen=True)
class GapPanel:
    """A panel whose y axis is the gap, with lists without a gap in a strip below it.

    Attributes:
        figure: changed in place.
        palette: colours of the theme.
        top: upper end of the y axis.
        row, col: of the panel.
        bottom: lower end of the y axis: 0 for absolute gaps, -top for signed ones.
    """

    figure: Figure
    palette: Palette
    top: float
    row: int
    col: int
    bottom: float = 0.0

    @property
    def place(self) -> dict[str, int]:
        """Row and column, as plotly is told."""
        return {"row": self.row, "col": self.col}

    def below(self, strips: float) -> float:
        """Return the height of so many strips below the axis of gaps."""
        return self.bottom - strips * _STRIP * (self.top - self.bottom)

    def label_gaps(self, title: str) -> None:
        """Set the vertical axis, and name the strip below it."""
        look: dict[str, Any] = {"nticks": 6, "tick0": 0}
        if self.bottom:
            zero = {"zeroline": True, "zerolinecolor": self.palette.other, "zerolinewidth": 1}
            look = signed_ticks(self.bottom, self.top, 8) | zero
        set_yaxes(self.figure, range=[self.below(2.1), self.top], title_text=title, **look, **self.place)
        place = {"x": 0, "xref": "x domain", "xanchor": "right", "xshift": -6}
        note(self.figure, "no gap", self.palette, **place, y=self.below(1.25), yref="y", **self.place)

    def add_density(self, x: FloatArray, y: FloatArray, shade: FloatArray, counts: IntArray) -> None:
        """Add cells, darker where more lists are.

        Args:
            x: (n_x,) middles of the cells.
            y: (n_y,) middles of the cells.
            shade: (n_y, n_x) how dark; NaN is left out.
            counts: (n_y, n_x) lists.
        """
        hover = "%{customdata:,} lists<extra></extra>"
        self.figure.draw(
            cells(shade, self.palette.warm, x=x, y=y, xgap=1, ygap=1, customdata=counts, hovertemplate=hover),
            **self.place,
        )

    def add_no_gap_strip(self, x: FloatArray, without_gap: IntArray, n_lists: IntArray) -> None:
        """Add the share of lists without a gap below zero.

        Args:
            x: (n_x,) middles of the cells.
            without_gap: (n_x,) lists without a gap.
            n_lists: (n_x,) all lists.
        """
        share = np.where(n_lists > 0, without_gap / np.maximum(n_lists, 1), np.nan)
        strip = cells(
            share[None],
            (self.palette.faint, self.palette.other),
            x=x,
            y=[self.below(1.75), self.below(0.75)],
            zmin=0,
            zmax=1,
            xgap=1,
            ygap=None,
            customdata=[without_gap],
            hovertemplate="no gap in %{customdata:,} lists, %{z:.0%} of those here<extra></extra>",
        )
        self.figure.draw(strip, **self.place)

    def add_mean_band(self, trend: pd.DataFrame) -> None:
        """Add the 95% band of a local mean: x, low, high."""
        if len(trend):
            low = trend["low"].clip(lower=self.bottom)
            add_band(self.figure, trend["x"], low, trend["high"], UNCERTAIN, **self.place)

    def add_mean_line(self, trend: pd.DataFrame) -> None:
        """Add a local mean: x, mean."""
        if len(trend):
            self.figure.draw_scatter(
                x=trend["x"],
                y=trend["mean"],
                mode="lines",
                line={"color": self.palette.text, "width": 2.5},
                hovertemplate="mean gap %{y:.4f}<extra></extra>",
                **self.place,
            )


def add_gap_distribution(
    figure: Figure, levels: FloatArray, counts: Sequence[IntArray], palette: Palette, col: int = 3
) -> None:
    """Add the distribution of gaps to a panel of the first row, too high and too low apart.

    Args:
        figure: changed in place.
        levels: (n,) middles of the gaps.
        counts: (n,) lists too high, and too low.
        palette: colours of the theme.
        col: of the panel.
    """
    looks = (("too high", palette.traditional, palette.traditional), ("too low", palette.other, palette.muted))
    for (name, colour, words), lists in zip(looks, counts, strict=True):
        figure.draw_bars(
            x=lists,
            y=levels,
            orientation="h",
            marker={"color": colour},
            hovertemplate=f"%{{x:,}} lists {name} by about %{{y:.3f}}<extra></extra>",
            row=1,
            col=col,
        )
        text = f"<b style='color:{words}'>traditional {name}</b> · {int(lists.sum()):,}"
        height = {"y": 1 if name == "too high" else 0.93, "yref": f"y{col} domain", "yanchor": "top"}
        note(figure, text, palette, x=1, xref=f"x{col} domain", xanchor="right", **height)
    set_yaxes(figure, showticklabels=False, row=1, col=col)
    set_xaxes(figure, title_text="lists", row=1, col=col, nticks=4)


def label_tie_axis(figure: Figure, column: str, **place: int) -> None:
    """Set the horizontal axis of a panel of lists by tie_ratio or max_tie_size."""
    look: dict[str, Any] = {"title_text": "largest tie, documents", "tickformat": "~s", "nticks": 8}
    if column == "tie_ratio":
        look = {"title_text": "tie ratio", "tickformat": "~%", "range": [-0.03, 1.03]}
    set_xaxes(figure, showgrid=False, **look, **place)
