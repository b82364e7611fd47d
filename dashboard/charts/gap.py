"""Ties against gaps: six panels in two rows, as in the notebook, drawn so that outliers can be clicked."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.palette import Palette
from dashboard.charts.style import HEADING, note, safe, style
from metrics.studies.gap import trend

CROWDED = 4
"""Lists in a cell from which on it is shaded instead of dotted."""
DOTS = 3000
"""Single lists drawn at most in a panel, the largest gaps first: so few need no WebGL, which starts slowly."""
BINS = 22


def gap_panels(
    table: pd.DataFrame, palette: Palette, names: tuple[str, str], selected: int | None = None
) -> go.Figure:
    """Tie ratio and largest tie against both gaps, their distribution, and one gap against the other.

    Args:
        table: tie_ratio, max_tie_size, first_size, second_size (absolute gaps), first_gap, reranker,
            query_id; the index is what a click gives back.
        palette: colours of the theme.
        names: the two measures.
        selected: index of the list to ring.
    """
    figure = make_subplots(
        2, 3, column_widths=[0.4, 0.36, 0.24], horizontal_spacing=0.045, vertical_spacing=0.2
    )
    for row, size in ((1, "first_size"), (2, "second_size")):
        top = max(float(table[size].max()), 0.05) * 1.08
        floor = -0.075 * top
        for col, x in ((1, "tie_ratio"), (2, "max_tie_size")):
            _panel(figure, table, x, size, palette, top, floor, row, col)
            _ring(figure, table, x, size, palette, selected, row, col)
        figure.update_yaxes(range=[floor * 2.1, top], row=row, tickformat=".2~f", nticks=6, tick0=0)
        figure.update_yaxes(
            title_text=f"| {names[row - 1]} − tied {names[row - 1]} |", row=row, col=1, automargin=True
        )
        figure.update_yaxes(showticklabels=False, row=row, col=2)
        heading = {"size": 18, "family": HEADING, "color": palette.text, "weight": 600}
        first = "" if row == 1 else "4"
        note(
            figure,
            f"Gap in {names[row - 1]}",
            palette,
            x=0,
            xref=f"x{first} domain",
            xanchor="left",
            xshift=-46,
            y=1.06,
            yref=f"y{first} domain",
            yanchor="bottom",
            font=heading,
        )
        first = "" if row == 1 else "4"
        note(
            figure,
            "no gap",
            palette,
            x=0,
            xref=f"x{first} domain",
            xanchor="right",
            xshift=-6,
            y=floor * 1.25,
            yref=f"y{first}",
        )
    _margin(figure, table, palette)
    _against(figure, table, palette, names, selected)
    style(figure, palette, 780, t=48)
    figure.update_layout(bargap=0.12, barmode="stack", showlegend=False, clickmode="event+select")
    figure.update_xaxes(title_text="tie ratio", tickformat=".0%", range=[-0.03, 1.03], col=1, showgrid=False)
    figure.update_xaxes(title_text="largest tie, documents", tickformat="~s", col=2, showgrid=False, nticks=8)
    figure.update_xaxes(title_text="lists", row=1, col=3, nticks=4)
    return figure.update_xaxes(
        title_text=f"{names[0]} gap", row=2, col=3, tickformat=".2~f", nticks=5, showgrid=False
    )


def _panel(
    figure: go.Figure,
    table: pd.DataFrame,
    x: str,
    y: str,
    palette: Palette,
    top: float,
    floor: float,
    row: int,
    col: int,
) -> None:
    edges = np.linspace(0, 1, BINS + 1) if x == "tie_ratio" else _whole_edges(table[x])
    off = table[table[y] > 0]
    level = np.linspace(0, top, BINS - 5)
    counts, _, _ = np.histogram2d(off[y], off[x], bins=[level, edges])
    middle_x, middle_y = (edges[1:] + edges[:-1]) / 2, (level[1:] + level[:-1]) / 2
    scale = [[at / (len(palette.warm) - 1), colour] for at, colour in enumerate(palette.warm)]
    figure.add_heatmap(
        x=middle_x,
        y=middle_y,
        z=np.where(counts >= CROWDED, counts, np.nan),
        colorscale=scale,
        showscale=False,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        hovertemplate="%{z:.0f} lists<extra></extra>",
        row=row,
        col=col,
    )
    strip, _ = np.histogram(table.loc[table[y] == 0, x], bins=edges)
    every, _ = np.histogram(table[x], bins=edges)
    share = np.where(every > 0, strip / np.maximum(every, 1), np.nan)
    figure.add_heatmap(
        x=middle_x,
        y=[floor * 1.75, floor * 0.75],
        z=[share],
        colorscale=[[0, palette.faint], [1, palette.other]],
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=1,
        customdata=[strip],
        hoverongaps=False,
        hovertemplate="no gap in %{customdata} lists, %{z:.0%} of those here<extra></extra>",
        row=row,
        col=col,
    )
    line = trend(table[x], table[y])
    if len(line):
        band = np.r_[line["high"], line["low"].clip(lower=0)[::-1]]
        figure.add_scatter(
            x=np.r_[line["x"], line["x"][::-1]],
            y=band,
            fill="toself",
            mode="none",
            fillcolor="rgba(139,148,158,0.28)",
            hoverinfo="skip",
            row=row,
            col=col,
        )
    at_x = np.clip(np.digitize(off[x], edges) - 1, 0, len(edges) - 2)
    at_y = np.clip(np.digitize(off[y], level) - 1, 0, len(level) - 2)
    single = off[counts[at_y, at_x] < CROWDED].nlargest(DOTS, y)
    figure.add_scatter(
        x=single[x],
        y=single[y],
        mode="markers",
        marker={"size": 6, "color": palette.traditional, "opacity": 0.65},
        customdata=_tags(single),
        hovertemplate=_hover(x),
        row=row,
        col=col,
        selected={"marker": {"opacity": 0.65}},
        unselected={"marker": {"opacity": 0.65}},
    )
    if len(line):
        figure.add_scatter(
            x=line["x"],
            y=line["mean"],
            mode="lines",
            line={"color": palette.text, "width": 2.5},
            hovertemplate="mean gap %{y:.4f}<extra></extra>",
            row=row,
            col=col,
        )


def _whole_edges(sizes: pd.Series) -> np.ndarray:
    low, high = max(int(sizes.min()), 1), int(sizes.max())
    step = max(1, -(-(high - low + 1) // BINS))
    return np.arange(low - 0.5, high + step + 0.5, step)


def _tags(lists: pd.DataFrame) -> np.ndarray:
    names = [safe(str(name)) for name in lists["reranker"]]
    queries = [safe(str(query)) for query in lists["query_id"]]
    return np.column_stack([lists.index.to_numpy(), names, queries, lists["tie_ratio"], lists["max_tie_size"]])


def _hover(x: str) -> str:
    axis = (
        "tie ratio %{x:.4f}" if x == "tie_ratio" else "largest tie %{x}" if x == "max_tie_size" else "%{x:.4f}"
    )
    return f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>gap %{{y:.4f}}<br>{axis}<extra></extra>"


def _ring(
    figure: go.Figure,
    table: pd.DataFrame,
    x: str,
    y: str,
    palette: Palette,
    selected: int | None,
    row: int,
    col: int,
) -> None:
    if selected is None or selected not in table.index:
        return
    one = table.loc[selected]
    figure.add_scatter(
        x=[one[x]],
        y=[one[y]],
        mode="markers",
        marker={"size": 13, "color": palette.tied, "line": {"color": palette.ground, "width": 2}},
        hoverinfo="skip",
        row=row,
        col=col,
    )
    figure.add_annotation(
        x=one[x],
        y=one[y],
        text=f"<b>{safe(str(one['query_id']), 16)}</b>",
        showarrow=False,
        yshift=16,
        font={"size": 13, "color": palette.tied},
        row=row,
        col=col,
    )


def _margin(figure: go.Figure, table: pd.DataFrame, palette: Palette) -> None:
    """Distribution of the first gap beside its panels, too high and too low apart."""
    top = max(float(table["first_size"].max()), 0.05) * 1.08
    edges = np.linspace(0, top, BINS - 5)
    for name, colour, words, signs in (
        ("too high", palette.traditional, palette.traditional, table["first_gap"] > 0),
        ("too low", palette.other, palette.muted, table["first_gap"] < 0),
    ):
        counts, _ = np.histogram(table.loc[signs, "first_size"], bins=edges)
        figure.add_bar(
            x=counts,
            y=(edges[1:] + edges[:-1]) / 2,
            orientation="h",
            marker={"color": colour},
            hovertemplate=f"%{{x}} lists {name} by about %{{y:.3f}}<extra></extra>",
            row=1,
            col=3,
        )
        note(
            figure,
            f"<b style='color:{words}'>traditional {name}</b> · {int(signs.sum()):,}",
            palette,
            x=1,
            xref="x3 domain",
            xanchor="right",
            y=1 if name == "too high" else 0.93,
            yref="y3 domain",
            yanchor="top",
        )
    figure.update_yaxes(showticklabels=False, row=1, col=3)


def _against(
    figure: go.Figure, table: pd.DataFrame, palette: Palette, names: tuple[str, str], selected: int | None
) -> None:
    """One gap against the other."""
    shown = table[(table["first_size"] > 0) | (table["second_size"] > 0)].nlargest(DOTS, "first_size")
    both = shown["second_size"] > 0
    end = min(float(table["first_size"].max()), float(table["second_size"].max()))
    figure.add_scatter(
        x=[0, end],
        y=[0, end],
        mode="lines",
        line={"color": palette.other, "width": 1, "dash": "dot"},
        hoverinfo="skip",
        row=2,
        col=3,
    )
    figure.add_scatter(
        x=shown["first_size"],
        y=shown["second_size"],
        mode="markers",
        marker={"size": 6, "color": np.where(both, palette.traditional, palette.other), "opacity": 0.65},
        customdata=_tags(shown),
        hovertemplate=(
            f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>{names[0]} gap %{{x:.4f}}"
            f"<br>{names[1]} gap %{{y:.4f}}<extra></extra>"
        ),
        selected={"marker": {"opacity": 0.65}},
        unselected={"marker": {"opacity": 0.65}},
        row=2,
        col=3,
    )
    _ring(figure, table, "first_size", "second_size", palette, selected, 2, 3)
    figure.update_yaxes(showticklabels=False, row=2, col=3)
