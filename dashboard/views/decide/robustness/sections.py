"""Parts of the page Robustness: cards, the chart of curves, and the table of all rerankers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts.deciding.noise_lines import NoiseTables, noise_lines
from dashboard.charts.labels import CARD_COLUMNS, short_names
from dashboard.escaping import escape_markdown
from dashboard.session import View
from dashboard.views.decide.robustness.cached import NoiseCurves, shown_noise
from dashboard.views.decide.robustness.near_ties import near_tie_section
from dashboard.widgets.components import Card, cards, chart, finding, heading, table
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.errors import UsageError
from metrics.studies.robustness.noise_curves import LEVEL, even_point, lead_ends, noise_losing, trades
from metrics.studies.robustness.own_noise import own_noise_sentence
from metrics.studies.robustness.robustness_finding import largest_loss, robustness_finding, written_noise
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of

MOST = 12
"""Rerankers whose curves are drawn: more lines cannot be told apart."""
_LOSS = 0.01
_NEAR, _FAR = 0.01, 0.1
"""Noise at which values stand in the table, nearest levels."""
_LARGEST = 1.0
"""Noise at which the loss of one reranker alone is told, too."""


def best_rerankers(view: View, measure: str) -> View:
    """Return the view of the rerankers with the highest tied values, the best first; say so of few of many."""
    means = view.evaluation.means(measure)["expected"].sort_values(ascending=False, kind="stable")
    if len(means) > MOST:
        st.caption(f"The best {MOST} of {len(means):,} rerankers.")
    return replace(view, rerankers=[str(name) for name in means.index[:MOST]])


@section("Noise in the scores")
def noise_sections(view: View, measure: str) -> None:
    """Draw what noise and near ties do to rerankers; near ties alone where noise would take too long."""
    try:
        curves = shown_noise(view, measure)
    except UsageError as error:
        st.warning(escape_markdown(str(error)))
        near_tie_section(view, measure)
        return
    crossings = trades(curves.means)
    even = even_point(curves.chances.index.to_numpy(), curves.chances["whole"].to_numpy())
    tied = parse(measure).tied
    own_finding = own_noise_sentence(curves.own, curves.means.iloc[0], parse(measure).traditional)
    finding((*robustness_finding(curves.means, tied, even), *own_finding), view.rerankers)
    robustness_cards(curves, crossings, even)
    _draw_curves(view, measure, curves, crossings)
    near_tie_section(view, measure)
    _draw_table(view, measure, curves, crossings)


def robustness_cards(curves: NoiseCurves, crossings: pd.DataFrame, even: float | None) -> None:
    """Draw the noise that changes the leader and the order, what is lost most, and how many pairs trade places.

    Args:
        curves: of the rerankers drawn.
        crossings: of `trades`.
        even: of `even_point`.
    """
    means = curves.means
    names = short_names([str(name) for name in means.columns], CARD_COLUMNS)
    if len(means.columns) == 1:
        _cards_of_one(means, next(iter(names.values())))
        return
    largest = written_noise(means.index[-1])
    ends = lead_ends(means)
    is_level = (means.iloc[0] >= means.iloc[0].max() - LEVEL).sum() > 1
    change, note = "–", "level without noise" if is_level else f"not up to σ = {largest}"
    if ends is not None and not is_level:
        change, note = f"σ = {written_noise(ends[0])}", names[ends[1]]
    smallest = curves.chances.index[0]
    sign = "<" if even == smallest else "="
    half = f"σ > {largest}" if even is None else f"σ {sign} {written_noise(even)}"
    loss, loser = largest_loss(means, _level(means, _FAR))
    n_pairs = len(set(map(frozenset, crossings[["before", "after"]].to_numpy())))
    cards(
        Card("swap_vert", "Leader changes at", change, note),
        Card("list", "Order even at", half, f"{curves.n_draws} draws"),
        Card(
            "trending_down",
            f"Most lost at σ = {written_noise(_FAR)}",
            loss,
            names.get(loser, loser),
            "orange" if loser in names else "gray",
        ),
        Card("close", "Places traded", count_of(n_pairs, "pair"), f"by σ = {largest}"),
    )


def _cards_of_one(means: pd.DataFrame, name: str) -> None:
    """Draw what one reranker loses under several sizes of noise, and when it has lost .01."""
    noise_of_loss = noise_losing(means, _LOSS).iloc[0]
    cards(
        *(
            Card(
                "trending_down",
                f"Most lost at σ = {written_noise(noise)}",
                largest_loss(means, _level(means, noise))[0],
                name,
            )
            for noise in (_NEAR, _FAR, _LARGEST)
        ),
        Card(
            "south",
            "Loses .01 at",
            "–" if np.isnan(noise_of_loss) else f"σ = {written_noise(noise_of_loss)}",
            name,
        ),
    )


def _draw_curves(view: View, measure: str, curves: NoiseCurves, crossings: pd.DataFrame) -> None:
    """Draw the values as noise grows, over the chance that the order holds; marks where two trade places."""
    heading(
        "Value as noise grows",
        "Lines: the exact mean over every order that noise makes possible; they start at the tied value. "
        f"Bands: one standard deviation of {curves.n_draws} draws."
        + " Below: how often they keep the order." * (len(curves.means.columns) > 1)
        + " Orange: score_std, quartile to quartile." * (not curves.own.empty),
    )
    orders = {"traditional": view.traditional, "worst": "pessimistic", "best": "optimistic"}
    edge = view.evaluation.means(measure)[list(orders.values())].set_axis(list(orders), axis=1)
    colours = {name: view.colour(name) for name in curves.means.columns}
    title = parse(measure).traditional
    tables = NoiseTables(curves.means, edge, crossings, *curves[1:4], curves.own)
    figure = kept_figure(view.board.key, noise_lines, tables, view.palette, colours, title)
    alt = f"{title} of each reranker as noise of its scores grows, and the chance that the order holds."
    chart(figure, "noise", alt, wide=640)


def _draw_table(view: View, measure: str, noise: NoiseCurves, crossings: pd.DataFrame) -> None:
    """Draw what each reranker's value is under noise, and how much it takes to change its place."""
    curves = noise.means
    means, names = view.evaluation.means(measure), list(curves.columns)
    parts = [crossings.groupby(column)["noise"].min() for column in ("before", "after")]
    rows = pd.DataFrame(
        {
            "tied": curves.iloc[0],
            "traditional": means.loc[names, view.traditional],
            "near_noise": curves.loc[_level(curves, _NEAR)],
            "far_noise": curves.loc[_level(curves, _FAR)],
            **({} if noise.own.empty else {"own_noise": noise.own["value"].reindex(names)}),
            "noise_of_loss": noise_losing(curves, _LOSS),
            "first_trade": pd.concat(parts, axis=1).min(axis=1).reindex(names),
            "tie_ratio": view.evaluation.lists["tie_ratio"].groupby(level="reranker").mean().reindex(names),
        }
    )
    measure_at = parse(measure)
    columns = shown_columns(
        "reranker",
        *rows.columns,
        tied=measure_at.tied,
        traditional=measure_at.traditional,
    )
    title = "All rerankers" if len(names) == len(means) else f"The best {MOST} rerankers"
    table(rows.rename_axis("reranker").reset_index(), title, "robustness", columns)


def _level(curves: pd.DataFrame, noise: float) -> float:
    """Return the level of noise nearest to one."""
    levels = curves.index.to_numpy()[1:]
    return float(levels[np.abs(np.log(levels / noise)).argmin()])
