"""Means of lists in the order in which they came."""

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import hover_text
from dashboard.charts.marks import add_band, dotted_line
from dashboard.charts.palette import Palette
from dashboard.charts.style import add_key, note, padded_range, safe, set_xaxes, set_yaxes, style

MAX_POINTS = 1500
"""Points of a line: as many as there are pixels."""
_HOVER = (
    "<b>%{customdata[0]}</b>, query %{customdata[1]}<br>list %{x:,}: %{y:.4f}<br>bounds "
    "%{customdata[2]:.4f} to %{customdata[3]:.4f}<extra>%{meta}</extra>"
)


def running_means_chart(
    means: pd.DataFrame, palette: Palette, measure: str, window: int, change: int | None, order: str
) -> Figure:
    """Draw the means of the latest lists with the band from worst to best, and those of all so far, thin.

    Args:
        means: as `metrics.studies.history.running_means` returns them.
        palette: colours of the theme.
        measure: title of the y axis.
        window: how many lists are the latest.
        change: lists before the change; None where there is none.
        order: in which order lists stand.
    """
    drawn_rows = np.unique(np.linspace(0, len(means) - 1, min(len(means), MAX_POINTS)).round().astype(int))
    rows = means.iloc[drawn_rows]
    late_rows = rows[rows["tied_of_late"].notna()]
    figure = Figure()
    ends = (late_rows["worst_of_late"], late_rows["best_of_late"])
    add_band(figure, late_rows["n"], *ends, palette.bounds)
    colours = {"traditional": palette.traditional, "tied": palette.tied}
    for name, colour in colours.items():
        _add_line(figure, rows, name, "", {"color": colour, "width": 1.2, "dash": "dot"})
        _add_line(figure, late_rows, name, "_of_late", {"color": colour, "width": 2.4})
    latest = means.iloc[-1]
    entries = [(name, colour, f"{latest[f'{name}_of_late']:.4f}") for name, colour in colours.items()]
    add_key(
        figure,
        palette,
        [
            *reversed(entries),
            ("dotted", palette.muted, "all lists so far"),
            ("band", palette.muted, "worst to best"),
        ],
    )
    style(figure, palette, 340, t=34, r=16)
    values = [f"{name}{late}" for name in ("tied", "traditional") for late in ("", "_of_late")]
    plotted_values = rows[[*values, "worst_of_late", "best_of_late"]].to_numpy().ravel()
    set_yaxes(
        figure,
        title_text=safe(f"{measure}, last {window:,}"),
        range=padded_range(plotted_values[~np.isnan(plotted_values)]),
    )
    room = 0.02 * max(len(means), 2)
    set_xaxes(figure, title_text=f"list, {order}", range=[1 - room, len(means) + room], showgrid=False)
    if change is not None:
        x = change + 0.5
        figure.draw_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="y domain", line=dotted_line(palette))
        side = "right" if change > len(means) / 2 else "left"
        place = {"x": x, "xanchor": side, "y": 0, "yref": "paper", "yanchor": "bottom"}
        note(figure, f"changed after {change:,}", palette, **place)
    return figure.set_layout(showlegend=False)


def _add_line(figure: Figure, rows: pd.DataFrame, name: str, late: str, line: dict[str, object]) -> None:
    """Add the line of one mean, of all lists or of the latest."""
    bounds = rows[[f"worst{late}", f"best{late}"]].to_numpy()
    texts = [[hover_text(str(text)) for text in rows[column]] for column in ("name", "query_id")]
    figure.draw_scatter(
        x=rows["n"],
        y=rows[f"{name}{late}"],
        mode="lines",
        line=line,
        customdata=np.array([*texts, *bounds.T], dtype=object).T,
        meta=f"{name}, {'latest' if late else 'all so far'}",
        hovertemplate=_HOVER,
    )
