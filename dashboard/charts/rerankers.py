"""Gap against tie ratio, a small panel a reranker."""

from typing import Any

import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import note_of, set_xaxes, set_yaxes, signed_ticks, style
from dashboard.charts.ties_vs_gap import first_dots
from metrics.evaluation import EQUAL
from metrics.studies.gaps import trend

MAX_DOTS, ALL_DOTS = 1000, 30_000
"""Dots drawn in one small panel, and of the grey ones in all panels, at most."""
_CELLS = 80
"""Places a dot can take on an axis from its middle; dots of one place are drawn as one."""
ACROSS, MANY_ACROSS = 5, 7
"""Small panels side by side, of few rerankers and of more than fill `FEW_ROWS`."""
FEW_ROWS = 3
_TITLES = {ACROSS: 16, MANY_ACROSS: 14}
"""Columns of a title over panels so many of which stand side by side."""
_TREND_CELLS = 24
_STEPS = 5
"""Steps between the ticks of an axis of gaps at most: from four, one is left above zero and one below."""
_LEAST_SPAN = 0.04
"""What an axis of tie ratios spans at least, and one of means that are all the same."""
_LINE, _HALO = 2.5, 6.5
"""Width of a mean, and of the ground around it where it lies on dots of any colour."""
_DOT, _DOT_SHARE = 2.7, 0.015
"""Height in pixels of the dot of a list of any reranker, and its width as a share of its axis."""


