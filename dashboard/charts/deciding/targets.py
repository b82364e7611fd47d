"""Targets as bullet rows, and all rerankers against all targets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, style

_ROW = 34
"""Height of a target in pixels."""
MAX_COLUMNS = 30
"""Rerankers whose targets are drawn side by side."""
_LEVEL = 2
"""Names that fit side by side."""


def target_bullets(rows: pd.DataFrame, palette: Palette) -> go.Figure:
    """A row a target: the range the ties allow, the tied dot, the traditional diamond, the target upright.

    Args:
        rows: of one reranker, as `reached` returns them.
        palette: colours of the theme.
    """
    low, high = _ends(rows)
    at = list(range(len(rows)))
    figure = go.Figure()
    track = {"orientation": "h", "y": at, "hoverinfo": "skip", "showlegend": False}
    figure.add_bar(x=[high - low] * len(rows), base=low, width=0.5, marker=_plain(palette.faint), **track)
    figure.add_bar(
        x=rows["best"] - rows["worst"],
        base=rows["worst"],
        width=0.5,
        marker=_plain(palette.bounds),
        **track | {"showlegend": True, "name": "worst to best order"},
    )
    for place, bound in zip(at, rows["bound"], strict=True):
        line = {"color": palette.text, "width": 3}
        figure.add_shape(type="line", x0=bound, x1=bound, y0=place - 0.38, y1=place + 0.38, line=line)
    _values(figure, rows, palette)
    for place, row in enumerate(rows.itertuples()):
        _say(figure, place, str(row.verdict), float(row.missed_by), palette)
    style(figure, palette, 84 + _ROW * len(rows), r=132)
    figure.update_layout(barmode="overlay")
    figure.update_yaxes(
        tickvals=at,
        ticktext=[safe(str(target)) for target in rows["target"]],
        tickfont={"color": palette.text, "size": 13},
        ticklabelstandoff=8,
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
    )
    return figure.update_xaxes(range=[low, high], tickformat=".2~f", nticks=7)


def target_matrix(rows: pd.DataFrame, palette: Palette, chosen: str) -> go.Figure:
    """Every target of every reranker, by what the pass rests on.

    Args:
        rows: as `reached` returns them; rerankers stand in their order, the first `MOST` of them.
        palette: colours of the theme.
        chosen: whose column stands out.
    """
    targets, names = list(rows["target"].unique()), list(rows["reranker"].unique()[:MAX_COLUMNS])
    rows = rows[rows["reranker"].isin(names)]
    figure = go.Figure()
    if chosen in names:
        at = names.index(chosen)
        figure.add_vrect(at - 0.5, at + 0.5, fillcolor=palette.faint, opacity=0.6, line_width=0, layer="below")
    for verdict, label, marker in _marks(palette):
        some = rows[rows["verdict"] == verdict]
        across: list[int | None] = [names.index(name) for name in some["reranker"]]
        down: list[int | None] = [targets.index(target) for target in some["target"]]
        figure.add_scatter(
            x=across or [None],
            y=down or [None],
            mode="markers",
            marker=marker | {"opacity": 1},
            name=label,
            customdata=[[safe(row.reranker), safe(row.target), row.tied] for row in some.itertuples()],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}: tied %{customdata[2]:.4f}<br>"
            f"{label}<extra></extra>",
            cliponaxis=False,
        )
    style(figure, palette, 160 + int(_ROW * 0.85) * len(targets), b=60, r=64 if len(names) > _LEVEL else 12)
    figure.update_layout(showlegend=True, legend={"y": 0, "yanchor": "top", "font": {"size": 12}})
    figure.update_yaxes(
        tickvals=list(range(len(targets))),
        ticktext=[safe(target) for target in targets],
        range=[len(targets) - 0.4, -0.6],
    )
    return figure.update_xaxes(
        side="top",
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=[safe(name, 20) for name in names],
        tickangle=-40 if len(names) > _LEVEL else 0,
        range=[-0.6, len(names) - 0.4],
    )


def _values(figure: go.Figure, rows: pd.DataFrame, palette: Palette) -> None:
    """The traditional diamond and the tied dot of each row."""
    hover = "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
    hover += "<br>worst %{customdata[3]:.4f}<br>best %{customdata[4]:.4f}<extra></extra>"
    values = rows[["tied", "traditional", "worst", "best"]].to_numpy()
    data = [[safe(str(name)), *row] for name, row in zip(rows["target"], values.tolist(), strict=True)]
    diamond = {"symbol": "diamond-open", "size": 14, "color": palette.traditional, "line": {"width": 2}}
    dot = {"symbol": "circle", "size": 9, "color": palette.tied}
    for column, marker in (("traditional", diamond), ("tied", dot)):
        figure.add_scatter(
            x=rows[column],
            y=list(range(len(rows))),
            mode="markers",
            marker=marker,
            name=column,
            customdata=data,
            hovertemplate=hover,
            cliponaxis=False,
        )


def _say(figure: go.Figure, at: int, verdict: str, missed_by: float, palette: Palette) -> None:
    """The verdict in words beside its row; orange where only the sort meets the target."""
    words = f"missed by {missed_by:.2f}" if verdict == "missed" else verdict
    words = "missed by under 0.01" if words == "missed by 0.00" else words
    by_sort = verdict == "sort order only"
    colour = palette.traditional if by_sort else palette.text if verdict.startswith("met") else palette.muted
    text = f"<b>{words}</b>" if by_sort else words
    font = {"size": 12.5, "color": colour}
    note(figure, text, palette, xref="paper", x=1, xanchor="left", xshift=14, y=at, font=font)


def _marks(palette: Palette) -> Sequence[tuple[str, str, dict[str, Any]]]:
    """Verdict, how it is called, and its mark."""
    tied = {"symbol": "circle", "size": 12, "color": palette.tied}
    ring = {"color": palette.tied, "width": 2}
    none = {"symbol": "circle-open", "size": 8, "color": palette.muted, "line": {"width": 1.5}}
    return (
        ("met", "every order", tied),
        ("met on average", "on average", tied | {"color": palette.bounds, "line": ring}),
        (
            "sort order only",
            "sort order only",
            {"symbol": "diamond-open", "size": 13, "color": palette.traditional, "line": {"width": 2}},
        ),
        ("missed", "missed", none),
    )


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """Ends of the axis: whole tenths around every value and bound."""
    columns = ["worst", "best", "tied", "traditional", "bound"]
    values = rows[columns].to_numpy(dtype=float).ravel()
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    low, high = float(np.floor(finite.min() * 10) / 10), float(np.ceil(finite.max() * 10) / 10)
    return low, max(high, low + 0.1)


def _plain(colour: str) -> dict[str, Any]:
    return {"color": colour, "line": {"width": 0}}
