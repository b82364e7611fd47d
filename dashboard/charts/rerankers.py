"""Charts of the Rerankers page: scores and gaps in aligned rows, small multiples, wins, query groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure, named_ticks, signed_ticks, value_axis
from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.marks import VALUES, add_bounds_rows, cells, label_rows, row_height
from dashboard.charts.palette import Palette, faded
from dashboard.charts.ties_vs_gap import LEAST_SPAN, first_dots, middles
from metrics.evaluation import EQUAL
from metrics.measures import parse
from metrics.studies.gaps import trend
from metrics.studies.prose import signed_decimals
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import percent, with_signs

_KERNEL = np.exp(-0.5 * (np.arange(-4, 5) / 1.6) ** 2)
_HIGHEST = 0.82
"""Rows that the highest ridge fills."""
_BASE = 0.3
"""Rows from the middle of a row down to its ridge."""


_MIN_REACH = 0.05
"""Minimum reach of a gap axis."""
_BINS = 61
"""Bins of a distribution of gaps."""


def aligned_rows(summary: pd.DataFrame, lists: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw scores, mean tie ratio and distribution of |gap|, one row per reranker; `measure` is a mean's name.

    `summary` has first_traditional, first_tied, first_worst, first_best, tie_ratio, first_gap_mean and
    first_lists_with_gap. `lists` has reranker and first_gap.
    """
    rerankers = summary.rename(columns=lambda name: name.removeprefix("first_"))
    rerankers["gap"] = rerankers["gap_mean"]
    lists = lists.assign(first_gap=lists["first_gap"].abs())
    figure = Figure.of_panels(
        1, 3, palette, column_widths=(0.44, 0.2, 0.36), horizontal_spacing=0.05, shared_yaxes=True
    )
    add_bounds_rows(figure, rerankers, row=1, col=1)
    figure.set_xaxes(title_text=measure, nticks=5, col=1, **value_axis(rerankers[VALUES].to_numpy()))
    edges = np.linspace(0, max(float(lists["first_gap"].max()), _MIN_REACH), _BINS + 1)
    with_gap = lists[lists["first_gap"] != 0]
    counts = [
        np.histogram(with_gap.loc[with_gap["reranker"] == name, "first_gap"], bins=edges)[0]
        for name in rerankers.index
    ]
    return _add_ties_and_gaps(figure, rerankers, edges, counts, str(parse(measure)), 3)


def gap_rows(
    rerankers: pd.DataFrame, edges: FloatArray, counts: Sequence[IntArray], palette: Palette, measure: str
) -> Figure:
    """Draw mean tie ratio and distribution of gaps, one row per reranker."""
    grid = {"column_widths": (0.36, 0.64), "horizontal_spacing": 0.05, "shared_yaxes": True}
    figure = Figure.of_panels(1, 2, palette, **grid)
    return _add_ties_and_gaps(figure, rerankers, edges, counts, measure, 2)


