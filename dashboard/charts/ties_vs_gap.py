"""Charts of Ties vs gap: ties against gaps, distributions of gaps, tie sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dashboard.charts.figure import Figure, signed_ticks
from dashboard.charts.labels import hover_text, safe
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
    bottom: float = 0.0  # lower end of the y axis: 0 for absolute gaps, -top for signed ones

    def below(self, strips: float) -> float:
        """Return the y value `strips` strips below the gap axis."""
        return self.bottom - strips * _STRIP * (self.top - self.bottom)

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
        ticks: dict[str, Any] = {"nticks": 6, "tick0": 0}
        if self.bottom:
            zero = {"zeroline": True, "zerolinecolor": palette.other, "zerolinewidth": 1}
            ticks = signed_ticks(self.bottom, self.top, 8) | zero
        self.figure.set_yaxes(range=[self.below(2.1), self.top], title_text=title, **ticks, **self.place)
        place = {"x": 0, "xref": "x domain", "xanchor": "right", "xshift": -6}
        self.figure.write("no gap", **place, y=self.below(1.25), yref="y", **self.place)
        axis: dict[str, Any] = {"title_text": "tie ratio", "tickformat": "~%", "range": [-0.03, 1.03]}
        if column == "max_tie_size":
            axis = {"title_text": "largest tie, documents", "tickformat": "~s", "nticks": 8}
        self.figure.set_xaxes(showgrid=False, **axis, **self.place)

    def add_mean_band(self, trend: pd.DataFrame) -> None:
        """Add the 95% band of a local mean: x, low, high."""
        if len(trend):
            low = trend["low"].clip(lower=self.bottom)
            add_band(self.figure, trend["x"], low, trend["high"], UNCERTAIN, **self.place)

    def add_mean_line(self, trend: pd.DataFrame) -> None:
        """Add a local mean: x, mean."""
        if len(trend):
            line, hover = {"color": self.figure.palette.text, "width": 2.5}, "mean gap %{y:.4f}"
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


def gap_scatter(
    lists: pd.DataFrame, palette: Palette, measure: str, selected: int | None = None, *, is_signed: bool = False
) -> Figure:
    """Draw tie ratio against the gap of the first measure, and the distribution of gaps beside it.

    `lists` has tie_ratio, max_tie_size, first_gap, second_gap, reranker and query_id; a click returns its
    index. `selected` is the index of the list to mark.
    """
    figure = Figure.of_panels(1, 2, palette, column_widths=(0.76, 0.24), horizontal_spacing=0.03)
    figure.style(374, t=40, l=60, r=24).set_layout(bargap=0.12, barmode="stack", showlegend=False)
    heights = _heights(lists, is_signed=is_signed)
    title = _gap_title(measure, is_signed=is_signed)
    panel = _add_panel(
        figure, heights, "tie_ratio", "first_gap", title, selected, is_signed=is_signed, row=1, col=1
    )
    edges, gaps = _gap_edges(panel), lists["first_gap"]
    counts = [
        np.histogram(part if is_signed else part.abs(), edges)[0] for part in (gaps[gaps > 0], gaps[gaps < 0])
    ]
    add_gap_distribution(figure, middles(edges), counts, 2)
    return figure.set_yaxes(range=[panel.below(2.1), panel.top], col=2)


def gap_panels(
    lists: pd.DataFrame,
    palette: Palette,
    names: tuple[str, str],
    selected: int | None = None,
    *,
    is_signed: bool = False,
) -> Figure:
    """Draw largest tie against both gaps, tie ratio against the second, and one gap against the other."""
    figure = Figure.of_panels(2, 2, palette, horizontal_spacing=0.09, vertical_spacing=0.24)
    figure.style(450, t=22, l=60, r=24).set_layout(showlegend=False)
    heights = _heights(lists, is_signed=is_signed)
    titles = [f"{name} gap" if is_signed else f"|{name} gap|" for name in names]
    for row, col, x, y in (
        (1, 1, "max_tie_size", "first_gap"),
        (2, 1, "tie_ratio", "second_gap"),
        (2, 2, "max_tie_size", "second_gap"),
    ):
        title = titles[y == "second_gap"]
        _add_panel(figure, heights, x, y, title, selected, is_signed=is_signed, row=row, col=col)
    _add_other_gap(figure, heights, names, is_signed=is_signed)
    _add_ring(figure, heights, selected, "first_gap", "second_gap", row=1, col=2)
    return figure


def _gap_title(measure: str, *, is_signed: bool) -> str:
    title = f"{measure} − tied {measure}"
    return title if is_signed else f"| {title} |"


def _heights(lists: pd.DataFrame, *, is_signed: bool) -> pd.DataFrame:
    """Return lists with signed or absolute gaps."""
    columns = [name for name in ("first_gap", "second_gap") if name in lists]
    return lists if is_signed else lists.assign(**{name: lists[name].abs() for name in columns})


def _add_panel(
    figure: Figure,
    lists: pd.DataFrame,
    x: str,
    y: str,
    title: str,
    selected: int | None,
    *,
    is_signed: bool,
    **place: int,
) -> GapPanel:
    """Shade crowded cells, draw the other lists as dots, add the local mean, and mark the selected list."""
    top = gap_axis_top(lists[y].abs().max())
    panel = GapPanel(figure, place, top, -top if is_signed else 0.0)
    edges = np.linspace(0, 1, BINS + 1) if x == "tie_ratio" else _whole_edges(lists[x]), _gap_edges(panel)
    with_gap = lists[lists[y].abs() > 0]
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
    single = single.loc[single[y].abs().nlargest(DOTS).index]
    hover = f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>gap %{{y:.4f}}<br>{_TIES[x]}"
    _add_dots(figure, single, x, y, figure.palette.traditional, hover, **place)
    panel.add_mean_line(mean)
    _add_ring(figure, lists, selected, x, y, **place)
    return panel


def _gap_edges(panel: GapPanel) -> FloatArray:
    """Return cell edges along the gap axis, one at 0."""
    n_cells = BINS - 6
    return np.linspace(panel.bottom, panel.top, n_cells * (2 if panel.bottom else 1) + 1)


def _whole_edges(sizes: pd.Series) -> FloatArray:
    """Return the edges of at most `BINS` cells of equally many integers."""
    low, high = max(int(sizes.min()), 1), int(sizes.max())
    step = max(1, -(-(high - low + 1) // BINS))
    return np.arange(low - 0.5, high + step + 0.5, step)


def _add_dots(
    figure: Figure, lists: pd.DataFrame, x: str, y: str, colour: str | np.ndarray, hover: str, **place: int
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
        **place,
    )


def _add_ring(figure: Figure, lists: pd.DataFrame, selected: int | None, x: str, y: str, **place: int) -> None:
    """Mark the selected list and its query."""
    if selected not in lists.index:
        return
    ring, palette = lists.loc[selected], figure.palette
    marker = {"size": 13, "color": palette.tied, "line": {"color": palette.ground, "width": 2}}
    figure.draw_marks(x=[ring[x]], y=[ring[y]], marker=marker, **place)
    font = {"size": 13, "color": palette.tied}
    query = f"<b>{safe(str(ring['query_id']), 16)}</b>"
    figure.write(query, x=ring[x], y=ring[y], yshift=16, font=font, **place)


def _add_other_gap(figure: Figure, lists: pd.DataFrame, names: Sequence[str], *, is_signed: bool) -> None:
    """Add one gap against the other, and the diagonal."""
    columns, palette, place = ("first_gap", "second_gap"), figure.palette, {"row": 1, "col": 2}
    sizes = lists[list(columns)].abs()
    end = float(sizes.max().min())
    line = {"color": palette.other, "width": 1, "dash": "dot"}
    ends = [-end if is_signed else 0, end]
    figure.draw_line(x=ends, y=ends, line=line, **place)
    with_gap = lists[(sizes > 0).any(axis=1)]
    with_gap = first_dots(with_gap, {name: max(sizes[name].max(), EQUAL) / _PLACES for name in columns})
    with_gap = with_gap.loc[with_gap["first_gap"].abs().nlargest(DOTS).index]
    colour = np.where(with_gap["second_gap"].abs() > 0, palette.traditional, palette.other)
    hover = (
        f"<b>%{{customdata[2]}}</b> · %{{customdata[1]}}<br>{names[0]} gap %{{x:.4f}}"
        f"<br>{names[1]} gap %{{y:.4f}}"
    )
    _add_dots(figure, with_gap, "first_gap", "second_gap", colour, hover, **place)
    for set_axes, name, column in zip((figure.set_xaxes, figure.set_yaxes), names, columns, strict=True):
        top = gap_axis_top(sizes[column].max())
        look = signed_ticks(-top, top, 6) if is_signed else {"nticks": 6}
        ends = [-top if is_signed else -0.03 * top, top]
        set_axes(title_text=_gap_title(name, is_signed=is_signed), range=ends, **look, **place)


def gap_map(ratios: "GapCells", sizes: "GapCells", palette: Palette, measure: str) -> Figure:
    """Draw tie ratio and largest tie against the gap, and its distribution, with log-scaled cells.

    Panels show the range of cells that have lists.
    """
    figure = Figure.of_panels(1, 3, palette, column_widths=(0.4, 0.36, 0.24), horizontal_spacing=0.045)
    figure.style(454, t=40, l=48, r=24).set_layout(bargap=0.12, barmode="stack", showlegend=False)
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
