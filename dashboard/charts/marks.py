"""The marks of the product, each drawn once: dot, diamond, bar and band, and rows and cells of rerankers."""

from collections.abc import Iterable, Sequence
from html import unescape
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import CHART_COLUMNS, chart_names, hover_text, text_columns
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, note_of, set_yaxes

ROW = 34
"""Height of a reranker's row in pixels."""
_BESIDE, _LETTER = 13, 6.1
"""Pixels beside the name of a row, and of a letter of it, about: plotly draws anew where they are too few."""
_LEAST_ROWS = 4
"""Rows whose height a chart has at least, for its legend is cut where the chart is lower."""
_TOP, CLEAR_TOP = 0.6, 0.9
"""Rows from the middle of the first to the top, and where the legend has marks as large as a row's."""
UNCERTAIN = "rgba(139,148,158,0.28)"
"""Grey of the band around a mean, on either ground."""
VALUES = ["tied", "traditional", "worst", "best"]
VALUES_HOVER = (
    "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
    "<br>worst %{customdata[3]:.4f}<br>best %{customdata[4]:.4f}<extra></extra>"
)
"""Hover text over a name and `VALUES`."""


def rows_height(n_rows: int) -> int:
    """Return the pixels of a chart of so many rows, its legend in several lines on a phone, and its axis."""
    return 96 + ROW * max(n_rows, _LEAST_ROWS)


def tied_dot(palette: Palette, size: float = 9) -> dict[str, Any]:
    """Return the marker of a tied value: a filled dot, small enough to lie inside the diamond."""
    return {"size": size, "color": palette.tied}


def traditional_diamond(palette: Palette, size: float = 15) -> dict[str, Any]:
    """Return the marker of a traditional value: a hollow diamond."""
    return {"symbol": "diamond-open", "size": size, "color": palette.traditional, "line": {"width": 2}}


def dotted_line(palette: Palette) -> dict[str, Any]:
    """Return the line of a cut-off or of a chosen value."""
    return {"color": palette.text, "width": 1.4, "dash": "dot"}


def named_rows(names: Iterable[object], values: np.ndarray) -> list[list[Any]]:
    """Return the rows that a hover text reads: a safe name, then values."""
    return [[hover_text(str(name)), *row] for name, row in zip(names, values, strict=True)]


def add_values(
    figure: Figure,
    table: pd.DataFrame,
    palette: Palette,
    line: dict[str, Any] | None = None,
    **trace: Any,  # noqa: ANN401
) -> None:
    """Add a diamond for each traditional value and a dot for each tied one.

    Args:
        figure: changed in place.
        table: traditional, tied.
        palette: colours of the theme.
        line: joins the dots, which take its colour; None for none.
        trace: x or y, the coordinate that is no value; hover, row and col of a subplot.
    """
    axis = "y" if "x" in trace else "x"
    dot = tied_dot(palette) if line is None else tied_dot(palette) | {"color": line["color"]}
    tied = {"mode": "markers" if line is None else "lines+markers", "line": line, "marker": dot}
    traditional = {"mode": "markers", "marker": traditional_diamond(palette)}
    for name, look in (("traditional", traditional), ("tied", tied)):
        figure.draw_scatter(**{axis: table[name]}, **{"name": name, "cliponaxis": False} | look | trace)


def add_diamond(figure: Figure, palette: Palette, x: float, y: float, hover: str) -> None:
    """Add the diamond of one traditional value, which stands below the axis it belongs to.

    Args:
        figure: changed in place.
        palette: colours of the theme.
        x: the value.
        y: where it stands.
        hover: text of ours.
    """
    figure.draw_scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker=traditional_diamond(palette),
        hovertemplate=f"{hover}<extra></extra>",
        cliponaxis=False,
    )


def add_bounds(figure: Figure, table: pd.DataFrame, palette: Palette, **trace: Any) -> None:  # noqa: ANN401
    """Add a bar from the worst to the best value of each row.

    Args:
        figure: changed in place; its y axis counts rows from the top, 0 first.
        table: worst, best.
        palette: colours of the theme.
        trace: width, hover, row and col of a subplot.
    """
    look = {"width": 0.42, "marker": {"color": palette.bounds}, "name": "worst to best"}
    rows = np.arange(len(table))
    figure.draw_bars(
        x=table["best"] - table["worst"], base=table["worst"], y=rows, orientation="h", **look | trace
    )


def add_bounds_rows(
    figure: Figure,
    leaderboard: pd.DataFrame,
    palette: Palette,
    **subplot: Any,  # noqa: ANN401
) -> None:
    """Add a worst-to-best bar, a traditional diamond and a tied dot per reranker.

    Args:
        figure: changed in place; its y axis counts rerankers from the top, 0 first.
        leaderboard: index reranker; worst, best, traditional, tied.
        palette: colours of the theme.
        subplot: its row and col, or its axes.
    """
    trace: dict[str, Any] = {
        "customdata": named_rows(leaderboard.index, leaderboard[VALUES].to_numpy()),
        "hovertemplate": VALUES_HOVER,
        **subplot,
    }
    add_bounds(figure, leaderboard, palette, **trace)
    add_values(figure, leaderboard, palette, y=np.arange(len(leaderboard)), **trace)


