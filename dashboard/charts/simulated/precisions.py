"""One reranker's score as its scores are held in fewer and fewer digits."""

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.palette import Palette
from dashboard.charts.style import safe, style
from metrics.studies.prose import percent


def precision_panels(curve: pd.DataFrame, palette: Palette, measure: str) -> go.Figure:
    """Tie ratio above and the mean below, a format a column; fewer digits to the right.

    Args:
        curve: of one reranker, as `precision_curve` returns it.
        palette: colours of the theme.
        measure: how the mean is called.
    """
    figure, x = go.Figure(), list(curve["label"])
    ratio = curve["tie_ratio"]
    figure.add_bar(
        x=x,
        y=ratio,
        yaxis="y2",
        marker={"color": palette.other, "line": {"width": 0}},
        text=[percent(value) if value else "0%" for value in ratio],
        textposition="outside",
        textfont={"color": palette.muted, "size": 11},
        textangle=0,
        cliponaxis=False,
        width=0.5,
        hovertemplate="<b>%{x}</b><br>%{y:.2%} of documents tied<extra></extra>",
        showlegend=False,
    )
    said = curve[["tied", "worst", "best", "low", "high", "traditional"]]
    hover = (
        "<b>%{x}</b><br>tied %{customdata[0]:.4f}<br>traditional %{customdata[5]:.4f}<br>95% of shuffles "
        "%{customdata[3]:.4f} to %{customdata[4]:.4f}<br>worst %{customdata[1]:.4f}, best %{customdata[2]:.4f}"
        "<extra></extra>"
    )
    bars = (("worst", "best", palette.bounds, 0.5, "worst to best"),
            ("low", "high", palette.traditional, 0.16, "95% of shuffles"))  # fmt: skip
    for low, high, colour, wide, name in bars:
        figure.add_bar(
            x=x,
            y=curve[high] - curve[low],
            base=curve[low],
            width=wide,
            marker={"color": colour, "line": {"width": 0}},
            name=name,
            customdata=said,
            hovertemplate=hover,
        )
    hollow = {"symbol": "diamond-open", "size": 13, "color": palette.traditional, "line": {"width": 2}}
    dot = {"size": 8, "color": palette.tied}
    for name, mode, marker in (("traditional", "markers", hollow), ("tied", "lines+markers", dot)):
        figure.add_scatter(
            x=x,
            y=curve[name],
            mode=mode,
            marker=marker,
            line={"color": palette.tied, "width": 2},
            name=name,
            customdata=said,
            hovertemplate=hover,
        )
    line = {"color": palette.other, "width": 1.4, "dash": "dot"}
    edge = int((~curve["precision"].str.startswith(("decimals", "grades"))).sum()) - 0.5
    figure.add_shape(type="line", x0=edge, x1=edge, y0=0, y1=1, yref="paper", line=line)
    style(figure, palette, 470)
    floor, ceiling = float(curve["worst"].min()), float(curve["best"].max())
    room = 0.08 * max(ceiling - floor, 0.05)
    quiet = {"showgrid": True, "gridcolor": palette.grid, "zeroline": False, "fixedrange": True}
    figure.update_layout(
        barmode="overlay",
        yaxis={"domain": [0, 0.6], "title": {"text": safe(measure)}, "range": [floor - room, ceiling + room]},
        yaxis2=quiet
        | {
            "domain": [0.7, 1],
            "anchor": "x",
            "title": {"text": "tie ratio", "font": {"size": 13, "color": palette.muted}},
            "tickfont": {"size": 12, "color": palette.muted},
            "tickformat": ".0%",
            "range": [0, 1.15],
            "tickvals": [0, 0.5, 1],
        },
    )
    figure.update_yaxes(tickformat=".3~f", selector={"domain": [0, 0.6]})
    return figure.update_xaxes(type="category", showgrid=False, anchor="y")