def _add_ties_and_gaps(
    figure: Figure,
    rerankers: pd.DataFrame,
    edges: FloatArray,
    counts: Sequence[IntArray],
    measure: str,
    col: int,
) -> Figure:
    """Fill the panels col - 1 and col, and label the rows.

    Each ridge is the distribution of gaps of a reranker, orange above zero and grey below, with its mean.
    `rerankers` has gap and lists_with_gap. `counts` are lists per bin between `edges`.
    """
    palette, is_signed, place = figure.palette, edges[0] < 0, {"row": 1, "col": col}
    ratios = rerankers["tie_ratio"]
    figure.draw_bars(
        x=ratios,
        y=np.arange(len(rerankers)),
        orientation="h",
        width=0.42,
        marker={"color": palette.other},
        text=[with_signs(percent(ratio)) for ratio in ratios],
        hovertemplate="%{x:.2%} of the documents are tied",
        row=1,
        col=col - 1,
    )
    end = max(0.05, ratios.max()) * 1.25
    ticks = {"tickformat": "~p", "nticks": 4, "tickangle": 0}
    figure.set_xaxes(title_text="mean tie ratio", range=[0, end], col=col - 1, **ticks)
    bases = np.arange(len(counts), dtype=np.float64) + _BASE
    heights = [np.convolve(row, _KERNEL / _KERNEL.sum(), "same") for row in counts]
    highest = max((height.max() for height in heights), default=0) or 1
    ends, line = np.tile([edges[0], edges[-1], np.nan], len(bases)), {"color": palette.grid, "width": 1}
    figure.draw_line(x=ends, y=np.repeat(bases, 3), line=line, **place)
    centre = middles(edges)
    below, above = np.r_[centre[centre < 0], 0.0], np.r_[0.0, centre[centre >= 0]]
    for x, colour in ((below, palette.other), (above, palette.traditional))[int(not is_signed) :]:
        y = [
            np.r_[base - _HIGHEST * np.interp(x, centre, height / highest), np.full(len(x) + 1, base)]
            for base, height in zip(bases, heights, strict=True)
        ]
        sides = {"x": np.tile(np.r_[x, x[::-1], np.nan], len(bases)), "y": np.ravel(y)}
        fill = {"mode": "none", "fill": "toself", "fillcolor": colour, "opacity": 0.75}
        figure.draw_scatter(**sides, **fill, **place)
    border = {"color": palette.ground, "width": 1}
    figure.draw_marks(
        x=rerankers["gap"],
        y=bases,
        marker={"symbol": "diamond", "size": 9, "color": palette.text, "line": border},
        customdata=[hover_text(str(name)) for name in rerankers.index],
        hovertemplate="<b>%{customdata}</b><br>mean %{x:.4f}",
        **place,
    )
    beside = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": 104}
    mean = "mean gap" if is_signed else "mean |gap|"
    figure.write(f"{mean} · lists with a gap", **beside, y=1, yref="paper", yanchor="bottom")
    for row, (gap, share) in enumerate(rerankers[["gap", "lists_with_gap"]].to_numpy()):
        mean = signed_decimals(gap) if is_signed else signed_decimals(gap).removeprefix("+")
        figure.write(f"<b>{mean}</b> · {with_signs(percent(share))}", y=row, yref=f"y{col}", **beside)
    figure.style(110 + row_height(len(rerankers)) * len(rerankers), r=128, t=52)
    label_rows(figure, rerankers.index)
    end = max(float(edges[-1]), _MIN_REACH) * 1.04
    look: dict[str, Any] = signed_ticks(-end, end, 6) if is_signed else {"nticks": 6}
    title = f"{measure} gap of each list" if is_signed else f"|{measure} gap| of each list"
    return figure.set_xaxes(title_text=title, range=[-end if is_signed else -0.02 * end, end], col=col, **look)


MAX_DOTS, ALL_DOTS = 1000, 30_000
"""Maximum dots in one panel, and of grey dots in all panels."""
_CELLS = 80
"""Positions of a dot along half an axis; dots at one position are drawn once."""
ACROSS, MANY_ACROSS = 5, 7
"""Panels per row, and for more rerankers than fill `FEW_ROWS`."""
FEW_ROWS = 3
PANELS_WIDTH, _TITLES = 840, 110
"""Pixels that a row of panels needs, and columns of its titles."""
_TREND_CELLS = 24
_STEPS = 5
"""Maximum steps between ticks of a gap axis."""
_LINE, _HALO = 2.5, 6.5
"""Width of a mean line and of its outline."""
_DOT, _DOT_SHARE = 2.7, 0.015
"""Pixels of a dot's height, and its width as a share of its axis."""


