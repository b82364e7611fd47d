"""A panel of lists by ties and gap: shaded cells, a strip of those without a gap, their mean; and a margin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.marks import UNCERTAIN, add_band, cells
from dashboard.charts.palette import Palette
from dashboard.charts.style import HEADING, note, set_xaxes, set_yaxes
from metrics.support.arrays import FloatArray, IntArray


def gap_axis_top(largest: float) -> float:
    """Return the upper end of an axis of absolute gaps."""
    return max(float(largest), 0.05) * 1.08


def gap_axis_floor(top: float) -> float:
    """Return where, below zero, an axis of gaps has room for lists without one."""
    return -0.075 * top


def middles(edges: FloatArray) -> FloatArray:
    """Return the (n,) middles of n + 1 edges."""
    return (edges[1:] + edges[:-1]) / 2


def panel_grid(rows: int) -> Figure:
    """Return a figure for rows of three panels: tie ratio, largest tie, distribution."""
    figure = Figure.of_panels(
        rows, 3, column_widths=(0.4, 0.36, 0.24), horizontal_spacing=0.045, vertical_spacing=0.2
    )
    return figure.set_layout(bargap=0.12, barmode="stack", showlegend=False)


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
    """A panel whose y axis is the absolute gap, with lists without a gap below zero.

    Attributes:
        figure: changed in place.
        palette: colours of the theme.
        top: upper end of the y axis.
        row, col: of the panel.
    """

    figure: Figure
    palette: Palette
    top: float
    row: int
    col: int

    @property
    def place(self) -> dict[str, int]:
        """Row and column, as plotly is told."""
        return {"row": self.row, "col": self.col}

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
        floor = gap_axis_floor(self.top)
        strip = cells(
            share[None],
            (self.palette.faint, self.palette.other),
            x=x,
            y=[floor * 1.75, floor * 0.75],
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
            add_band(
                self.figure, trend["x"], trend["low"].clip(lower=0), trend["high"], UNCERTAIN, **self.place
            )

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
    figure: Figure, levels: FloatArray, counts: Sequence[IntArray], palette: Palette
) -> None:
    """Add the distribution of gaps to the third panel, too high and too low apart.

    Args:
        figure: changed in place.
        levels: (n,) middles of the gaps.
        counts: (n,) lists too high, and too low.
        palette: colours of the theme.
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
            col=3,
        )
        text = f"<b style='color:{words}'>traditional {name}</b> · {int(lists.sum()):,}"
        height = {"y": 1 if name == "too high" else 0.93, "yref": "y3 domain", "yanchor": "top"}
        note(figure, text, palette, x=1, xref="x3 domain", xanchor="right", **height)
    set_yaxes(figure, showticklabels=False, row=1, col=3)


def label_gap_row(figure: Figure, palette: Palette, measure: str, top: float, row: int) -> None:
    """Set the title and the vertical axis of a row of panels.

    Args:
        figure: changed in place.
        palette: colours of the theme.
        measure: what the gap is of.
        top: upper end of the axis.
        row: of the panels.
    """
    axis = "" if row == 1 else "4"
    floor = gap_axis_floor(top)
    set_yaxes(figure, range=[floor * 2.1, top], row=row, nticks=6, tick0=0)
    set_yaxes(figure, title_text=f"| {measure} − tied {measure} |", row=row, col=1)
    set_yaxes(figure, showticklabels=False, row=row, col=2)
    edge = {"x": 0, "xref": f"x{axis} domain"}
    above = {"y": 1.06, "yref": f"y{axis} domain", "yanchor": "bottom"}
    font = {"size": 18, "family": HEADING, "color": palette.text, "weight": 600}
    note(figure, f"Gap in {measure}", palette, **edge, xanchor="left", xshift=-46, **above, font=font)
    note(figure, "no gap", palette, **edge, xanchor="right", xshift=-6, y=floor * 1.25, yref=f"y{axis}")


def label_tie_axes(figure: Figure) -> None:
    """Set the horizontal axes of the panels."""
    set_xaxes(figure, title_text="tie ratio", tickformat="~%", range=[-0.03, 1.03], col=1, showgrid=False)
    set_xaxes(figure, title_text="largest tie, documents", tickformat="~s", col=2, showgrid=False, nticks=8)
    set_xaxes(figure, title_text="lists", row=1, col=3, nticks=4)
