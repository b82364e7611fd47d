"""Charts of Ties vs gap: ties against gaps, the notebook's panels, tie sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import BELOW, Figure, signed_ticks
from dashboard.charts.labels import chart_names, hover_text, safe
from dashboard.charts.marks import UNCERTAIN, add_band, cells
from dashboard.charts.palette import Palette
from metrics.evaluation import EQUAL
from metrics.studies.gaps import smooth_bins, trend
from metrics.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from metrics.studies.stored_summary import GapCells

_STRIP = 0.075
"""Height of the strip of lists without a gap, as a share of the gap axis."""
CROWDED = 4
"""Lists per cell from which the cell is shaded instead of dotted."""
DOTS = 3000
"""Maximum dots of a panel, largest gaps first; more would need WebGL, which starts slowly."""
BINS = 22
LEAST_SPAN = 0.04
"""Minimum span of an axis of tie ratios or of equal means."""
_PLACES = 300
"""Positions of a dot along an axis; dots at one position are drawn once."""
_OPACITY = 0.65
_TIES = {"tie_ratio": "tie ratio %{x:.4f}", "max_tie_size": "largest tie %{x}"}
"""Column of the x axis → its line of the hover text."""


def gap_axis_top(largest: float) -> float:
    """Return the upper end of an axis of absolute gaps."""
    return max(float(largest), 0.05) * 1.08


def middles(edges: FloatArray) -> FloatArray:
    """Return the n midpoints of n + 1 edges."""
    return (edges[1:] + edges[:-1]) / 2


def first_dots(lists: pd.DataFrame, places: Mapping[str, float]) -> pd.DataFrame:
    """Return one list per dot position, with n_hidden behind it.

    `places` maps the two coordinate columns to the distance at which dots are distinguishable.
    """
    x, y = ((lists[column].to_numpy() / step).round() for column, step in places.items())
    _, first, counts = np.unique(x + 1j * y, return_index=True, return_counts=True)
    order = first.argsort()
    return lists.iloc[first[order]].assign(n_hidden=counts[order] - 1)


@dataclass(frozen=True)
class GapPanel:
    """A panel with gaps on its y axis, and lists without a gap in a strip below."""

    figure: Figure  # figure that the panel is part of
    place: dict[str, int]  # row and col of the panel
    top: float  # upper end of the y axis

    def below(self, strips: float) -> float:
        """Return the y value `strips` strips below the gap axis."""
        return -strips * _STRIP * self.top

    def draw_cells(
        self,
        column: str,
        title: str,
        edges: tuple[FloatArray, FloatArray],
        shade: FloatArray,
        counts: tuple[IntArray, IntArray, IntArray],
    ) -> None:
        """Draw cells, the share of lists without a gap per x cell, and the axes.

        Args:
            column: column of the x axis, `tie_ratio` or `max_tie_size`.
            title: title of the y axis.
            edges: edges of the cells along x and y.
            shade: (n_y, n_x) shade of each cell, NaN for none.
            counts: (n_y, n_x) lists of each cell, and (n_x,) lists without a gap and all lists.
        """
        palette, x, y = self.figure.palette, middles(edges[0]), middles(edges[1])
        with_gap, without_gap, n_lists = counts
        look: dict[str, Any] = {"xgap": 1, "ygap": 1, "customdata": with_gap, **self.place}
        hover = "%{customdata:,} lists"
        self.figure.draw(cells(shade, palette.warm, x=x, y=y, hovertemplate=hover, **look))
        share = np.where(n_lists > 0, without_gap / np.maximum(n_lists, 1), np.nan)
        look |= {"ygap": None, "customdata": [without_gap], "zmin": 0, "zmax": 1}
        look["hovertemplate"] = "no gap in %{customdata:,} lists (%{z:.0%})"
        strip = [self.below(1.75), self.below(0.75)]
        self.figure.draw(cells(share[None], (palette.faint, palette.other), x=x, y=strip, **look))
        ends = [self.below(2.1), self.top]
        self.figure.set_yaxes(range=ends, title_text=title, nticks=6, tick0=0, **self.place)
        place = {"x": 0, "xref": "x domain", "xanchor": "right", "xshift": -6}
        self.figure.write("no gap", **place, y=self.below(1.25), yref="y", **self.place)
        axis: dict[str, Any] = {"title_text": "tie ratio", "tickformat": "~%", "range": [-0.03, 1.03]}
        if column == "max_tie_size":
            axis = {"title_text": "largest tie, documents", "tickformat": "~s", "nticks": 8}
        self.figure.set_xaxes(showgrid=False, **axis, **self.place)

    def add_mean_band(self, trend: pd.DataFrame) -> None:
        """Add the 95% band of a local mean: x, low, high."""
        if len(trend):
            low = trend["low"].clip(lower=0)
            add_band(self.figure, trend["x"], low, trend["high"], UNCERTAIN, **self.place)

    def add_mean_line(self, trend: pd.DataFrame) -> None:
        """Add a local mean: x, mean."""
        if len(trend):
            line, hover = {"color": self.figure.palette.text, "width": 2.5}, "mean |gap| %{y:.4f}"
            self.figure.draw_line(x=trend["x"], y=trend["mean"], line=line, hovertemplate=hover, **self.place)


def add_gap_distribution(figure: Figure, levels: FloatArray, counts: Sequence[IntArray], col: int) -> None:
    """Add a histogram of gaps to a panel of the first row; `counts` are lists too high and too low."""
    palette, place = figure.palette, {"row": 1, "col": col}
    looks = (("too high", palette.traditional, palette.traditional), ("too low", palette.other, palette.muted))
    for (name, colour, words), lists in zip(looks, counts, strict=True):
        hover = f"%{{x:,}} lists<br>traditional score {name} by about %{{y:.3f}}"
        bars = {"orientation": "h", "marker": {"color": colour}, "hovertemplate": hover}
        figure.draw_bars(x=lists, y=levels, **bars, **place)
        text = f"<b style='color:{words}'>traditional {name}</b> · {int(lists.sum()):,}"
        height = {"y": 1, "yref": "y domain", "yanchor": "bottom", "yshift": 18 * (name == "too high")}
        figure.write(text, x=1, xref="x domain", xanchor="right", **height, **place)
    figure.set_yaxes(showticklabels=False, **place).set_xaxes(title_text="lists", nticks=4, **place)


COLOURED = 7
"""Rerankers with a colour of their own, those with the most gaps; the others share a grey."""
_LINE = 16
"""Pixels of a second line of the title of an axis."""
_GL, _DENSE = 5000, 50_000
"""Lists above which dots are drawn by WebGL, and above which cells take their place."""
_DENSE_CELLS = 60


def gap_scatter(
    lists: pd.DataFrame,
    palette: Palette,
    colours: Mapping[str, str],
    measure: str,
    order: str,
    selected: int | None = None,
) -> Figure:
    """Draw tie ratio against gap of the lists with a gap, coloured by reranker, and the mean |gap| of all.

    Args:
        lists: tie_ratio, first_gap, reranker and query_id; a click returns the index.
        palette: colours of the theme.
        colours: reranker → its colour on every page.
        measure: name of the measure.
        order: tie order of the traditional score.
        selected: index of the list to mark.
    """
    figure, gaps = Figure(palette).style(400, t=44, l=60, r=24, b=BELOW + _LINE), lists["first_gap"]
    with_gap = lists[gaps.abs() > 0]
    low, high = min(gaps.min(), 0), max(gaps.max(), 0)
    ends = low - 0.1 * (high - low), high + 0.1 * (high - low)
    trace_type = "scattergl" if _GL < len(with_gap) <= _DENSE else "scatter"
    if len(with_gap) > _DENSE:
        edges = np.linspace(0, 1, _DENSE_CELLS + 1), np.linspace(*ends, _DENSE_CELLS + 1)
        counts = np.histogram2d(with_gap["first_gap"], with_gap["tie_ratio"], bins=edges[::-1])[0]
        shade = np.log10(counts, where=counts > 0, out=np.full(counts.shape, np.nan))
        look = {"x": middles(edges[0]), "y": middles(edges[1]), "xgap": 0, "ygap": 0, "customdata": counts}
        figure.draw(cells(shade, palette.heat, hovertemplate="%{customdata:,} lists", **look))
    else:
        _add_lists(figure, with_gap, colours, trace_type, ends)
    mean = trend(lists["tie_ratio"], gaps.abs())
    look = {"line": {"color": palette.text, "width": 2.5}, "hovertemplate": "mean |gap| %{y:.4f}"}
    figure.draw_line(x=mean["x"], y=mean["mean"], name="mean |gap|", **look | {"type": trace_type})
    _add_ring(figure, lists, selected)
    corner = {"xref": "paper", "yref": "paper", "x": 0.01, "xanchor": "left"}
    high_font, low_font = ({"size": 12, "color": colour} for colour in (palette.traditional, palette.muted))
    figure.write(f"▲ {order} scores too high", **corner, y=1, yanchor="top", font=high_font)
    figure.write("▼ too low", **corner, y=0, yanchor="bottom", font=low_font)
    title = f"tie ratio<br>{len(lists) - len(with_gap):,} of {len(lists):,} lists have no gap and are not drawn"
    zero = {"zeroline": True, "zerolinecolor": palette.other, "zerolinewidth": 1}
    figure.set_yaxes(range=ends, title_text=f"{measure} gap", **zero | signed_ticks(*ends, 8))
    span = max(1 - float(lists["tie_ratio"].min()), LEAST_SPAN)
    figure.set_xaxes(title_text=title, tickformat="~%", range=[1 - 1.03 * span, 1 + 0.03 * span])
    toggled = {"itemclick": "toggle", "itemdoubleclick": "toggleothers"}
    return figure.set_layout(legend=toggled, uirevision="muted rerankers")


def _add_lists(
    figure: Figure, lists: pd.DataFrame, colours: Mapping[str, str], trace_type: str, ends: tuple[float, float]
) -> None:
    """Add a dot per list, one trace per reranker in board order; those without a colour share a trace.

    Of two rerankers with one colour, the second takes an unused one.
    """
    names = list(dict.fromkeys(lists["reranker"]))
    coloured = set(lists["reranker"].value_counts().index[:COLOURED])
    labels = chart_names(map(str, names))
    others = [name for name in names if name not in coloured]
    groups = {f"{len(others)} more": others} if others else {}  # below the dots that have a colour
    groups |= {labels[str(name)]: [name] for name in names if name in coloured}
    steps = {"tie_ratio": 1 / _PLACES, "first_gap": (ends[1] - ends[0]) / _PLACES}
    hover = f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>gap %{{y:+.4f}}<br>{_TIES['tie_ratio']}"
    unused = list(figure.palette.rerankers)
    for label, members in groups.items():
        own = lists[lists["reranker"].isin(members)]
        own = first_dots(own, steps) if trace_type == "scatter" else own
        colour, look = figure.palette.other, {"type": trace_type, "name": label, "legendrank": 1001}
        if members is not others:
            own_colour, look["legendrank"] = colours[str(members[0])], 1000
            colour = unused.pop(unused.index(own_colour) if own_colour in unused else 0)
        _add_dots(figure, own, "tie_ratio", "first_gap", colour, hover, **look)


def gap_panels(lists: pd.DataFrame, palette: Palette, names: tuple[str, str]) -> Figure:
    """Draw the notebook's six panels of absolute gaps in two measures.

    `lists` has tie_ratio, max_tie_size, first_gap, second_gap, reranker and query_id.
    """
    figure = Figure.of_panels(2, 3, palette, horizontal_spacing=0.075, vertical_spacing=0.27)
    figure.style(580, t=60, l=60, r=24).set_layout(bargap=0.12, barmode="stack", showlegend=False)
    sizes = lists.assign(**{name: lists[name].abs() for name in ("first_gap", "second_gap")})
    for row, (gap, name) in enumerate(zip(("first_gap", "second_gap"), names, strict=True), 1):
        for col, (x, words) in enumerate((("tie_ratio", "Tie ratio"), ("max_tie_size", "Largest tie")), 1):
            panel = _add_panel(
                figure, sizes, x, gap, f"| {name} − tied {name} |" * (col == 1), row=row, col=col
            )
            _write_title(figure, f"{words}, {name}", row=row, col=col)
        if row == 1:
            edges, signs = _gap_edges(panel), lists[gap]
            counts = [np.histogram(sizes.loc[sign, gap], edges)[0] for sign in (signs > 0, signs < 0)]
            add_gap_distribution(figure, middles(edges), counts, 3)
            figure.set_yaxes(range=[panel.below(2.1), panel.top], row=1, col=3)
            _write_title(figure, f"Distribution, {name}", row=1, col=3, yshift=38)
    _add_other_gap(figure, sizes, names)
    _write_title(figure, f"{names[1]} against {names[0]}", row=2, col=3)
    return figure


def _write_title(figure: Figure, text: str, yshift: int = 4, **place: int) -> None:
    font = {"size": 13, "color": figure.palette.text}
    look = {"x": 0, "xref": "x domain", "xanchor": "left", "y": 1, "yref": "y domain", "yanchor": "bottom"}
    figure.write(f"<b>{text}</b>", font=font, yshift=yshift, **look, **place)


def _add_panel(figure: Figure, lists: pd.DataFrame, x: str, y: str, title: str, **place: int) -> GapPanel:
    """Shade crowded cells, draw the other lists as dots, and add the local mean."""
    panel = GapPanel(figure, place, gap_axis_top(lists[y].max()))
    edges = np.linspace(0, 1, BINS + 1) if x == "tie_ratio" else _whole_edges(lists[x]), _gap_edges(panel)
    with_gap = lists[lists[y] > 0]
    counts = np.histogram2d(with_gap[y], with_gap[x], bins=edges[::-1])[0]
    shade = np.where(counts >= CROWDED, counts, np.nan)
    without_gap, n_lists = (np.histogram(part[x], bins=edges[0])[0] for part in (lists[lists[y] == 0], lists))
    panel.draw_cells(x, title, edges, shade, (counts, without_gap, n_lists))
    mean = trend(lists[x], lists[y])
    panel.add_mean_band(mean)
    column, row = (
        np.clip(np.digitize(with_gap[name], ends) - 1, 0, len(ends) - 2)
        for name, ends in zip((x, y), edges, strict=True)
    )
    single = with_gap[counts[row, column] < CROWDED]
    single = single.loc[single[y].nlargest(DOTS).index]
    hover = f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>gap %{{y:.4f}}<br>{_TIES[x]}"
    _add_dots(figure, single, x, y, figure.palette.traditional, hover, **place)
    panel.add_mean_line(mean)
    return panel


def _gap_edges(panel: GapPanel) -> FloatArray:
    """Return cell edges along the gap axis, from 0."""
    return np.linspace(0, panel.top, BINS - 5)


def _whole_edges(sizes: pd.Series) -> FloatArray:
    """Return the edges of at most `BINS` cells of equally many integers."""
    low, high = max(int(sizes.min()), 1), int(sizes.max())
    step = max(1, -(-(high - low + 1) // BINS))
    return np.arange(low - 0.5, high + step + 0.5, step)


def _add_dots(
    figure: Figure, lists: pd.DataFrame, x: str, y: str, colour: str | np.ndarray, hover: str, **trace: Any
) -> None:
    """Add a clickable dot per list; its first custom value is its index.

    A dot with others behind it is as opaque as all of them drawn on top of each other.
    """
    names, queries = ([hover_text(str(name)) for name in lists[column]] for column in ("reranker", "query_id"))
    opacity = _OPACITY
    if "n_hidden" in lists:
        opacity = 1 - (1 - _OPACITY) ** (lists["n_hidden"].to_numpy() + 1)
        hidden = (f" and {n:,} more here" * bool(n) for n in lists["n_hidden"])
        queries = [query + others for query, others in zip(queries, hidden, strict=True)]
    figure.draw_marks(
        x=lists[x],
        y=lists[y],
        marker={"size": 6, "color": colour, "opacity": opacity},
        customdata=np.column_stack([lists.index.to_numpy(), names, queries]),
        hovertemplate=hover,
        selected={"marker": {"opacity": _OPACITY}},
        unselected={"marker": {"opacity": _OPACITY}},
        **trace,
    )


def _add_ring(figure: Figure, lists: pd.DataFrame, selected: int | None) -> None:
    """Mark the selected list and its query."""
    if selected not in lists.index:
        return
    ring, palette = lists.loc[selected], figure.palette
    x, y = ring["tie_ratio"], ring["first_gap"]
    marker = {"size": 13, "color": palette.tied, "line": {"color": palette.ground, "width": 2}}
    figure.draw_marks(x=[x], y=[y], marker=marker)
    query = f"<b>{safe(str(ring['query_id']), 16)}</b>"
    figure.write(query, x=x, y=y, yshift=16, font={"size": 13, "color": palette.tied})


def _add_other_gap(figure: Figure, lists: pd.DataFrame, names: Sequence[str]) -> None:
    """Add one absolute gap against the other, and the diagonal."""
    columns, palette, place = ("first_gap", "second_gap"), figure.palette, {"row": 2, "col": 3}
    sizes = lists[list(columns)]
    ends = [0, float(sizes.max().min())]
    figure.draw_line(x=ends, y=ends, line={"color": palette.other, "width": 1, "dash": "dot"}, **place)
    with_gap = lists[(sizes > 0).any(axis=1)]
    with_gap = first_dots(with_gap, {name: max(sizes[name].max(), EQUAL) / _PLACES for name in columns})
    with_gap = with_gap.loc[with_gap["first_gap"].nlargest(DOTS).index]
    colour = np.where(with_gap["second_gap"] > 0, palette.traditional, palette.other)
    hover = (
        f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>{names[0]} gap %{{x:.4f}}"
        f"<br>{names[1]} gap %{{y:.4f}}"
    )
    _add_dots(figure, with_gap, "first_gap", "second_gap", colour, hover, **place)
    for set_axes, name, column in zip((figure.set_xaxes, figure.set_yaxes), names, columns, strict=True):
        top = gap_axis_top(sizes[column].max())
        set_axes(title_text=f"| {name} − tied {name} |", range=[-0.03 * top, top], nticks=6, **place)


def gap_map(ratios: "GapCells", sizes: "GapCells", palette: Palette, measure: str) -> Figure:
    """Draw tie ratio and largest tie against the gap, and its distribution, with log-scaled cells.

    Panels show the range of cells that have lists.
    """
    figure = Figure.of_panels(1, 3, palette, column_widths=(0.4, 0.36, 0.24), horizontal_spacing=0.045)
    figure.style(474, t=60, l=48, r=24).set_layout(bargap=0.12, barmode="stack", showlegend=False)
    top = gap_axis_top(ratios.levels[-1])
    sides = (
        ("tie_ratio", f"| {measure} − tied {measure} |", ratios),
        ("max_tie_size", "", sizes._replace(edges=sizes.edges - 0.5)),
    )
    for col, (column, title, gap_cells) in enumerate(sides, 1):
        panel, used = GapPanel(figure, {"row": 1, "col": col}, top), np.flatnonzero(gap_cells.n_lists)
        drawn = gap_cells.select_places(slice(used[0], used[-1] + 1)) if len(used) else gap_cells
        counts = (drawn.high + drawn.low).T
        shade = np.log10(counts, where=counts > 0, out=np.full(counts.shape, np.nan))
        panel.draw_cells(column, title, (drawn.edges, drawn.levels), shade, (counts, drawn.none, drawn.n_lists))
        if len(used) > 1:
            mean = smooth_bins(drawn.edges, drawn.n_lists, drawn.sums, drawn.squares)
            panel.add_mean_band(mean)
            panel.add_mean_line(mean)
    figure.set_yaxes(showticklabels=False, col=2)
    figure.set_yaxes(range=[panel.below(2.1), top], col=3)
    lists = [ratios.high.sum(axis=0), ratios.low.sum(axis=0)]
    add_gap_distribution(figure, middles(ratios.levels), lists, 3)
    return figure


def tie_size_bars(counts: pd.DataFrame, palette: Palette) -> Figure:
    """Draw the number of ties by size, as `tie_size_counts` returns them."""
    is_single = counts["first"] == counts["last"]
    spans = counts["first"].map("{:,}".format) + " to " + counts["last"].map("{:,}".format)
    figure = Figure(palette).style(300, t=24, l=54)
    figure.draw_bars(
        x=counts["last"].map("{:,}".format).where(is_single, spans),
        y=counts["ties"],
        marker={"color": palette.tied},
        text=counts["ties"].map("{:,}".format),
        customdata=counts["documents"],
        hovertemplate="%{y:,} ties of %{x} documents: %{customdata:,} documents in total",
    )
    figure.set_yaxes(title_text="ties", nticks=5, tickformat="~s")
    return figure.set_xaxes(title_text="documents in the tie", type="category", showgrid=False)