def gap_multiples(
    lists: pd.DataFrame, palette: Palette, colours: dict[str, str], measure: str, *, is_narrow: bool = False
) -> Figure:
    """Draw |gap| against tie ratio per reranker, all lists in grey, and all means in the last panel.

    `lists` has reranker, query_id, tie_ratio and first_gap. A narrow figure has two panels per row.
    """
    lists = lists.assign(first_gap=lists["first_gap"].abs())
    width = 2 if is_narrow else ACROSS if len(colours) < ACROSS * FEW_ROWS else MANY_ACROSS
    own_lists = {name: lists[lists["reranker"] == name] for name in colours}
    means = {name: trend(own["tie_ratio"], own["first_gap"], _TREND_CELLS) for name, own in own_lists.items()}
    n_panels = len(colours) + any(len(mean) for mean in means.values())
    across = min(width, n_panels)
    rows = -(-n_panels // across)
    spacing = {"horizontal_spacing": 0.1 if is_narrow else 0.04, "vertical_spacing": 0.3 / max(rows, 2)}
    figure = Figure.of_panels(rows, across, palette, **spacing)
    reach = max(float(lists["first_gap"].max()), 0.05) * 1.1
    zero: dict[str, Any] = {"zeroline": True, "zerolinecolor": palette.other, "zerolinewidth": 1}
    figure.set_yaxes(range=[-0.04 * reach, reach], showticklabels=False, nticks=4, **zero)
    figure.set_yaxes(showticklabels=True, title_text=f"|{measure} gap|", col=1)
    context = _thin(lists, reach, ALL_DOTS // len(colours))
    ratio_range = _ratio_range(pd.concat(own_lists.values())["tie_ratio"])
    half = _DOT_SHARE * (ratio_range[1] - ratio_range[0]) / 2
    points = context[["tie_ratio", "first_gap"]].dropna().to_numpy()
    # all dots are one path: hundreds of markers per panel would be slow
    dots = "".join(f"M{x - half:.4f},{y:.4f}H{x + half:.4f}" for x, y in points)
    names = dict.fromkeys([*colours, *lists["reranker"].unique()])
    labels = chart_names(names, _TITLES // (ACROSS if is_narrow else across))
    for index, (name, colour) in enumerate(colours.items()):
        place = {"row": index // across + 1, "col": index % across + 1}
        _add_dots(figure, _thin(own_lists[name], reach), colour, **place)
        behind = {"color": faded(palette.muted, 0.5), "width": _DOT}
        figure.draw_shape(type="path", path=dots, line=behind, layer="between", **place)
        if len(means[name]):
            path = "M" + "L".join(f"{x:.5f},{y:.5f}" for x, y in means[name][["x", "mean"]].to_numpy())
            for line in ({"color": palette.ground, "width": _HALO}, {"color": palette.text, "width": _LINE}):
                figure.draw_shape(type="path", path=path, line=line, layer="above", **place)
        _write_title(figure, f"<span style='color:{colour}'>●</span> {labels[name]}", **place)
    figure.style(40 + (220 if rows == 1 else 166) * rows, t=36, l=60, r=40).set_layout(showlegend=False)
    figure.set_xaxes(title_text="tie ratio", row=rows, col=1)
    figure.set_xaxes(tickformat="~%", nticks=3 if is_narrow else 4, showgrid=False, range=ratio_range)
    if n_panels > len(colours):
        place = {"row": len(colours) // across + 1, "col": len(colours) % across + 1}
        _add_means(figure, means, colours, **place)
        _write_title(figure, "Means, all together", **place)
    return figure


def _add_means(figure: Figure, means: dict[str, pd.DataFrame], colours: dict[str, str], **place: int) -> None:
    """Add all means to one panel, which ends with the last non-zero mean."""
    for name, mean in means.items():
        if len(mean):
            figure.draw_line(
                x=mean["x"],
                y=mean["mean"],
                line={"color": colours[name], "width": _LINE},
                hovertemplate=f"<b>{hover_text(name)}</b><br>mean %{{y:.4f}}",
                **place,
            )
    values = pd.concat([mean["mean"] for mean in means.values()])
    low, high = values.min(), values.max()
    room = 0 if high - low > EQUAL else LEAST_SPAN / 2
    ends = _with_air(low - room, high + room)
    look: dict[str, Any] = {"side": "right", "showticklabels": True, "title_text": None}
    figure.set_yaxes(range=ends, nticks=_STEPS, **look, **place)
    ratios = [mean["x"] for mean in means.values() if mean["mean"].abs().max() > EQUAL]
    if ratios:
        figure.set_xaxes(range=_ratio_range(pd.concat(ratios)), **place)


def _ratio_range(ratios: pd.Series) -> tuple[float, float]:
    low = max(0.0, min(ratios.min(), ratios.max() - LEAST_SPAN))
    return _with_air(low, max(ratios.max(), low + LEAST_SPAN))


def _with_air(low: float, high: float) -> tuple[float, float]:
    air = 0.05 * (high - low)
    return low - air, high + air


def _add_dots(figure: Figure, own: pd.DataFrame, colour: str, **place: int) -> None:
    figure.draw_marks(
        x=own["tie_ratio"],
        y=own["first_gap"],
        marker={"size": 5, "color": colour, "opacity": 0.7},
        customdata=[
            hover_text(str(query)) + (f" and {n_hidden:,} more here" if n_hidden else "")
            for query, n_hidden in zip(own["query_id"], own["n_hidden"], strict=True)
        ],
        hovertemplate="<b>%{customdata}</b><br>gap %{y:.4f}<br>tie ratio %{x:.4f}",
        **place,
    )


def _thin(lists: pd.DataFrame, reach: float, max_dots: int = MAX_DOTS) -> pd.DataFrame:
    """Return one list per position, with n_hidden behind it, at most `max_dots`."""
    dots = first_dots(lists, {"tie_ratio": 1 / _CELLS, "first_gap": reach / _CELLS})
    max_dots = min(max_dots, MAX_DOTS)
    return dots if len(dots) <= max_dots else dots.sample(max_dots, random_state=0)


def _write_title(figure: Figure, text: str, **place: int) -> None:
    across = {"x": 0, "xref": "x domain", "xanchor": "left"}
    above = {"y": 1.02, "yref": "y domain", "yanchor": "bottom"}
    figure.write(text, **across, **above, font={"size": 13, "color": figure.palette.text}, **place)


_HALF = 0.2
"""Rows from a reranker's middle to its two bars."""
_FEW_QUERIES = 8
"""Queries up to which each has its tick."""


def win_loss_bars(table: pd.DataFrame, palette: Palette) -> Figure:
    """Draw two bars per reranker: outcomes by tied scores, and paler by traditional scores."""
    figure = (
        Figure(palette).style(96 + int(1.6 * row_height(len(table))) * len(table)).set_layout(barmode="overlay")
    )
    label_rows(figure, table.index)
    colours = {"won": palette.tied, "equal": palette.faint, "lost": palette.muted}
    names = [hover_text(str(name)) for name in table.index]
    for suffix, shift, opacity, kind in (("", -_HALF, 1.0, "tied"), ("_before", _HALF, 0.45, "traditional")):
        start = pd.Series(0, index=table.index)
        for outcome, colour in colours.items():
            count = table[outcome + suffix]
            is_pale = bool(suffix) or outcome == "equal"
            figure.draw_bars(
                x=count,
                base=start,
                y=np.arange(len(table)) + shift,
                orientation="h",
                width=2 * _HALF - 0.06,
                marker={"color": colour, "opacity": opacity},
                name=outcome,
                showlegend=not suffix,
                legendgroup=outcome,
                text=[str(number) if number else "" for number in count],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"size": 12, "color": palette.text if is_pale else palette.ground},
                constraintext="none",
                customdata=names,
                hovertemplate=f"<b>%{{customdata}}</b><br>%{{x}} {outcome} by {kind} scores",
            )
            start = start + count
    ticks = {"dtick": 1} if table[list(colours)].sum(axis=1).max() <= _FEW_QUERIES else {}
    return figure.set_xaxes(title_text="queries", tickformat="d", **ticks)


MOST_SEGMENTS = 8
"""Maximum query groups drawn, the largest first."""


def segment_heatmap(table: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the mean gap by reranker and query group: orange is too high, blue too low."""
    rerankers, segments = table["reranker"].unique(), table["segment"].unique()[:MOST_SEGMENTS]
    wide = table.pivot_table(index="reranker", columns="segment", sort=False).reindex(rerankers)
    gap, traditional, tied, n = (wide[column][segments] for column in ("gap", "traditional", "tied", "n"))
    reach = max(float(np.nanmax(gap.abs().to_numpy(), initial=0)), 0.02)
    names = np.meshgrid([hover_text(name) for name in segments], [hover_text(name) for name in rerankers])
    figure = Figure(palette).draw(
        cells(
            gap.to_numpy(),
            (*palette.heat[2:0:-1], palette.grid, *palette.warm[:3:2]),
            gap.map(signed_decimals, na_action="ignore").astype(object).fillna("").to_numpy(),
            x=np.arange(len(segments)),
            y=np.arange(len(rerankers)),
            customdata=np.dstack([*np.array(names[::-1], dtype=object), traditional, tied, n]),
            textfont={"size": 12, "color": palette.text},
            zmin=-reach,
            zmax=reach,
            hovertemplate="<b>%{customdata[0]}</b> · %{customdata[1]}<br>"
            f"{measure} %{{customdata[2]:.4f}}, {parse(measure).tied} %{{customdata[3]:.4f}}<br>"
            "gap %{z:+.4f} over %{customdata[4]:,} queries",
        )
    )
    figure.style(56 + row_height(len(rerankers)) * len(rerankers), t=44, b=8)
    label_rows(figure, rerankers)
    figure.set_yaxes(range=[len(rerankers) - 0.5, -0.5])
    labels = chart_names(segments, 12)
    sizes = [f"{labels[name]}<br>n = {size:,.0f}" for name, size in n.max().items()]
    return figure.set_xaxes(side="top", tickangle=0, **named_ticks(sizes))
