"""Quality against latency with both fronts, and distinct recall against diversity and recall."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.labels import LINE, SMALL, TALL, WIDE, Box, PlotArea, add_names, text_columns
from dashboard.charts.leaderboard.leaderboard import ROW, label_rows
from dashboard.charts.palette import Palette
from dashboard.charts.style import note, safe, style
from metrics.studies.prose import signed
from metrics.studies.tradeoffs.tradeoffs import duration
from metrics.support.arrays import FloatArray

_LEAST = 1e-9
"""Seconds below which nothing is told apart."""
_REACH = 5
"""How many times outside the latencies a budget may lie and still widen the axis."""


def latency_scatter(
    board: pd.DataFrame, palette: Palette, measure: str, by: str, budget: float | None = None
) -> go.Figure:
    """Quality against latency on a log axis, with what no other reranker beats, tied and traditional.

    A reranker that took no time stands on the left edge, at 0. One far worse than all others stands on
    the lower edge with its figures, where the axis would leave the others no room.

    Args:
        board: index reranker; seconds, mean, p50, p95, tied, traditional, worst, best, tied_front,
            traditional_front, standing; those not timed are not drawn.
        palette: colours of the theme.
        measure: what the y axis shows.
        by: which latency `seconds` is, in words.
        budget: seconds from which on it is too slow; None for no limit.
    """
    board = board[board["standing"] != "not timed"]
    values = board[["tied", "traditional", "worst", "best"]]
    far = _far_below(values)
    bottom, top = _room(values[~far].to_numpy())
    seconds = board[["seconds", "p50", "p95"]]
    low, high, zero = _span(seconds.to_numpy(), budget)
    drawn = values.clip(lower=bottom + 0.05 * (top - bottom)).where(far, values, axis=0)
    drawn = board.assign(**drawn, **np.log10(seconds.clip(lower=_LEAST).where(seconds > 0, zero)))
    plane = PlotArea(np.log10(low), np.log10(high), bottom, top, WIDE)
    figure = go.Figure()
    crossed = _shade(figure, palette, budget, plane)
    _lines(figure, 10 ** drawn["seconds"], drawn[["worst", "best"]][~far], palette.bounds, 9)
    _lines(figure, 10 ** drawn[["p50", "p95"]], drawn["tied"], palette.other, 4)
    for value, colour in (("traditional", palette.traditional), ("tied", palette.tied)):
        crossed += _front(figure, drawn, value, colour, plane)
    crossed += [plane.box((row.p50, row.p95), (row.tied, row.tied)) for row in drawn.itertuples()]
    _marks(figure, board, drawn, palette)
    style(figure, palette, TALL + 118, t=46, r=8)
    figure.update_layout(legend_traceorder="reversed")
    figure.update_yaxes(title_text=measure, tickformat=".3~f", nticks=7, range=[bottom, top])
    ticks = _ticks(low, high, zero)
    figure.update_xaxes(
        title_text=f"latency per query, {by}, log scale",
        type="log",
        range=[plane.left, plane.right],
        tickvals=[value for value, _ in ticks],
        ticktext=[text for _, text in ticks],
    )
    spots = drawn[["seconds", "tied", "traditional"]].to_numpy()
    figures = [
        f" ↓ <span style='color:{palette.tied}'>{row.tied:.3f}</span>"
        f" <span style='color:{palette.traditional}'>{row.traditional:.3f}</span>"
        if low
        else ""
        for row, low in zip(board.itertuples(), far, strict=True)
    ]
    strong = board["tied_front"].to_numpy(dtype=bool)
    return add_names(figure, list(board.index), strong, spots, plane, crossed, palette, figures)


def diversity_scatter(covered: pd.DataFrame, palette: Palette, k: int, width: int = SMALL) -> go.Figure:
    """DR@k against Div@k, each with a bar from its worst to its best order.

    Args:
        covered: index reranker; recall, distinct and targets, the last two with _worst and _best.
        palette: colours of the theme.
        k: cut-off.
        width: pixels between the axes, at least.
    """
    figure = go.Figure()
    sides = {name: [f"{name}_worst", f"{name}_best"] for name in ("targets", "distinct")}
    (left, right), (bottom, top) = (_room(covered[[name, *ends]].to_numpy()) for name, ends in sides.items())
    plane = PlotArea(left, right, bottom, top, width)
    _lines(figure, covered[sides["targets"]], covered["distinct"], palette.bounds, 9)
    _lines(figure, covered["targets"], covered[sides["distinct"]], palette.bounds, 9)
    crossed = []
    for row in covered.itertuples():
        crossed.append(plane.box((row.targets_worst, row.targets_best), (row.distinct, row.distinct)))
        crossed.append(plane.box((row.targets, row.targets), (row.distinct_worst, row.distinct_best)))
    data = covered[[*sides["distinct"], *sides["targets"], "recall"]].to_numpy()
    figure.add_scatter(
        x=covered["targets"],
        y=covered["distinct"],
        mode="markers",
        marker={"size": 9, "color": palette.tied, "line": {"color": palette.ground, "width": 1}},
        customdata=_tagged(covered.index, data),
        hovertemplate=f"<b>%{{customdata[0]}}</b><br>DR@{k} %{{y:.4f}}, worst to best %{{customdata[1]:.4f}} – "
        f"%{{customdata[2]:.4f}}<br>Div@{k} %{{x:.4f}}, worst to best %{{customdata[3]:.4f}} – "
        f"%{{customdata[4]:.4f}}<br>Recall@{k} %{{customdata[5]:.4f}}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
    style(figure, palette, TALL + 118, t=46, r=8)
    figure.update_yaxes(title_text=f"DR@{k}", tickformat=".3~f", nticks=6, range=[bottom, top])
    title = f"Div@{k}, distinct targets per query"
    figure.update_xaxes(title_text=title, tickformat=".3~f", nticks=5, range=[left, right])
    spots = covered[["targets", "distinct", "distinct"]].to_numpy()
    return add_names(figure, list(covered.index), np.zeros(len(covered), bool), spots, plane, crossed, palette)


def recall_dumbbell(covered: pd.DataFrame, palette: Palette, k: int) -> go.Figure:
    """From Recall@k, a ring, to DR@k, a dot; the largest loss first.

    Args:
        covered: index reranker; recall, distinct, lost, repeated.
        palette: colours of the theme.
        k: cut-off.
    """
    covered = covered.sort_values("lost", ascending=False, kind="stable")
    rows = pd.Series(np.arange(len(covered)), covered.index)
    figure = go.Figure()
    _lines(figure, covered[["recall", "distinct"]], rows, palette.faint, 6)
    hover = f"<b>%{{customdata[0]}}</b><br>Recall@{k} %{{customdata[1]:.4f}}<br>DR@{k} %{{customdata[2]:.4f}}"
    hover += "<br>%{customdata[3]:.1%} of what it finds repeats a target<extra></extra>"
    ring = {"size": 10, "color": palette.ground, "line": {"color": palette.muted, "width": 2}}
    dot = {"size": 9, "color": palette.tied}
    for column, marker in (("recall", ring), ("distinct", dot)):
        figure.add_scatter(
            x=covered[column],
            y=rows,
            mode="markers",
            marker=marker,
            customdata=_tagged(covered.index, covered[["recall", "distinct", "repeated"]].to_numpy()),
            hovertemplate=hover,
            cliponaxis=False,
        )
    for row, lost in enumerate(covered["lost"]):
        beside = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 8, "y": row, "yref": "y"}
        note(figure, signed(-lost), palette, **beside)
    style(figure, palette, 60 + ROW * len(covered), r=60, t=8)
    label_rows(figure, covered)
    figure.update_yaxes(tickfont={"color": palette.text, "size": 13})
    figure.update_layout(showlegend=False)
    low, high = _room(covered[["recall", "distinct"]].to_numpy())
    return figure.update_xaxes(tickformat=".3~f", nticks=5, range=[low, high])


def _far_below(values: pd.DataFrame) -> "pd.Series[bool]":
    """A few rerankers so far below all others that an axis with them would take half of the others' room."""
    order = values.min(axis=1).sort_values(kind="stable").index
    for few in range(1, (len(order) - 1) // 3 + 1):
        above, below = values.loc[order[few:]], values.loc[order[:few]]
        jump = above.min(axis=None) - below.max(axis=None)
        if jump > max(above.max(axis=None) - above.min(axis=None), 0.02):
            return values.index.to_series().isin(order[:few])
    return pd.Series(data=False, index=values.index)


def _span(seconds: FloatArray, budget: float | None) -> tuple[float, float, float | None]:
    """Ends of the latency axis in seconds, and where 0 is drawn on it if anything took no time."""
    positive = np.maximum(seconds[seconds > 0], _LEAST)
    low, high = (positive.min(), positive.max()) if len(positive) else (1e-3, 1e-3)
    if budget is not None and low / _REACH < budget < high * _REACH:
        low, high = min(low, budget), max(high, budget)
    zero = low / 4 if (seconds == 0).any() else None
    low = low if zero is None else zero
    decades = np.log10(high / low)
    room = max(0.06 * decades, (0.6 - decades) / 2, 0.1)
    return float(low / 10**room), float(high * 10**room), zero


def _ticks(low: float, high: float, zero: float | None) -> list[tuple[float, str]]:
    """Seconds that are named on the axis, and their names."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    decades = np.log10(high / low)
    steps = (1, 2, 3, 5) if decades < 1.2 else (1, 3) if decades < 3.5 else (1,)  # noqa: PLR2004 as room allows
    every = [step * 10.0**power for power in powers[:: int(np.ceil(decades / 7))] for step in steps]
    least = low if zero is None else 2.5 * zero
    ticks = [(value, duration(value)) for value in every if least <= value <= high]
    return ticks if zero is None else [(zero, "0"), *ticks]


def _room(values: FloatArray) -> tuple[float, float]:
    """Ends of an axis that holds these values and some air."""
    low, high = float(values.min()), float(values.max())
    room = max(0.1 * (high - low), 0.02 * max(high, 1))
    return low - room, high + room


def _tagged(names: pd.Index, values: FloatArray) -> list[list[object]]:
    """What a hover tells: the name, and figures."""
    return [[safe(str(name)), *row] for name, row in zip(names, values, strict=True)]


def _lines(
    figure: go.Figure, x: pd.Series | pd.DataFrame, y: pd.Series | pd.DataFrame, colour: str, width: float
) -> None:
    """A straight line for each row, between the two columns of x or of y."""
    rows = x.index.intersection(y.index)
    ends = [np.broadcast_to(one.loc[rows].to_numpy().reshape(len(rows), -1), (len(rows), 2)) for one in (x, y)]
    across, down = (np.column_stack([one, np.full(len(rows), np.nan)]).ravel() for one in ends)
    line = {"color": colour, "width": width}
    figure.add_scatter(x=across, y=down, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _shade(figure: go.Figure, palette: Palette, budget: float | None, plane: PlotArea) -> list[Box]:
    """Grey from the budget on; what its line and words cover."""
    at = np.inf if budget is None else np.log10(max(budget, _LEAST))
    if budget is None or at >= plane.right:
        return []
    start = max(at, plane.left)
    above = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    ends = {"x0": 10.0**start, "x1": 10.0**plane.right}
    figure.add_shape(type="rect", fillcolor=palette.faint, line_width=0, **ends, **above)
    if at > plane.left:
        line = {"color": palette.text, "width": 1.4, "dash": "dot"}
        figure.add_shape(type="line", x0=budget, x1=budget, line=line, **above)
    text = f"over {duration(budget)} →"
    place = {"xanchor": "left", "xshift": 6, "y": 0, "yref": "paper", "yanchor": "bottom"}
    note(figure, text, palette, x=start, **place)
    left, _, low, _ = plane.box((start, start), (plane.bottom, plane.bottom), 0)
    words = (left, left + 10 + 6.3 * text_columns(text), low - LINE - 4, low)
    return [words, plane.box((at, at), (plane.bottom, plane.top))] * 4


def _front(figure: go.Figure, drawn: pd.DataFrame, value: str, colour: str, plane: PlotArea) -> list[Box]:
    """What no other reranker beats, as steps from the lower to the right edge; what they cover."""
    on = drawn[drawn[f"{value}_front"]].sort_values("seconds")
    x, y = [*on["seconds"], plane.right], [plane.bottom, *on[value]]
    tied = value == "tied"
    shade = ",".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    figure.add_scatter(
        x=10.0 ** np.array([x[0], *x]),
        y=[*y, y[-1]],
        mode="lines",
        line={"color": colour, "width": 2, "shape": "hv", "dash": "solid" if tied else "dot"},
        fill="tozeroy" if tied else None,
        fillcolor=f"rgba({shade},0.06)",
        name=f"front, {value}",
        hoverinfo="skip",
    )
    flat = [plane.box((x[at], x[at + 1]), (y[at + 1], y[at + 1])) for at in range(len(on))]
    return 2 * (flat + [plane.box((x[at], x[at]), (y[at], y[at + 1])) for at in range(len(on))])


def _marks(figure: go.Figure, board: pd.DataFrame, drawn: pd.DataFrame, palette: Palette) -> None:
    """A diamond and a dot for each reranker; the hover tells its true figures."""
    times = board[["p50", "p95", "mean"]].map(duration)
    data = _tagged(board.index, board[["tied", "traditional"]].astype(object).join(times).to_numpy())
    hover = "<b>%{customdata[0]}</b><br>tied %{customdata[1]:.4f}<br>traditional %{customdata[2]:.4f}"
    hover += "<br>median %{customdata[3]}, 95% within %{customdata[4]}, mean %{customdata[5]}<extra></extra>"
    diamond = {"symbol": "diamond-open", "size": 15, "color": palette.traditional, "line": {"width": 2}}
    dot = {"symbol": "circle", "size": 9, "color": palette.tied}
    for column, marker in (("traditional", diamond), ("tied", dot)):
        figure.add_scatter(
            x=10 ** drawn["seconds"],
            y=drawn[column],
            mode="markers",
            marker=marker,
            name=column,
            customdata=data,
            hovertemplate=hover,
            cliponaxis=False,
        )
