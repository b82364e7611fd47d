"""Panels of lists by ties and gap: shaded cells, a strip of those without a gap, their mean, a margin."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import HEADING, note
from metrics.support.arrays import FloatArray, IntArray


def top_of(largest: float) -> float:
    """Upper end of an axis of absolute gaps."""
    return max(float(largest), 0.05) * 1.08


def floor_of(top: float) -> float:
    """Where, below zero, an axis of gaps has room for lists without one."""
    return -0.075 * top


def shade(
    figure: go.Figure,
    middles: tuple[FloatArray, FloatArray],
    shown: FloatArray,
    counts: IntArray,
    palette: Palette,
    **place: int,
) -> None:
    """Cells, darker where more lists are.

    Args:
        figure: changed in place.
        middles: of the cells, along x and y.
        shown: (n_y, n_x) how dark; NaN is left out.
        counts: (n_y, n_x) lists.
        palette: colours of the theme.
        place: row and col of a subplot.
    """
    figure.add_heatmap(
        x=middles[0],
        y=middles[1],
        z=shown,
        colorscale=[[at / (len(palette.warm) - 1), colour] for at, colour in enumerate(palette.warm)],
        showscale=False,
        xgap=1,
        ygap=1,
        customdata=counts,
        hoverongaps=False,
        hovertemplate="%{customdata:,} lists<extra></extra>",
        **place,
    )


def no_gap_strip(
    figure: go.Figure,
    middles: FloatArray,
    none: IntArray,
    every: IntArray,
    floor: float,
    palette: Palette,
    **place: int,
) -> None:
    """Below zero, the share of lists without a gap."""
    share = np.where(every > 0, none / np.maximum(every, 1), np.nan)
    figure.add_heatmap(
        x=middles,
        y=[floor * 1.75, floor * 0.75],
        z=[share],
        colorscale=[[0, palette.faint], [1, palette.other]],
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=1,
        customdata=[none],
        hoverongaps=False,
        hovertemplate="no gap in %{customdata:,} lists, %{z:.0%} of those here<extra></extra>",
        **place,
    )


def mean_band(figure: go.Figure, line: pd.DataFrame, **place: int) -> None:
    """The 95% band of a local mean: x, low, high."""
    if len(line):
        figure.add_scatter(
            x=np.r_[line["x"], line["x"][::-1]],
            y=np.r_[line["high"], line["low"].clip(lower=0)[::-1]],
            fill="toself",
            mode="none",
            fillcolor="rgba(139,148,158,0.28)",
            hoverinfo="skip",
            **place,
        )


def mean_line(figure: go.Figure, line: pd.DataFrame, palette: Palette, **place: int) -> None:
    """A local mean: x, mean."""
    if len(line):
        figure.add_scatter(
            x=line["x"],
            y=line["mean"],
            mode="lines",
            line={"color": palette.text, "width": 2.5},
            hovertemplate="mean gap %{y:.4f}<extra></extra>",
            **place,
        )


def margin(figure: go.Figure, middles: FloatArray, counts: Sequence[IntArray], palette: Palette) -> None:
    """Distribution of gaps in the third panel, too high and too low apart.

    Args:
        figure: changed in place.
        middles: (n,) of the levels.
        counts: (n,) lists too high, and too low.
        palette: colours of the theme.
    """
    looks = (("too high", palette.traditional, palette.traditional), ("too low", palette.other, palette.muted))
    for (name, colour, words), lists in zip(looks, counts, strict=True):
        figure.add_bar(
            x=lists,
            y=middles,
            orientation="h",
            marker={"color": colour},
            hovertemplate=f"%{{x:,}} lists {name} by about %{{y:.3f}}<extra></extra>",
            row=1,
            col=3,
        )
        note(
            figure,
            f"<b style='color:{words}'>traditional {name}</b> · {int(lists.sum()):,}",
            palette,
            x=1,
            xref="x3 domain",
            xanchor="right",
            y=1 if name == "too high" else 0.93,
            yref="y3 domain",
            yanchor="top",
        )
    figure.update_yaxes(showticklabels=False, row=1, col=3)


def name_gaps(figure: go.Figure, measure: str, palette: Palette, top: float, floor: float, row: int) -> None:
    """Title and vertical axis of a row of panels."""
    first = "" if row == 1 else "4"
    figure.update_yaxes(range=[floor * 2.1, top], row=row, tickformat=".2~f", nticks=6, tick0=0)
    figure.update_yaxes(title_text=f"| {measure} − tied {measure} |", row=row, col=1, automargin=True)
    figure.update_yaxes(showticklabels=False, row=row, col=2)
    left = {"x": 0, "xref": f"x{first} domain"}
    note(
        figure,
        f"Gap in {measure}",
        palette,
        **left,
        xanchor="left",
        xshift=-46,
        y=1.06,
        yref=f"y{first} domain",
        yanchor="bottom",
        font={"size": 18, "family": HEADING, "color": palette.text, "weight": 600},
    )
    note(figure, "no gap", palette, **left, xanchor="right", xshift=-6, y=floor * 1.25, yref=f"y{first}")


def name_ties(figure: go.Figure) -> None:
    """Horizontal axes of the panels."""
    figure.update_xaxes(title_text="tie ratio", tickformat=".0%", range=[-0.03, 1.03], col=1, showgrid=False)
    figure.update_xaxes(title_text="largest tie, documents", tickformat="~s", col=2, showgrid=False, nticks=8)
    figure.update_xaxes(title_text="lists", row=1, col=3, nticks=4)
