"""Reranker by reranker: score, ties and gaps in aligned rows; gap against tie ratio one at a time."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.leaderboard.leaderboard import add_bounds_rows, label_rows
from dashboard.charts.leaderboard.ridges import ridges, tie_bars
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, style
from metrics.studies.gaps.gap import trend

ROW = 48
SMALL = 1000
"""Dots drawn in one small panel at most."""
_CELLS = 80
"""Places a dot can take on an axis from its middle; dots of one place are drawn as one."""
ACROSS = 5
"""Small panels side by side."""


def aligned_rows(summary: pd.DataFrame, table: pd.DataFrame, palette: Palette, measure: str) -> go.Figure:
    """Scores, mean tie ratio and the distribution of gaps, a row a reranker.

    Args:
        summary: index reranker; first_traditional, first_tied, first_worst, first_best, tie_ratio,
            first_gap, lists_with_gap.
        table: reranker, first_gap of each list.
        palette: colours of the theme.
        measure: what the first axis shows.
    """
    board = summary.rename(columns=lambda name: name.removeprefix("first_"))
    figure = make_subplots(1, 3, column_widths=[0.44, 0.2, 0.36], horizontal_spacing=0.05, shared_yaxes=True)
    add_bounds_rows(figure, board, palette, row=1, col=1)
    tie_bars(figure, board, palette, 2)
    reach = max(float(table["first_gap"].abs().max()), 0.05)
    edges = np.linspace(-reach, reach, 62)
    off = table[table["first_gap"] != 0]
    counts = [
        np.histogram(off.loc[off["reranker"] == name, "first_gap"], bins=edges)[0] for name in board.index
    ]
    ridges(figure, board, edges, counts, palette, 3)
    style(figure, palette, 110 + ROW * len(board), r=108, t=52)
    label_rows(figure, board)
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13}, col=1)
    figure.update_xaxes(title_text=measure, tickformat=".3~f", nticks=7, col=1)
    figure.update_xaxes(title_text=f"{measure} gap of single lists", tickformat="+.2~f", nticks=6, col=3)
    return figure


def gap_multiples(table: pd.DataFrame, palette: Palette, colours: dict[str, str], measure: str) -> go.Figure:
    """Gap against tie ratio: grey for all lists, colour for the reranker's own, last the means together.

    Args:
        table: reranker, tie_ratio, first_gap of each list.
        palette: colours of the theme.
        colours: reranker → its colour, in the order drawn.
        measure: what the gaps are of.
    """
    names = list(colours)
    across = min(ACROSS, len(names) + 1)
    rows = -(-(len(names) + 1) // across)
    figure = make_subplots(
        rows,
        across,
        horizontal_spacing=0.04,
        vertical_spacing=0.3 / max(rows, 2),
        shared_xaxes=False,
    )
    reach = max(float(table["first_gap"].abs().max()), 0.05) * 1.1
    grey = _apart(table, reach)
    means = {}
    for at, name in enumerate(names):
        row, col = at // across + 1, at % across + 1
        own = table[table["reranker"] == name]
        means[name] = trend(own["tie_ratio"], own["first_gap"], 24)
        figure.add_scatter(
            x=grey["tie_ratio"],
            y=grey["first_gap"],
            mode="markers",
            hoverinfo="skip",
            marker={"size": 3, "color": palette.faint},
            row=row,
            col=col,
        )
        dots = _apart(own, reach)
        figure.add_scatter(
            x=dots["tie_ratio"],
            y=dots["first_gap"],
            mode="markers",
            marker={"size": 5, "color": colours[name], "opacity": 0.7},
            customdata=[
                safe(str(query)) + (f" and {more:,} more here" if more else "")
                for query, more in zip(dots["query_id"], dots["more"], strict=True)
            ],
            hovertemplate="<b>%{customdata}</b><br>gap %{y:+.4f}<br>tie ratio %{x:.4f}<extra></extra>",
            row=row,
            col=col,
        )
        if len(means[name]):
            figure.add_scatter(
                x=means[name]["x"],
                y=means[name]["mean"],
                mode="lines",
                hoverinfo="skip",
                line={"color": palette.text, "width": 2.5},
                row=row,
                col=col,
            )
        figure.update_yaxes(range=[-reach, reach], showticklabels=col == 1, row=row, col=col, nticks=4)
        _head(figure, f"<span style='color:{colours[name]}'>●</span> {safe(name, 24)}", palette, at)
    _means(figure, means, palette, colours, across)
    style(figure, palette, 40 + 220 * rows, t=36)
    figure.update_layout(showlegend=False)
    figure.update_yaxes(tickformat="+.2~g", zeroline=True, zerolinecolor=palette.other, zerolinewidth=1)
    for row in range(1, -(-len(names) // across) + 1):
        figure.update_yaxes(title_text=f"{measure} gap", row=row, col=1)
    return figure.update_xaxes(tickformat=".0%", range=[-0.04, 1.04], tickvals=[0, 0.5, 1], showgrid=False)


def _apart(table: pd.DataFrame, reach: float) -> pd.DataFrame:
    """Lists whose dots do not fall on one another, with how many more each stands for; `SMALL` at most."""
    column = (table["tie_ratio"] * _CELLS).round()
    row = (table["first_gap"] / reach * _CELLS).round()
    cells = table.groupby([column, row])["query_id"]
    first = table.assign(more=cells.transform("size") - 1)[cells.cumcount() == 0]
    return first if len(first) <= SMALL else first.sample(SMALL, random_state=0)


def _means(
    figure: go.Figure, means: dict[str, pd.DataFrame], palette: Palette, colours: dict[str, str], across: int
) -> None:
    at = len(colours)
    row, col = at // across + 1, at % across + 1
    for name, line in means.items():
        if len(line):
            figure.add_scatter(
                x=line["x"],
                y=line["mean"],
                mode="lines",
                line={"color": colours[name], "width": 2.5},
                hovertemplate=f"<b>{safe(name)}</b><br>mean gap %{{y:+.4f}}<extra></extra>",
                row=row,
                col=col,
            )
    figure.update_yaxes(side="right", nticks=4, row=row, col=col)
    _head(figure, "Means, all together", palette, at)


def _head(figure: go.Figure, text: str, palette: Palette, at: int) -> None:
    axis = "" if at == 0 else str(at + 1)
    note(
        figure,
        text,
        palette,
        x=0,
        xref=f"x{axis} domain",
        xanchor="left",
        y=1.02,
        yref=f"y{axis} domain",
        yanchor="bottom",
        font={"size": 13, "color": palette.text},
    )
