"""Charts of the Rerankers page: scores and gaps in aligned rows, small multiples, wins, query groups."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure
from dashboard.charts.labels import chart_names, hover_text
from dashboard.charts.marks import ROW, VALUES, add_bounds_rows, cells, label_rows
from dashboard.charts.palette import Palette, faded
from dashboard.charts.style import note_of, padded_range, set_xaxes, set_yaxes, signed_ticks, style
from dashboard.charts.ties_vs_gap import first_dots
from metrics.evaluation import EQUAL
from metrics.studies.gaps import trend
from metrics.studies.prose import signed
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.wording import percent

_KERNEL = np.exp(-0.5 * (np.arange(-4, 5) / 1.6) ** 2)
_HIGHEST = 0.82
"""Rows that the highest ridge fills."""
_BASE = 0.3
"""Rows from the middle of a row down to its ridge."""


def add_ridges(
    figure: Figure,
    rerankers: pd.DataFrame,
    edges: FloatArray,
    counts: Sequence[IntArray],
    palette: Palette,
    col: int,
) -> None:
    """Add the distribution of gaps of each reranker, orange above zero and grey below, and its mean.

    `rerankers` has gap and lists_with_gap. `counts` are lists per bin between `edges`.
    """
    heights = [np.convolve(row, _KERNEL / _KERNEL.sum(), "same") for row in counts]
    highest = max((height.max() for height in heights), default=0) or 1
    bases = np.arange(len(heights), dtype=np.float64) + _BASE
    title = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": 104, "y": 1, "yref": "paper"}
    beside = {"x": 1, "xref": f"x{col} domain", "xanchor": "left", "xshift": 6, "yref": f"y{col}"}
    notes = [note_of("mean gap · lists with a gap", palette, **title, yanchor="bottom")]
    is_signed = edges[0] < 0
    notes += [
        note_of(f"<b>{signed(gap, plus=is_signed)}</b> · {percent(share)}", palette, y=base - 0.12, **beside)
        for gap, share, base in zip(rerankers["gap"], rerankers["lists_with_gap"], bases, strict=True)
    ]
    for ridge in _ridges(edges, [height / highest for height in heights], bases, palette):
        figure.draw_scatter(**ridge, row=1, col=col)
    figure.draw_scatter(**_means(rerankers["gap"], bases, palette), row=1, col=col)
    figure.write_notes(notes)


def _ridges(
    edges: FloatArray, heights: Sequence[FloatArray], bases: FloatArray, palette: Palette
) -> Iterator[dict[str, Any]]:
    """Yield the base lines and both sides of the ridges; heights are at most 1."""
    look = {"hoverinfo": "skip", "showlegend": False}
    line = {"color": palette.grid, "width": 1}
    ends = np.tile([edges[0], edges[-1], np.nan], len(bases))
    yield {"x": ends, "y": np.repeat(bases, 3), "mode": "lines", "line": line, **look}
    centre = (edges[1:] + edges[:-1]) / 2
    below = np.r_[centre[centre < 0], 0.0]
    above = np.r_[0.0, centre[centre >= 0]]
    for x, colour in ((below, palette.other), (above, palette.traditional))[int(edges[0] == 0) :]:
        y = [
            np.r_[base - _HIGHEST * np.interp(x, centre, height), np.full(len(x) + 1, base)]
            for base, height in zip(bases, heights, strict=True)
        ]
        sides = {"x": np.tile(np.r_[x, x[::-1], np.nan], len(bases)), "y": np.ravel(y)}
        fill = {"fill": "toself", "fillcolor": colour, "opacity": 0.75}
        yield {**sides, "mode": "none", **fill, **look}


def _means(gaps: "pd.Series[float]", bases: FloatArray, palette: Palette) -> dict[str, Any]:
    border = {"color": palette.ground, "width": 1}
    return {
        "x": gaps,
        "y": bases,
        "mode": "markers",
        "showlegend": False,
        "marker": {"symbol": "diamond", "size": 9, "color": palette.text, "line": border},
        "customdata": [hover_text(str(name)) for name in gaps.index],
        "hovertemplate": "<b>%{customdata}</b><br>mean %{x:.4f}<extra></extra>",
    }


_ROW, _LOW_ROW = 48, 44
"""Pixels of a row with and without its scores."""
_MIN_REACH = 0.05
"""Minimum reach of a gap axis."""
_BINS = 61
"""Bins of a distribution of gaps."""


def aligned_rows(
    summary: pd.DataFrame, lists: pd.DataFrame, palette: Palette, measure: str, *, is_signed: bool = False
) -> Figure:
    """Draw scores, mean tie ratio and distribution of gaps, one row per reranker.

    `summary` has first_traditional, first_tied, first_worst, first_best, tie_ratio, first_gap, first_gap_mean
    and first_lists_with_gap. `lists` has reranker and first_gap.
    """
    rerankers = summary.rename(columns=lambda name: name.removeprefix("first_"))
    if not is_signed:
        rerankers["gap"] = rerankers["gap_mean"]
        lists = lists.assign(first_gap=lists["first_gap"].abs())
    figure = Figure.of_panels(1, 3, column_widths=(0.44, 0.2, 0.36), horizontal_spacing=0.05, shared_yaxes=True)
    add_bounds_rows(figure, rerankers, palette, row=1, col=1)
    set_xaxes(figure, title_text=measure, nticks=7, range=padded_range(rerankers[VALUES].to_numpy()), col=1)
    reach = max(float(lists["first_gap"].abs().max()), _MIN_REACH)
    edges = np.linspace(-reach if is_signed else 0, reach, _BINS + 1)
    with_gap = lists[lists["first_gap"] != 0]
    counts = [
        np.histogram(with_gap.loc[with_gap["reranker"] == name, "first_gap"], bins=edges)[0]
        for name in rerankers.index
    ]
    return _add_ties_and_gaps(figure, rerankers, edges, counts, palette, measure, _ROW, 3)


def gap_rows(
    rerankers: pd.DataFrame, edges: FloatArray, counts: Sequence[IntArray], palette: Palette, measure: str
) -> Figure:
    """Draw mean tie ratio and distribution of gaps, one row per reranker."""
    figure = Figure.of_panels(1, 2, column_widths=(0.36, 0.64), horizontal_spacing=0.05, shared_yaxes=True)
    return _add_ties_and_gaps(figure, rerankers, edges, counts, palette, measure, _LOW_ROW, 2)


def _add_ties_and_gaps(
    figure: Figure,
    rerankers: pd.DataFrame,
    edges: FloatArray,
    counts: Sequence[IntArray],
    palette: Palette,
    measure: str,
    row_height: int,
    col: int,
) -> Figure:
    """Fill the panels col - 1 and col, and label the rows."""
    _add_tie_bars(figure, rerankers, palette, col - 1)
    add_ridges(figure, rerankers, edges, counts, palette, col)
    style(figure, palette, 110 + row_height * len(rerankers), r=128, t=52)
    label_rows(figure, rerankers.index, palette)
    end = max(float(edges[-1]), _MIN_REACH) * 1.04
    if edges[0] == 0:
        title = f"|{measure} gap| of each list"
        return set_xaxes(figure, title_text=title, range=[-0.02 * end, end], nticks=6, col=col)
    title = f"{measure} gap of each list"
    return set_xaxes(figure, title_text=title, range=[-end, end], col=col, **signed_ticks(-end, end, 6))


def _add_tie_bars(figure: Figure, rerankers: pd.DataFrame, palette: Palette, col: int) -> None:
    figure.draw_bars(
        x=rerankers["tie_ratio"],
        y=np.arange(len(rerankers)),
        orientation="h",
        width=0.42,
        marker={"color": palette.other},
        text=[percent(ratio) for ratio in rerankers["tie_ratio"]],
        textposition="outside",
        textfont={"color": palette.muted},
        cliponaxis=False,
        showlegend=False,
        hovertemplate="%{x:.2%} of the documents are tied<extra></extra>",
        row=1,
        col=col,
    )
    end = max(0.05, rerankers["tie_ratio"].max()) * 1.25
    set_xaxes(figure, title_text="mean tie ratio", tickformat="~p", nticks=4, range=[0, end], col=col)


MAX_DOTS, ALL_DOTS = 1000, 30_000
"""Maximum dots in one panel, and of grey dots in all panels."""
_CELLS = 80
"""Positions of a dot along half an axis; dots at one position are drawn once."""
ACROSS, MANY_ACROSS = 5, 7
"""Panels per row, and for more rerankers than fill `FEW_ROWS`."""
FEW_ROWS = 3
_TITLES = {ACROSS: 16, MANY_ACROSS: 14}
"""Columns of a title, by panels per row."""
_TREND_CELLS = 24
_STEPS = 5
"""Maximum steps between ticks of a gap axis."""
_LEAST_SPAN = 0.04
"""Minimum span of an axis of tie ratios or of equal means."""
_LINE, _HALO = 2.5, 6.5
"""Width of a mean line and of its outline."""
_DOT, _DOT_SHARE = 2.7, 0.015
"""Pixels of a dot's height, and its width as a share of its axis."""


