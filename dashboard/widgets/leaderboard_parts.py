"""The charts and the table of a leaderboard, for several pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

import pandas as pd
import streamlit as st

from dashboard.cache import ShownBoard, cached, drawn, pair_verdicts, segments
from dashboard.charts import leaderboard as charts
from dashboard.charts.labels import shared_parts, short_names
from dashboard.charts.palette import Palette, faded
from dashboard.charts.rerankers import MOST_SEGMENTS, segment_heatmap
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.visitor import is_narrow
from dashboard.widgets.columns import Columns, badge_column
from dashboard.widgets.components import chart, heading, section, table
from metrics import parse
from metrics.measures import MeasureAt
from metrics.studies import swapped_orders as study
from metrics.studies.draws import same_runs
from metrics.studies.leaderboard import VERDICTS, leaderboard, segment_table, share_text
from metrics.studies.measure_table import Cell
from metrics.studies.prose import Prose
from metrics.studies.verdict_sentence import leaderboard_verdict
from metrics.support.escaping import html
from metrics.support.shown_columns import shown_columns
from metrics.ties import Treatment

_COLOURS = ("green", "yellow", "orange", "blue", "gray")
"""Colours of `VERDICTS`."""
_SHADE = 0.22
"""Opacity of the shade behind the best mean of a column."""
_LEAST_RANGE = 4
"""Letters in sequence that are written as a range."""
TABLE = 236
"""Pixels of a long table, whose rows the chart above shows too."""
_MAX_NAMED = 5
"""Rerankers without a list named at most."""


def swapped_orders(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the pairs of rerankers that swap once ties are averaged."""
    pairs = pair_verdicts(view, measure, traditional).tied
    return study.swapped_orders(view.evaluation, measure, traditional, pairs=pairs)


@cached(max_entries=24)
def verdict_prose(view: ShownBoard, measure: str, traditional: str) -> Prose:
    """Return the verdict on the leader, tie order and chance."""
    rows = view.study(leaderboard, measure, traditional)
    swaps, pairs = swapped_orders(view, measure, traditional), pair_verdicts(view, measure, traditional)
    copies = same_runs(view.board.runs, view.evaluation, measure)
    return leaderboard_verdict(rows, swaps, pairs, view.evaluation, measure, copies)


def charted_rerankers(leaderboard: pd.DataFrame, max_rows: int | None = None) -> pd.DataFrame:
    """Return the rerankers that charts show, and name the missing ones on the page."""
    drawable = charts.drawable_rerankers(leaderboard)
    missing = leaderboard.index.difference(drawable.index, sort=False)
    if len(missing):
        labels = short_names(map(str, leaderboard.index))
        names = ", ".join(escape_markdown(labels[str(name)]) for name in missing[:_MAX_NAMED])
        hidden = f" and {len(missing) - _MAX_NAMED:,} more" * (len(missing) > _MAX_NAMED)
        st.caption(f"Not in the charts, because they have no scored list: {names}{hidden}.")
    if max_rows is not None and len(drawable) > max_rows:
        st.caption(
            f"Charts show the first {max_rows} of {len(drawable):,} rerankers; "
            f"{len(drawable) - max_rows:,} are left out. The table shows all rerankers."
        )
    return drawable.head(max_rows) if max_rows is not None else drawable


@section("The charts of the leaderboard")
def leaderboard_charts(
    leaderboard: pd.DataFrame,
    palette: Palette,
    measure: MeasureAt,
    drawn_rerankers: pd.Index | None = None,
    order: str = "traditional",
) -> None:
    """Draw the leaderboard as one figure; on a phone, names above bars. `order` is what ranked before ties."""
    if not len(leaderboard):
        return
    names = None if drawn_rerankers is None else list(drawn_rerankers)
    if is_narrow():
        rows = leaderboard if names is None else leaderboard.loc[names]
        figure = drawn(charts.score_bounds, rows, palette, measure.traditional)
        alt = f"Worst, best, tied and traditional {measure.traditional} of each reranker."
        chart(figure, "place-and-score", alt)
    else:
        labels = (measure.tied, measure.traditional if order == "traditional" else order)
        chart(
            drawn(charts.leaderboard_figure, leaderboard, palette, labels, names, order),
            "place-and-score",
            f"Rank interval, {measure.tied} with its intervals, {labels[1]} score, gap and tie ratio of "
            "each reranker, and how its rank changes when ties are averaged.",
            wide=charts.LEAST_WIDTH,
        )
    if shared := shared_text(leaderboard):
        st.caption(shared)


def shared_text(leaderboard: pd.DataFrame) -> str:
    """Return a sentence with the parts of long names that pages leave out; empty for none."""
    parts = " and ".join(f"“{escape_markdown(part)}”" for part in shared_parts(map(str, leaderboard.index)))
    return f"Names leave out {parts}." if parts else ""


