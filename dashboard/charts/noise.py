"""Charts of scores under noise: means, ties and ranks."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.charts import marks
from dashboard.charts.figure import Figure, padded_range, signed_ticks, tie_ratio_axis
from dashboard.charts.labels import hover_text, safe
from dashboard.charts.palette import Palette, faded, ink
from metrics.support.arrays import FloatArray

_PLOT, _STRIP = 330, 62
"""Pixels of the plot, and of the strip of probabilities below it."""
_SLOT = 0.6
"""Steps of noise between rerankers in the noise-free column."""
_ROWS = ("full order kept", "pairs kept")


@dataclass(frozen=True)
class NoiseTables:
    """Tables that `noise_lines` draws."""

    curves: pd.DataFrame  # `noise_curves`: index `noise` from 0, one column per reranker
    edge: pd.DataFrame  # index reranker; traditional, worst and best without noise
    trades: pd.DataFrame  # noise and value where two lines cross
    chances: pd.DataFrame  # `order_chances` by noise
    deviations: pd.DataFrame  # standard deviations of means over draws of noise
    formats: pd.DataFrame  # `format_noise`
    own: pd.DataFrame  # `own_noise`


def noise_lines(tables: NoiseTables, palette: Palette, colours: Mapping[str, str], measure: str) -> Figure:
    """Draw mean scores against noise on a log axis, and the probability of the current order below.

    The left column shows tied and traditional score and bounds without noise. Dotted lines bound the noise of
    number formats. A band shows the noise that score_std implies.
    """
    curves, edge = tables.curves, tables.edge.loc[list(tables.curves.columns)]
    places = np.log10(curves.index.to_numpy()[1:])
    step = float(places[1] - places[0])
    slots = places[0] - step * (1 + _SLOT * np.arange(len(edge), 0, -1))
    figure, dashes = Figure(palette), line_dashes(colours)
    marks.add_segments(figure, pd.Series(slots, edge.index), edge[["worst", "best"]], palette.bounds, 9)
    _add_bands(figure, tables, colours)
    for slot, (name, values) in zip(slots, curves.items(), strict=True):
        colour, levels = colours[str(name)], values.to_numpy()
        dotted = {"color": colour, "width": 1.5, "dash": "dot"}  # from the noise-free value to the first noise
        figure.draw_line(x=[slot, places[0]], y=levels[:2], line=dotted)
        hover = f"<b>{hover_text(str(name))}</b><br>σ %{{customdata:.2g}}: %{{y:.4f}}"
        line = {"color": colour, "width": 2.5, "dash": dashes[str(name)]}
        points = {"x": places, "y": levels[1:], "customdata": 10.0**places, "hovertemplate": hover}
        figure.draw_line(**points, line=line)
    edge = edge.assign(tied=curves.iloc[0])
    marks.add_values(figure, edge, x=slots, **marks.values_hover(edge))
    trades = tables.trades
    ring = {"size": 10, "color": palette.ground, "line": {"color": palette.text, "width": 2}}
    figure.draw_marks(
        x=np.log10(trades["noise"].to_numpy(dtype=float)),
        y=trades["value"],
        marker=ring,
        customdata=trades[["before", "after"]].map(hover_text),
        hovertemplate="%{customdata[1]} overtakes %{customdata[0]}",
    )
    marks.add_legend(
        figure, {"two rerankers swap ranks (by at least 1% of the value range)": ring} if len(trades) else {}
    )
    marks.add_legend(figure, {"worst to best case": {"symbol": "square", "size": 13, "color": palette.bounds}})
    if len(curves.columns) > 1:
        _add_strip(figure, tables.chances)
    figure.style(_PLOT + _STRIP + 130, t=66, r=150, l=98).set_layout(legend={"y": 1.06})
    farthest = (curves.iloc[-1] - tables.deviations.iloc[-1]).to_numpy()
    values = np.concatenate([curves.to_numpy().ravel(), edge.to_numpy().ravel(), farthest])
    share, decades = _STRIP / (_PLOT + _STRIP + 24), _decades(places)
    figure.set_xaxes(
        title_text="noise σ, in standard deviations of each reranker's scores (log scale)",
        tickvals=[slots.mean(), *decades],
        ticktext=["no noise", *decades.values()],
        range=[slots[0] - step / 2, places[-1] + step],
        anchor="y2",
    )
    ends = padded_range(values)
    figure.set_yaxes(title_text=measure, range=list(ends), domain=[share + 0.05, 1], nticks=7)
    figure.set_layout(yaxis2={"domain": [0, share], "showgrid": False, "autorange": "reversed"})
    _add_known_noise(figure, tables, (float(places[0]), float(places[-1])))
    marks.line_names(figure, curves.iloc[-1], colours, _PLOT)
    return figure


def _add_bands(figure: Figure, tables: NoiseTables, colours: Mapping[str, str]) -> None:
    """Add one standard deviation over draws on both sides of each line."""
    curves = tables.curves.iloc[1:].reset_index()
    for name, of_draws in tables.deviations.items():
        deviations = np.interp(np.log(curves["noise"]), np.log(of_draws.index), of_draws)
        ends = curves[name] - deviations, curves[name] + deviations
        marks.add_band(figure, np.log10(curves["noise"]), *ends, faded(colours[str(name)], 0.13))


def _add_known_noise(figure: Figure, tables: NoiseTables, ends: tuple[float, float]) -> None:
    """Mark the noise of number formats and of score_std."""
    colour = figure.palette.traditional
    place = {"yref": "y domain", "yanchor": "bottom", "font": {"size": 12, "color": colour}}
    if rounding := _span(tables.formats[["noise"]], ends):
        for end in sorted(set(rounding)):
            figure.draw_upright(end, line={"color": colour, "width": 1}, layer="below")
        figure.write("rounding in the files", x=sum(rounding) / 2, y=1, **place)
    if scatter := _span(tables.own[["low", "high"]], ends):
        look = {"fillcolor": faded(colour, 0.14), "line": {"width": 0}, "layer": "below"}
        box = {"x0": scatter[0] - 0.02, "x1": scatter[1] + 0.02, "y0": 0, "y1": 1, "yref": "y domain"}
        figure.draw_shape(type="rect", **box, **look)
        figure.write("noise in score_std", x=sum(scatter) / 2, y=0, **place)


def _span(noise: pd.DataFrame, ends: tuple[float, float]) -> tuple[float, float] | None:
    """Return log10 of the smallest and largest noise within `ends`, None if there is none."""
    sizes = noise.to_numpy(dtype=float).ravel()
    places = np.log10(sizes[sizes > 0])
    places = places[(places >= ends[0]) & (places <= ends[1])]
    return (float(places.min()), float(places.max())) if len(places) else None


def line_dashes(colours: Mapping[str, str]) -> dict[str, str]:
    """Return reranker → dash, where another reranker has the same colour."""
    is_repeated = pd.Series(colours).duplicated()
    return {str(name): "dash" if repeated else "solid" for name, repeated in is_repeated.items()}


def _add_strip(figure: Figure, chances: pd.DataFrame) -> None:
    """Add the probabilities of the whole order and of pairs as cells."""
    heat = figure.palette.heat
    places, shares = np.log10(chances.index.to_numpy()), chances[["whole", "pairs"]].to_numpy().T
    strip = marks.cells(
        100 * shares,
        heat,
        x=places,
        y=list(_ROWS),
        zmin=0,
        zmax=100,
        xgap=1,
        yaxis="y2",
        hovertemplate="%{y}: %{z:.0f}% at σ %{customdata:.2g}",
        customdata=np.tile(10.0**places, (2, 1)),
    )
    figure.draw(strip)
    for (row, at), share in np.ndenumerate(shares):
        font = {"size": 11, "color": ink(heat[round(share * (len(heat) - 1))])}
        figure.write(f"{100 * share:.0f}%", x=places[at], y=_ROWS[row], yref="y2", font=font)


def _decades(places: FloatArray) -> dict[float, str]:
    """Return the powers of ten on a log axis, and their labels."""
    powers = np.arange(np.ceil(places[0] - 1e-9), np.floor(places[-1] + 1e-9) + 1)
    return {power: np.format_float_positional(10.0**power, trim="-") for power in powers.tolist()}


_NEAR_PLOT, _SHARE = 380, 0.56
"""Pixels of both panels, and the share of the lower one."""


def near_tie_panels(
    tie_ratios: pd.DataFrame,
    values: pd.DataFrame,
    palette: Palette,
    colours: Mapping[str, str],
    measure: str,
) -> Figure:
    """Draw tie ratio and change of the tied mean against the distance ε of near ties on a log axis.

    Both tables have the index `distance`, from 0, and a column per reranker.
    """
    figure, dashes = Figure(palette), line_dashes(colours)
    changes = (values - values.iloc[0]).iloc[1:]
    places = np.log10(changes.index.to_numpy(dtype=float))
    for axis, table, figures in (("y2", tie_ratios.iloc[1:], ".0%"), ("y", changes, "+.4f")):
        for name, column in table.items():
            figure.draw_line(
                x=places,
                y=column,
                yaxis=axis,
                line={"color": colours[str(name)], "width": 2, "dash": dashes[str(name)]},
                customdata=table.index,
                hovertemplate=f"<b>{hover_text(str(name))}</b><br>ε %{{customdata:.3g}}: %{{y:{figures}}}",
            )
    figure.style(_NEAR_PLOT + 70, t=14, r=150, l=72)
    decades = _decades(places)
    figure.set_xaxes(
        title_text="distance ε, in standard deviations of each reranker's scores (log scale)",
        tickvals=list(decades),
        ticktext=list(decades.values()),
        range=[places[0], places[-1]],
        anchor="y",
    )
    low, high = padded_range(np.append(changes.to_numpy().ravel(), 0.0))
    look = {"range": [low, high], "domain": [0, _SHARE]} | signed_ticks(low, high, 6)
    figure.set_yaxes(title_text=f"change of {safe(measure)}", **look)
    figure.set_layout(yaxis2=tie_ratio_axis((_SHARE + 0.1, 1), (-0.04, 1.06)))
    marks.line_names(figure, changes.iloc[-1], colours, _SHARE * _NEAR_PLOT)
    return figure