def gap_multiples(
    lists: pd.DataFrame, palette: Palette, colours: dict[str, str], measure: str, *, is_signed: bool = False
) -> Figure:
    """Draw gap against tie ratio per reranker, all lists in grey, and all means in the last panel.

    `lists` has reranker, query_id, tie_ratio and first_gap.
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
    """Add all means to one panel, which ends with the last non-zero mean."""
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
    low = max(0.0, min(ratios.min(), ratios.max() - _LEAST_SPAN))
    high = max(ratios.max(), low + _LEAST_SPAN)
    return _with_air(low, high)


def _with_air(low: float, high: float) -> tuple[float, float]:
    air = 0.05 * (high - low)
    return low - air, high + air


def _add_dots(figure: Figure, own: pd.DataFrame, colour: str, **place: int) -> None:
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
    """Return all dots as one path; hundreds of markers per panel would be slow."""
    dots = lists.dropna(subset=["tie_ratio", "first_gap"])
    ratios, gaps = dots["tie_ratio"], dots["first_gap"]
    dashes = zip(ratios - width / 2, gaps, ratios + width / 2, strict=True)
    return "".join(f"M{low:.4f},{gap:.4f}H{high:.4f}" for low, gap, high in dashes)


def _line_path(mean: pd.DataFrame) -> str:
    return "M" + "L".join(f"{x:.5f},{y:.5f}" for x, y in zip(mean["x"], mean["mean"], strict=True))


def _shape(path: str, colour: str, width: float, index: int, layer: str = "above") -> dict[str, object]:
    axis = "" if index == 0 else str(index + 1)
    line = {"color": colour, "width": width}
    return {"type": "path", "path": path, "xref": f"x{axis}", "yref": f"y{axis}", "line": line, "layer": layer}


def _thin(lists: pd.DataFrame, reach: float, max_dots: int = MAX_DOTS) -> pd.DataFrame:
    """Return one list per position, with n_hidden behind it, at most `max_dots`."""
    dots = first_dots(lists, {"tie_ratio": 1 / _CELLS, "first_gap": reach / _CELLS})
    max_dots = min(max_dots, MAX_DOTS)
    return dots if len(dots) <= max_dots else dots.sample(max_dots, random_state=0)


def _title(text: str, palette: Palette, index: int) -> dict[str, object]:
    axis = "" if index == 0 else str(index + 1)
    place = {"x": 0, "xref": f"x{axis} domain", "xanchor": "left"}
    above = {"y": 1.02, "yref": f"y{axis} domain", "yanchor": "bottom"}
    return note_of(text, palette, **place, **above, font={"size": 13, "color": palette.text})


_HALF = 0.2
"""Rows from a reranker's middle to its two bars."""
_FEW_QUERIES = 8
"""Queries up to which each has its tick."""


