"""Scores with what ties allow, and the two orders they give."""

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style

ROW = 34
"""Height of a reranker's row in pixels."""


MAX_ROWS = 40
"""Rerankers that are drawn where there may be thousands."""


def drawable_rerankers(board: pd.DataFrame) -> pd.DataFrame:
    """The rerankers that have a value: those with a scored list."""
    return board[board[["tied", "worst", "best", "traditional"]].notna().all(axis=1)]


def add_bounds_rows(figure: go.Figure, board: pd.DataFrame, palette: Palette, **place: int) -> None:
    """Add a worst-to-best bar, a traditional diamond and a tied dot per reranker.

    Args:
        figure: changed in place; its y axis counts rerankers from the top, 0 first.
        board: index reranker; worst, best, traditional, tied.
        palette: colours of the theme.
        place: row and col of a subplot.
    """
    rows = list(range(len(board)))
    names = [safe(str(name)) for name in board.index]
    hover = "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
    hover += "<br>worst %{customdata[3]:.4f}<br>best %{customdata[4]:.4f}<extra></extra>"
    values = board[["tied", "traditional", "worst", "best"]].to_numpy()
    data = [[name, *row] for name, row in zip(names, values, strict=True)]
    figure.add_bar(
        x=board["best"] - board["worst"],
        base=board["worst"],
        y=rows,
        orientation="h",
        width=0.42,
        marker={"color": palette.bounds, "line": {"width": 0}},
        name="worst to best order",
        customdata=data,
        hovertemplate=hover,
        **place,
    )
    diamond = {"symbol": "diamond-open", "size": 15, "color": palette.traditional, "line": {"width": 2}}
    dot = {"symbol": "circle", "size": 9, "color": palette.tied}
    for column, marker, name in (("traditional", diamond, "traditional"), ("tied", dot, "tied")):
        figure.add_scatter(
            x=board[column],
            y=rows,
            mode="markers",
            marker=marker,
            name=name,
            customdata=data,
            hovertemplate=hover,
            cliponaxis=False,
            **place,
        )


def label_rows(figure: go.Figure, board: pd.DataFrame, **place: int) -> None:
    """Label the rows of `bounds_rows` with the rerankers."""
    names = [safe(str(name), 26) for name in board.index]
    figure.update_yaxes(
        tickvals=list(range(len(board))),
        ticktext=names,
        range=[len(board) - 0.4, -0.6],
        showgrid=False,
        automargin=True,
        **place,
    )


def score_bounds(board: pd.DataFrame, palette: Palette, measure: str) -> go.Figure:
    """Worst, best, tied and traditional mean of each reranker.

    Args:
        board: index reranker; worst, best, traditional, tied; best first.
        palette: colours of the theme.
        measure: what the axis shows.
    """
    figure, board = go.Figure(), drawable_rerankers(board)
    add_bounds_rows(figure, board, palette)
    style(figure, palette, 96 + ROW * len(board))
    label_rows(figure, board)
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13})
    return figure.update_xaxes(title_text=measure, tickformat=".3~f", nticks=6)


def rank_slope(board: pd.DataFrame, palette: Palette) -> go.Figure:
    """Place by the traditional value on the left, by the tied value on the right; moved ones stand out.

    Args:
        board: index reranker; traditional, tied, worst, best, traditional_rank, tied_rank.
        palette: colours of the theme.
    """
    figure, board = go.Figure(), drawable_rerankers(board)
    traces = []
    left = board["traditional"].rank(method="first", ascending=False)
    right = board["tied"].rank(method="first", ascending=False)
    for name, row in board.iterrows():
        moved = row["traditional_rank"] != row["tied_rank"]
        colour = palette.traditional if moved else palette.other
        shown = safe(str(name), 20)
        trace = go.Scatter(
            x=[0, 1],
            y=[left[name], right[name]],
            mode="lines+markers+text",
            line={"color": colour, "width": 2.5 if moved else 1.5},
            marker={
                "symbol": ["diamond-open", "circle"],
                "size": [13, 9],
                "color": [palette.traditional, palette.tied],
                "line": {"width": [2, 0]},
                "opacity": 1,
            },
            text=[f"{row['traditional_rank']}", f"{row['tied_rank']}  {shown}"],
            textposition=["middle left", "middle right"],
            textfont={"color": palette.text if moved else palette.muted, "size": 12.5},
            customdata=[int(row["traditional_rank"]), int(row["tied_rank"])],
            hovertemplate=f"<b>{shown}</b><br>place %{{customdata}}<extra></extra>",
            showlegend=False,
            cliponaxis=False,
        )
        traces.append(trace)
    figure.add_traces(traces)
    style(figure, palette, 96 + ROW * len(board), r=8, l=8)
    figure.update_yaxes(visible=False, range=[len(board) + 0.6, 0.4])
    return figure.update_xaxes(
        range=[-0.2, 2.1],
        tickvals=[0, 1],
        ticktext=["traditional", "tied"],
        showgrid=False,
        side="top",
    )
