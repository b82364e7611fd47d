"""What judging settles: how wide bars are after so many documents, in an order and at random."""

from dashboard.charts.figure import Figure
from dashboard.charts.marks import add_band
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import note, safe, set_xaxes, set_yaxes, style
from metrics.studies.leaderboard.judging import JudgingPlan

_HEIGHT = 340
_ROOM = 0.35
"""Share of the axis that a label takes on a phone."""
_HOVER = "%{x:,} judged<br>%{y:.4f} wide<extra>%{fullData.name}</extra>"


def settling_curve(plan: JudgingPlan, palette: Palette) -> Figure:
    """Draw the mean width of the bars against documents judged, a rule where what holes leave open is halved.

    The plan has at least one document; what ties alone leave stands below the two lines.
    """
    figure, curve = Figure(), plan.curve
    n = int(curve["judged"].iloc[-1])
    add_band(figure, curve["judged"], curve["in_order"], curve["at_random"], faded(palette.bounds, 0.45))
    looks = {
        "at_random": ("random order", {"color": palette.muted, "width": 1.6, "dash": "dot"}),
        "in_order": ("in this order", {"color": palette.tied, "width": 2.6}),
    }
    for column, (name, line) in looks.items():
        figure.draw_scatter(
            x=curve["judged"], y=curve[column], mode="lines", line=line, name=name, hovertemplate=_HOVER
        )
    line = {"color": palette.muted, "width": 1}
    figure.draw_shape(type="line", x0=0, x1=1, xref="x domain", y0=plan.floor, y1=plan.floor, line=line)
    style(figure, palette, _HEIGHT, t=16, r=16)
    note(figure, "left to ties alone", palette, x=0, xanchor="left", y=plan.floor, yanchor="top", yref="y")
    if plan.halving():
        _add_half(figure, plan, palette)
    height = max(plan.width - plan.floor, 1e-9)
    ends = [max(plan.floor - 0.12 * height, -0.06 * height), plan.width + 0.05 * height]
    set_yaxes(figure, title_text=safe(f"mean width, {plan.measure}"), range=ends, nticks=6)
    set_xaxes(
        figure,
        title_text="documents judged",
        range=[-0.02 * n, 1.02 * n],
        showgrid=False,
        tickformat=",d",
        nticks=6,
    )
    return figure.set_layout(showlegend=False)


def _add_half(figure: Figure, plan: JudgingPlan, palette: Palette) -> None:
    """Add a rule where half of what holes leave open is closed, from line to line, with both counts."""
    y, ends = (plan.width + plan.floor) / 2, [plan.halving(), plan.halving("at_random")]
    figure.draw_scatter(
        x=ends,
        y=[y, y],
        mode="lines+markers",
        line={"color": palette.text, "width": 1},
        marker={
            "size": 9,
            "color": [palette.tied, palette.ground],
            "line": {"width": 1.6, "color": [palette.tied, palette.muted]},
        },
        hoverinfo="skip",
    )
    room = _ROOM * plan.curve["judged"].iloc[-1]
    above, below = {"yanchor": "bottom", "yshift": 2}, {"yanchor": "top", "yshift": -2}
    right = {"xanchor": "left", "xshift": 8}
    own_side = right | (above if ends[1] - ends[0] > room else below)
    if ends[0] > room:
        own_side = {"xanchor": "right", "xshift": -8} | below
    labels = {
        f"<b>{ends[0]:,}</b> in this order": (palette.tied, own_side),
        f"<b>{ends[1]:,}</b> at random": (palette.muted, right | above),
    }
    for x, (text, (colour, side)) in zip(ends, labels.items(), strict=True):
        note(figure, text, palette, x=x, y=y, yref="y", font={"size": 13, "color": colour}, **side)