def win_loss_bars(table: pd.DataFrame, palette: Palette) -> Figure:
    """Draw two bars per reranker: outcomes by tied scores, and paler by traditional scores."""
    figure = Figure()
    colours = {"won": palette.tied, "equal": palette.faint, "lost": palette.traditional}
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
                hovertemplate=f"<b>%{{customdata}}</b><br>%{{x}} {outcome} by {kind} scores<extra></extra>",
            )
            start = start + count
    style(figure, palette, 96 + int(1.6 * ROW) * len(table))
    label_rows(figure, table.index, palette)
    ticks = {"dtick": 1} if table[list(colours)].sum(axis=1).max() <= _FEW_QUERIES else {}
    return set_xaxes(figure, title_text="queries", tickformat="d", **ticks).set_layout(barmode="overlay")


MOST_SEGMENTS = 8
"""Maximum query groups drawn, the largest first."""


def segment_heatmap(table: pd.DataFrame, palette: Palette, measure: str) -> Figure:
    """Draw the mean gap by reranker and query group: orange is too high, blue too low."""
    rerankers, segments = table["reranker"].unique(), table["segment"].unique()[:MOST_SEGMENTS]
    wide = table.pivot_table(index="reranker", columns="segment", sort=False).reindex(rerankers)
    gap, traditional, tied, n = (wide[column][segments] for column in ("gap", "traditional", "tied", "n"))
    reach = max(float(np.nanmax(gap.abs().to_numpy(), initial=0)), 0.02)
    names = np.meshgrid([hover_text(name) for name in segments], [hover_text(name) for name in rerankers])
    figure = Figure().draw(
        cells(
            gap.to_numpy(),
            (*palette.heat[2:0:-1], palette.grid, *palette.warm[:3:2]),
            np.vectorize(_gap_text, otypes=[object])(gap),
            x=np.arange(len(segments)),
            y=np.arange(len(rerankers)),
            customdata=np.dstack([*np.array(names[::-1], dtype=object), traditional, tied, n]),
            textfont={"size": 12, "color": palette.text},
            zmin=-reach,
            zmax=reach,
            hovertemplate="<b>%{customdata[0]}</b> · %{customdata[1]}<br>"
            f"{measure} traditional %{{customdata[2]:.4f}}, tied %{{customdata[3]:.4f}}<br>"
            "gap %{z:+.4f} over %{customdata[4]:,} queries<extra></extra>",
        )
    )
    style(figure, palette, 56 + ROW * len(rerankers), t=44, b=8)
    label_rows(figure, rerankers, palette)
    set_yaxes(figure, range=[len(rerankers) - 0.5, -0.5], ticklabelstandoff=6)
    labels = chart_names(segments, 12)
    sizes = [f"{labels[name]}<br>n = {size:,.0f}" for name, size in n.max().items()]
    return set_xaxes(
        figure, side="top", showgrid=False, tickangle=0, tickvals=np.arange(len(segments)), ticktext=sizes
    )


def _gap_text(gap: float) -> str:
    return "" if np.isnan(gap) else signed(gap) if gap else "0"