def gap_multiples(
    lists: pd.DataFrame, palette: Palette, colours: dict[str, str], measure: str, *, is_signed: bool = False
) -> Figure:
    """Draw gap against tie ratio: grey for all lists, colour for a reranker's own, last the means together.

    Args:
        lists: reranker, query_id, tie_ratio, first_gap of each list.
        palette: colours of the theme.
        colours: reranker → its colour, in the order drawn.
        measure: what the gaps are of.
        is_signed: whether gaps keep their sign, instead of their absolute values.
    """
    if not is_signed:
        lists = lists.assign(first_gap=lists["first_gap"].abs())
    width = ACROSS if len(colours) < ACROSS * FEW_ROWS else MANY_ACROSS
    own_lists = {name: lists[lists["reranker"] == name] for name in colours}
    means = {name: trend(own["tie_ratio"], own["first_gap"], _TREND_CELLS) for name, own in own_lists.items()}
    n_panels = len(colours) + any(len(mean) for mean in means.values())
    across = min(width, n_panels)
    rows = -(-n_panels // across)
    figure = Figure.of_panels(rows, across, horizontal_spacing=0.04, vertical_spacing=0.3 / max(rows, 2))
    reach = max(float(lists["first_gap"].abs().max()), 0.05) * 1.1
    zero: dict[str, Any] = {"zeroline": True, "zerolinecolor": palette.other, "zerolinewidth": 1}
    ticks = signed_ticks(-reach, reach, _STEPS) if is_signed else {"nticks": 4}
    ends = [-reach if is_signed else -0.04 * reach, reach]
    set_yaxes(figure, range=ends, showticklabels=False, **ticks, **zero)
    title = f"{measure} gap" if is_signed else f"|{measure} gap|"
    set_yaxes(figure, showticklabels=True, title_text=title, col=1)
    context = _thin(lists, reach, ALL_DOTS // len(colours))
    ratio_range = _ratio_range(pd.concat(own_lists.values())["tie_ratio"])
    dots = _dots_path(context, _DOT_SHARE * (ratio_range[1] - ratio_range[0]))
    titles, labels = list[dict[str, object]](), chart_names(colours, _TITLES[width])
    shapes = list[dict[str, object]]()
    for index, (name, colour) in enumerate(colours.items()):
        place = {"row": index // across + 1, "col": index % across + 1}
        _add_dots(figure, _thin(own_lists[name], reach), colour, **place)
        shapes.append(_shape(dots, faded(palette.muted, 0.5), _DOT, index, layer="between"))
        if len(means[name]):
            line = _line_path(means[name])
            shapes.append(_shape(line, palette.ground, _HALO, index))
            shapes.append(_shape(line, palette.text, _LINE, index))
        titles.append(_title(f"<span style='color:{colour}'>●</span> {labels[name]}", palette, index))
    style(figure, palette, 40 + 220 * rows, t=36, l=60, r=40)
    figure.set_layout(showlegend=False).draw_shapes(shapes)
    set_xaxes(figure, title_text="tie ratio", row=rows, col=1)
    set_xaxes(figure, tickformat="~%", nticks=4, showgrid=False, range=ratio_range)
    if n_panels > len(colours):
        place = {"row": len(colours) // across + 1, "col": len(colours) % across + 1}
        _add_means(figure, means, colours, is_signed=is_signed, **place)
        titles.append(_title("Means, all together", palette, len(colours)))
    figure.write_notes(titles)
    return figure


def _add_means(
    figure: Figure, means: dict[str, pd.DataFrame], colours: dict[str, str], *, is_signed: bool, **place: int
) -> None:
    """Add all means to one panel, whose axis ends with those that leave zero."""
    for name, mean in means.items():
        if len(mean):
            figure.draw_scatter(
                x=mean["x"],
                y=mean["mean"],
                mode="lines",
                line={"color": colours[name], "width": _LINE},
                hovertemplate=f"<b>{hover_text(name)}</b><br>mean %{{y:.4f}}<extra></extra>",
                **place,
            )
    values = pd.concat([mean["mean"] for mean in means.values()])
    low, high = values.min(), values.max()
    room = 0 if high - low > EQUAL else _LEAST_SPAN / 2
    ends = _with_air(low - room, high + room)
    look: dict[str, Any] = {"side": "right", "showticklabels": True, "title_text": None}
    ticks = signed_ticks(*ends, _STEPS) if is_signed else {"nticks": _STEPS}
    set_yaxes(figure, range=ends, **look, **ticks, **place)
    ratios = [mean["x"] for mean in means.values() if mean["mean"].abs().max() > EQUAL]
    if ratios:
        set_xaxes(figure, range=_ratio_range(pd.concat(ratios)), **place)


def _ratio_range(ratios: pd.Series) -> tuple[float, float]:
    """Return the ends of an axis of tie ratios that holds these and some air."""
    low = max(0.0, min(ratios.min(), ratios.max() - _LEAST_SPAN))
    high = max(ratios.max(), low + _LEAST_SPAN)
    return _with_air(low, high)


def _with_air(low: float, high: float) -> tuple[float, float]:
    air = 0.05 * (high - low)
    return low - air, high + air


def _add_dots(figure: Figure, own: pd.DataFrame, colour: str, **place: int) -> None:
    """Add a reranker's own lists in its colour."""
    figure.draw_scatter(
        x=own["tie_ratio"],
        y=own["first_gap"],
        mode="markers",
        marker={"size": 5, "color": colour, "opacity": 0.7},
        customdata=[
            hover_text(str(query)) + (f" and {n_hidden:,} more here" if n_hidden else "")
            for query, n_hidden in zip(own["query_id"], own["n_hidden"], strict=True)
        ],
        hovertemplate="<b>%{customdata}</b><br>gap %{y:.4f}<br>tie ratio %{x:.4f}<extra></extra>",
        **place,
    )


def _dots_path(lists: pd.DataFrame, width: float) -> str:
    """Return a path of a dash for each list: one element, where a mark for each would be hundreds a panel."""
    known = lists.dropna(subset=["tie_ratio", "first_gap"])
    ratios, gaps = known["tie_ratio"], known["first_gap"]
    dashes = zip(ratios - width / 2, gaps, ratios + width / 2, strict=True)
    return "".join(f"M{low:.4f},{gap:.4f}H{high:.4f}" for low, gap, high in dashes)


def _line_path(mean: pd.DataFrame) -> str:
    """Return the path of a local mean: x, mean."""
    return "M" + "L".join(f"{x:.5f},{y:.5f}" for x, y in zip(mean["x"], mean["mean"], strict=True))


def _shape(path: str, colour: str, width: float, index: int, layer: str = "above") -> dict[str, object]:
    """Return a line along a path in a panel; panels are counted row by row."""
    axis = "" if index == 0 else str(index + 1)
    line = {"color": colour, "width": width}
    return {"type": "path", "path": path, "xref": f"x{axis}", "yref": f"y{axis}", "line": line, "layer": layer}


def _thin(lists: pd.DataFrame, reach: float, max_dots: int = MAX_DOTS) -> pd.DataFrame:
    """Return lists whose dots do not fall on one another, with n_hidden behind each; `reach` ends the axis."""
    dots = first_dots(lists, {"tie_ratio": 1 / _CELLS, "first_gap": reach / _CELLS})
    max_dots = min(max_dots, MAX_DOTS)
    return dots if len(dots) <= max_dots else dots.sample(max_dots, random_state=0)


def _title(text: str, palette: Palette, index: int) -> dict[str, object]:
    """Return the title of a panel; panels are counted row by row."""
    axis = "" if index == 0 else str(index + 1)
    place = {"x": 0, "xref": f"x{axis} domain", "xanchor": "left"}
    above = {"y": 1.02, "yref": f"y{axis} domain", "yanchor": "bottom"}
    return note_of(text, palette, **place, **above, font={"size": 13, "color": palette.text})
