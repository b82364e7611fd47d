"""What ties do to lists that are made up: one list, more and more ties, fewer and fewer digits."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.one_list.ladder import tie_ladder
from dashboard.charts.one_list.query import MAX_LABELS, diamond
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import note, style
from metrics.studies.prose import percent

_FEWEST = 5
"""Places that a short list is given."""
_HOT = 0.65
"""Share of the largest gap from which on a cell is bright enough for dark letters."""


def ladder_with_ranks(
    ladder: pd.DataFrame, chances: pd.DataFrame, palette: Palette, k: int | None, listed: int | None
) -> go.Figure:
    """A list from the top and, below it on the same axis, the chance of each first relevant rank.

    Args:
        ladder: as for `tie_ladder`.
        chances: rank, chance; no rows where nothing is relevant.
        palette: colours of the theme.
        k: cut-off to mark, None for none.
        listed: rank of the first relevant document as listed, None where there is none.
    """
    figure = tie_ladder(ladder, palette, k)
    top = float(chances["chance"].max()) if len(chances) else 1.0
    figure.add_bar(
        x=chances["rank"],
        y=chances["chance"],
        yaxis="y2",
        width=0.72,
        marker={"color": palette.tied, "line": {"width": 0}},
        text=[percent(value) for value in chances["chance"]] if len(chances) <= MAX_LABELS else None,
        textposition="outside",
        textfont={"color": palette.muted},
        textangle=0,
        cliponaxis=False,
        hovertemplate="first relevant at rank %{x}: %{y:.4f}<extra></extra>",
        showlegend=False,
    )
    if listed is not None:
        diamond(figure, palette, listed, -0.14 * top, f"as listed: rank {listed}")
        figure.data[-1].yaxis = "y2"
    figure.update_layout(
        height=400,
        yaxis={"domain": [0.64, 1]},
        yaxis2={"domain": [0, 0.54], "range": [-0.26 * top, 1.2 * top], "anchor": "x", "visible": False},
        xaxis={"anchor": "y2", "dtick": 1 if len(ladder) <= MAX_LABELS else None},
        margin={"l": 8, "r": 12, "t": 24, "b": 8},
    )
    return figure.update_xaxes(
        title_text="chance of the first relevant rank; diamond: as listed",
        range=[0.4, max(len(ladder), _FEWEST) + 0.6],
    )


def tie_growth(curve: pd.DataFrame, palette: Palette, measure: str, chosen: float) -> go.Figure:
    """A mean as ties grow: tied, where 95 % of shuffles fall, and every order there is.

    Args:
        curve: tie_probability (rising), tie_ratio, tied, worst, best, low, high.
        palette: colours of the theme.
        measure: how the mean is called.
        chosen: tie probability to mark, one of the curve's.
    """
    figure, x = go.Figure(), curve["tie_probability"]
    bands = (("worst", "best", palette.bounds, "worst to best"),
             ("low", "high", faded(palette.traditional, 0.42), "95% of shuffles"))  # fmt: skip
    for low, high, colour, name in bands:
        figure.add_scatter(
            x=np.r_[x, x[::-1]],
            y=np.r_[curve[low], curve[high][::-1]],
            fill="toself",
            fillcolor=colour,
            mode="lines",
            line={"width": 0, "color": colour},
            name=name,
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=x,
        y=curve["tied"],
        mode="lines+markers",
        line={"color": palette.tied, "width": 2.5},
        marker={"size": 7, "color": palette.tied},
        name="tied",
        customdata=curve[["worst", "best", "low", "high", "tie_ratio"]],
        hovertemplate=(
            "tie probability %{x:.2f}<br>tied %{y:.4f}<br>95% of shuffles %{customdata[2]:.4f} to "
            "%{customdata[3]:.4f}<br>worst %{customdata[0]:.4f}, best %{customdata[1]:.4f}<br>"
            "%{customdata[4]:.0%} of documents tied<extra></extra>"
        ),
    )
    one = curve.iloc[(x - chosen).abs().to_numpy().argmin()]
    line = {"color": palette.text, "width": 1.4, "dash": "dot"}
    figure.add_shape(type="line", x0=chosen, x1=chosen, y0=0, y1=1, yref="paper", line=line)
    words = (
        f"<b style='color:{palette.tied}'>{one['tied']:.3f} tied</b><br>"
        f"<span style='color:{palette.traditional}'>{one['low']:.3f} – {one['high']:.3f}</span><br>"
        f"{percent(one['tie_ratio'])} of documents tied"
    )
    right = chosen > 0.6  # noqa: PLR2004 else the words leave the figure
    side = {"xanchor": "right", "xshift": -8} if right else {"xanchor": "left", "xshift": 8}
    note(figure, words, palette, x=chosen, y=1, yref="paper", yanchor="top", align="left", **side)
    style(figure, palette, 360)
    floor, ceiling = float(curve["worst"].min()), float(curve["best"].max())
    room = max(ceiling - floor, 0.05)
    ends = [floor - 0.05 * room, ceiling + 0.28 * room]
    figure.update_yaxes(title_text=measure, tickformat=".2~f", range=ends)
    return figure.update_xaxes(
        title_text="tie probability", tickformat=".1f", showgrid=False, range=[-0.02, 1.02]
    )


def gap_heatmap(grid: pd.DataFrame, palette: Palette, chosen: tuple[int, float] | None) -> go.Figure:
    """Mean absolute gap of a list over score levels and tie probability.

    Args:
        grid: index tie probability, columns score levels; mean absolute gaps.
        palette: colours of the theme.
        chosen: score levels and tie probability to frame, None where the grid lacks them.
    """
    gaps = grid.to_numpy()
    top = max(float(gaps.max()), 1e-9)
    darker = min(palette.text, palette.ground)  # as hexadecimal
    across, down = [str(one) for one in grid.columns], [f"{one:.1f}" for one in grid.index]
    figure = go.Figure(
        go.Heatmap(
            z=gaps,
            x=across,
            y=down,
            zmin=0,
            zmax=1.6 * top,
            colorscale=[[at / 5, colour] for at, colour in enumerate(palette.warm)],
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="%{x} levels, tie probability %{y}: %{z:.4f}<extra></extra>",
        )
    )
    figure.add_scatter(
        x=np.tile(across, len(down)),
        y=np.repeat(down, len(across)),
        mode="text",
        text=[f"{value:.3f}" for value in gaps.ravel()],
        textfont={"size": 11, "color": np.where(gaps.ravel() > _HOT * top, darker, palette.text)},
        hoverinfo="skip",
        showlegend=False,
    )
    if chosen is not None:
        x, y = list(grid.columns).index(chosen[0]), list(grid.index).index(chosen[1])
        box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
        figure.add_shape(type="rect", line={"color": palette.text, "width": 2}, **box)
    style(figure, palette, 360, t=8)
    figure.update_yaxes(title_text="tie probability", type="category", showgrid=False)
    return figure.update_xaxes(title_text="score levels", type="category", showgrid=False)