def label_rows(
    figure: Figure,
    names: Iterable[object],
    palette: Palette,
    longest: int = CHART_COLUMNS,
    top: float = _TOP,
) -> None:
    """Label rows that are counted from the top, 0 first.

    Args:
        figure: changed in place.
        names: of the rerankers, or whatever the rows are.
        palette: colours of the theme.
        longest: letters of a name that are written.
        top: rows from the middle of the first up to the legend.
    """
    labels = list(chart_names(map(str, names), longest).values())
    set_yaxes(
        figure,
        tickvals=np.arange(len(labels)),
        ticktext=labels,
        tickfont={"color": palette.text, "size": 13},
        range=[len(labels) - 0.4, -top],
        showgrid=False,
    )
    columns = max((text_columns(unescape(label)) for label in labels), default=0)
    figure.set_layout(margin={"l": _BESIDE + round(_LETTER * columns)})


def label_rows_above(
    figure: Figure,
    names: Iterable[object],
    palette: Palette,
    raised: float,
    grounds: Iterable[str] | None = None,
) -> None:
    """Label rows as `label_rows` does, above what they hold, so that a phone has room for both.

    Args:
        figure: changed in place.
        names: of the rerankers.
        palette: colours of the theme.
        raised: share of a row by which the foot of a label stands above the row's middle.
        grounds: colours behind the labels, which hide what would run through them; None for none.
    """
    labels = chart_names(map(str, names)).values()
    looks = [{}] * len(labels) if grounds is None else [{"bgcolor": ground} for ground in grounds]
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom"}
    font = {"color": palette.text, "size": 13}
    figure.write_notes(
        note_of(label, palette, **place, y=row - raised, font=font, **look)
        for row, (label, look) in enumerate(zip(labels, looks, strict=True))
    )
    set_yaxes(figure, showticklabels=False, range=[len(labels) - 0.4, -_TOP], showgrid=False)


def add_band(
    figure: Figure,
    x: pd.Series,
    low: pd.Series,
    high: pd.Series,
    colour: str,
    **trace: Any,  # noqa: ANN401
) -> None:
    """Fill what lies between two lines.

    Args:
        figure: changed in place.
        x: where both lines have values.
        low: the lower line.
        high: the upper line.
        colour: of the fill.
        trace: what differs from a band without name, line and hover.
    """
    outline = {"x": pd.concat([x, x[::-1]]), "y": np.r_[high, low[::-1]]}
    look = {"fill": "toself", "fillcolor": colour, "mode": "none", "hoverinfo": "skip"}
    figure.draw_scatter(**outline, **look | trace)


def add_segments(
    figure: Figure, x: pd.Series | pd.DataFrame, y: pd.Series | pd.DataFrame, colour: str, width: float
) -> None:
    """Add a straight line per row, between the two columns of x or of y.

    Args:
        figure: changed in place.
        x: one column, or the two ends.
        y: the same; rows that x lacks are left out.
        colour: of the lines.
        width: in pixels.
    """
    rows = x.index.intersection(y.index)
    ends = (table.loc[rows].to_numpy(dtype=float).reshape(len(rows), table.ndim) for table in (x, y))
    along, up = (np.insert(np.broadcast_to(pair, (len(rows), 2)), 2, np.nan, axis=1).ravel() for pair in ends)
    line = {"color": colour, "width": width}
    figure.draw_scatter(x=along, y=up, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def add_cutoff(
    figure: Figure,
    palette: Palette,
    k: int,
    ends: tuple[float, float],
    label: float,
    **place: Any,  # noqa: ANN401
) -> None:
    """Add a dotted line after the first k places, and its name above.

    Args:
        figure: changed in place; its x axis counts places.
        palette: colours of the theme.
        k: cut-off.
        ends: lower and upper end of the line.
        label: height of the name.
        place: what differs from a name in the middle of the line.
    """
    figure.draw_shape(type="line", x0=k + 0.5, x1=k + 0.5, y0=ends[0], y1=ends[1], line=dotted_line(palette))
    note(figure, f"k = {k}", palette, **{"x": k + 0.5, "y": label, "yanchor": "bottom", "yref": "y"} | place)


def add_legend(figure: Figure, marks: dict[str, dict[str, Any]]) -> None:
    """Add entries to the legend, name → marker, that belong to no trace."""
    for name, marker in marks.items():
        figure.draw_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)


def add_chance_key(figure: Figure, palette: Palette, quarters: Sequence[str], yshift: int) -> None:
    """Write below a heatmap of chances what its shades stand for.

    Args:
        figure: changed in place.
        palette: colours of the theme.
        quarters: shades of a quarter, a half, three quarters and all.
        yshift: pixels from the lower end of the cells, negative.
    """
    swatches = (
        f"<span style='color:{shade};font-size:18px'>■</span> {share:.0%}"
        for shade, share in zip(quarters, (0.25, 0.5, 0.75, 1), strict=True)
    )
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 0, "yref": "paper", "yanchor": "top"}
    note(figure, f"chance: {' &nbsp; '.join(swatches)}", palette, **place, yshift=yshift)


def cells(z: np.ndarray, colours: Sequence[Any], text: Any = None, **trace: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a heatmap of separate cells.

    Args:
        z: (rows, columns) values; NaN is left out.
        colours: from low to high, evenly spaced, or pairs of the place of each from 0 to 1 and the colour.
        text: (rows, columns) words in the cells; None for none.
        trace: where the cells stand, what they tell, and what differs from the usual.
    """
    look: dict[str, Any] = {"showscale": False, "xgap": 2, "ygap": 2, "hoverongaps": False}
    if text is not None:
        look |= {"text": text, "texttemplate": "%{text}", "textfont": {"size": 12}}
    if isinstance(colours[0], str):
        colours = list(zip(np.linspace(0, 1, len(colours)).tolist(), colours, strict=True))
    return {"type": "heatmap", "z": z, "colorscale": colours, **look | trace}