def measures_html(
    heads: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    whole_names: Sequence[str],
    n_pinned: int,
    palette: Palette,
) -> str:
    """Return a table of measures in HTML: letters raised, the best bold, columns shaded, intervals on hover.

    Four or more letters in sequence are written as their first and last: `a–f`.
    """
    columns = "".join(f'<th scope="col">{html(head)}</th>' for head in heads)
    letters = [[_letter_ranges(cell.letters) for cell in cells] for _, *cells in rows]
    widths = [max(map(len, column)) for column in zip(*letters, strict=True)]
    lines = []
    for number, (name, (label, *cells)) in enumerate(zip(whole_names, rows, strict=True)):
        line = f'<th scope="row" title="{html(name)}">{html(label.text)}</th>'
        for cell, text_raised, width in zip(cells, letters[number], widths, strict=True):
            text = f"<b>{html(cell.text)}</b>" if cell.is_best else html(cell.text)
            look = f"background: {faded(palette.tied, round(_SHADE * cell.height, 3))}" if cell.height else ""
            raised = f'<sup style="width: {width}ch">{text_raised}</sup>' if width else ""
            note = f"95% over queries {cell.interval} (Student's t)" if cell.interval else ""
            line += f'<td style="{look}" title="{html(note)}">{text}{raised}</td>'
        lines.append(f'<tr class="{"pinned" * (number == n_pinned - 1)}">{line}</tr>')
    table = f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="measures" role="region" aria-label="All measures" tabindex="0">{table}</div>'


def _letter_ranges(letters: str) -> str:
    steps = groupby(enumerate(letters), lambda place: ord(place[1]) - place[0])
    runs = ["".join(letter for _, letter in run) for _, run in steps]
    return "".join(run if len(run) < _LEAST_RANGE else f"{run[0]}–{run[-1]}" for run in runs)


@cached(max_entries=16)
def segment_gaps(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the gap of each shown reranker in each query group."""
    return segment_table(view.evaluation.only(view.rerankers), segments(view.board), measure, traditional)


@section("Gap by query group")
def segment_chart(
    view: View, rows: pd.DataFrame, measure: str, drawn_rerankers: Iterable[str], key: str
) -> None:
    """Draw the mean gap of rerankers in each query group."""
    title, n_groups = parse(measure).traditional, rows["segment"].nunique()
    first = f" The {MOST_SEGMENTS} largest of {n_groups:,} groups." * (n_groups > MOST_SEGMENTS)
    heading("Gap by query group", f"Mean {title} gap. Orange: traditional too high; blue: too low.{first}")
    drawn_rows = pd.concat([rows[rows["reranker"] == name] for name in drawn_rerankers])
    alt = f"Mean {title} gap of each reranker in each query group."
    chart(drawn(segment_heatmap, drawn_rows, view.palette, title), key, alt, wide=560)


@section("The table of the leaderboard")
def leaderboard_table(
    leaderboard: pd.DataFrame,
    measure: MeasureAt,
    traditional: Treatment,
    file: str,
    extra_columns: Columns | None = None,
    drawn_rerankers: pd.Index | None = None,
    download: Callable[[], pd.DataFrame] | None = None,
) -> None:
    """Show rerankers with tied and traditional scores, and a download."""
    words = {"tied": measure.tied, "traditional": "Traditional", "order": traditional.order}
    names = short_names(map(str, leaderboard.index))
    rows, words_of = drawn(
        _written_rows, leaderboard if drawn_rerankers is None else leaderboard.loc[drawn_rerankers], names
    )
    is_long = not rows["name"].equals(rows["reranker"])
    first = ["tied_rank", "reranker", "tied", "query_interval", "traditional", "gap"]
    columns = {
        **shown_columns(*(name for name in first if name in rows), **words),
        "verdict": badge_column("Verdict", VERDICTS, _COLOURS, words_of),
        **shown_columns("bounds", "tie_ratio", "why", *["name"] * is_long, **words),
        **(extra_columns or {}),
    }
    table(rows, "All rerankers", file, columns, download or leaderboard.reset_index, height=TABLE)


def _written_rows(leaderboard: pd.DataFrame, names: Mapping[str, str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the rows of the table, and the text of each verdict, as `tie-inflated 12%` → the verdict."""
    rows = leaderboard.reset_index()
    for name, (low, high) in {
        "bounds": ("worst", "best"),
        "query_interval": ("query_low", "query_high"),
    }.items():
        if low in rows:
            ends = rows[[low, high]].to_numpy()
            rows[name] = [f"{start:.3f} – {end:.3f}" if pd.notna(start) else "–" for start, end in ends]
    verdicts = zip(rows["verdict"], rows["size"], strict=True)
    texts = [f"{word} {share_text(size)}" if size > 0 else word or "" for word, size in verdicts]
    words_of = {text: word for text, word in zip(texts, rows["verdict"], strict=True) if word}
    rows["verdict"] = [[text] if text else [] for text in texts]
    rows["name"], rows["reranker"] = rows["reranker"], rows["reranker"].astype(str).map(names)
    return rows, words_of
