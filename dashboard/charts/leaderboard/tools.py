"""What other tools report, beside what the scores say."""

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.leaderboard.leaderboard import ROW, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style


def tool_strip(board: pd.DataFrame, values: pd.DataFrame, palette: Palette, measure: str) -> go.Figure:
    """The value of every tool as a tick on the range the ties allow; the tied value as a dot.

    Args:
        board: index reranker; worst, best, tied; in order.
        values: reranker, tool, value of one measure.
        palette: colours of the theme.
        measure: what the axis shows.
    """
    figure = go.Figure()
    rows = {name: at for at, name in enumerate(board.index)}
    figure.add_bar(
        x=board["best"] - board["worst"],
        base=board["worst"],
        y=list(rows.values()),
        orientation="h",
        width=0.42,
        marker={"color": palette.bounds, "line": {"width": 0}},
        name="worst to best order",
        hoverinfo="skip",
    )
    ticks = values.assign(value=values["value"].round(6)).groupby(["reranker", "value"], sort=False)["tool"]
    for number, ((reranker, value), tools) in enumerate(ticks):
        names = list(tools)
        figure.add_scatter(
            x=[value],
            y=[rows[reranker]],
            mode="markers",
            marker={
                "symbol": "line-ns-open",
                "size": 18,
                "color": palette.traditional,
                "line": {"width": 1.5 + min(len(names), 6) / 2},
            },
            name="tools; wider where several agree",
            legendgroup="tools",
            showlegend=number == 0,
            hovertemplate=f"<b>%{{x:.4f}}</b><br>{'<br>'.join(safe(name) for name in names)}<extra></extra>",
            cliponaxis=False,
        )
    figure.add_scatter(
        x=board["tied"],
        y=list(rows.values()),
        mode="markers",
        marker={"symbol": "circle", "size": 9, "color": palette.tied},
        name="tied",
        customdata=[safe(str(name)) for name in board.index],
        hovertemplate="<b>%{customdata}</b><br>tied %{x:.4f}<extra></extra>",
        cliponaxis=False,
    )
    style(figure, palette, 96 + ROW * len(board))
    label_rows(figure, board)
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13})
    return figure.update_xaxes(title_text=measure, tickformat=".3~f", nticks=6)
