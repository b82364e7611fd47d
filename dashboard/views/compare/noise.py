"""Compare → Noise: show how noise in the scores and near ties change scores and order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.cache import ShownBoard, board_turn
from dashboard.charts.noise import NoiseTables, near_tie_panels, noise_lines
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import chart, heading, section, section_finding, table
from dashboard.widgets.figures import kept_figure
from metrics import parse
from metrics.errors import UsageError
from metrics.runs import Runs
from metrics.studies import noise as noise_study
from metrics.studies.tie_rules import own_rule_note
from metrics.support.shown_columns import shown_columns

MOST = 12
"""Rerankers drawn at most: more lines cannot be told apart."""
_LOSS = 0.01
_NEAR, _FAR = 0.01, 0.1
"""Levels of noise whose values stand in the table."""
_CELLS = 12_000_000
"""Rows × levels × draws scored for the chance that the order holds."""
_MIN_DRAWS, _MAX_DRAWS = 10, 40
"""Draws of an order."""


@cached_by_key(show_spinner="Adding noise …", max_entries=16)
def shown_noise(view: ShownBoard, measure: str) -> tuple[NoiseTables, int]:
    """Return the effect of noise on the lists shown, with means by every tie order, and the number of draws.

    Chances and standard deviations have every second level. UsageError if it would take too long.
    """
    runs = view.runs
    n_rows = _n_rows(runs)
    levels = noise_study.noise_levels(n_rows)
    drawn_levels = levels[::2]
    n_draws = int(min(max(_CELLS // (len(drawn_levels) * max(n_rows, 1)), _MIN_DRAWS), _MAX_DRAWS))
    with board_turn(view.board):
        means = noise_study.noise_curves(runs, measure, levels, view.scoring, view.queries)
        draws = noise_study.drawn_means(runs, measure, drawn_levels, n_draws, view.scoring, view.queries)
        own = noise_study.own_noise(runs, measure, view.scoring, view.queries)
    index = pd.Index(drawn_levels, name="noise")
    return NoiseTables(
        curves=means,
        edge=view.evaluation.means(measure),
        trades=noise_study.trades(means),
        chances=noise_study.order_chances(draws, means.iloc[0].to_numpy()).set_axis(index),
        deviations=pd.DataFrame(draws.std(axis=1, ddof=1), index, means.columns),
        formats=noise_study.format_noise(runs),
        own=own,
    ), n_draws


@cached_by_key(show_spinner="Tying near scores …", max_entries=16)
def shown_near_ties(view: ShownBoard, measure: str) -> noise_study.NearTieCurves:
    """Return the effect of near ties on the lists shown."""
    runs = view.runs
    with board_turn(view.board):
        return noise_study.near_tie_curves(
            runs, measure, noise_study.near_distances(_n_rows(runs)), view.scoring, view.queries
        )


def best_rerankers(view: View, measure: str, most: int) -> View:
    """Return the view of the best scored rerankers by tied score, best first, and mention the selection."""
    means = view.evaluation.means(measure)["expected"].sort_values(ascending=False, kind="stable").dropna()
    if len(means) > most:
        st.caption(f"The best {most} of {len(view.rerankers):,} rerankers by tied mean.")
    names = [str(name) for name in means.index[:most]] or view.rerankers
    return replace(view, rerankers=names, evaluation=view.evaluation.only(names))


@section("Noise in the scores")
def noise_section(view: View, measure: str) -> None:
    """Draw the effect of noise and near ties, or explain why there is none."""
    if note := own_rule_note(measure):
        section_finding(note)
        st.info(f"Noise leaves no ties, so the tie rule of {measure} never applies. Choose another measure.")
    elif view.scoring.criteria:
        st.info("Noise applies only to the score. Under Settings → Ranked by, choose the score alone.")
    elif columns := view.scoring.tiebreak_by:
        names = escape_markdown(", ".join(columns))
        st.info(f"Noise leaves no ties, so {names} cannot break any. Remove these columns under Settings.")
    else:
        _noise_and_near_ties(best_rerankers(view, measure, MOST), measure)


def _noise_and_near_ties(view: View, measure: str) -> None:
    try:
        noise, n_draws = shown_noise(view, measure)
    except UsageError as error:
        st.warning(escape_markdown(str(error)))
        _near_ties(view, measure)
        return
    name = parse(measure)
    even = noise_study.even_point(noise.chances.index.to_numpy(), noise.chances["whole"].to_numpy())
    own_finding = noise_study.own_noise_sentence(noise.own, noise.curves.iloc[0], name.traditional)
    section_finding(
        (*noise_study.robustness_finding(noise.curves, name.tied, even), *own_finding), view.rerankers
    )
    heading(
        "Value as noise grows",
        "Line: exact mean over all orders, each weighted by its probability under the noise; without noise, "
        f"the tied score. Band: one standard deviation above and below, over {n_draws} random draws of noise."
        + " Below: chance that the order of all rerankers holds." * (len(noise.curves.columns) > 1)
        + " Orange: first to third quartile of the column score_std." * (not noise.own.empty),
    )
    orders = {"traditional": view.traditional, "worst": "pessimistic", "best": "optimistic"}
    tables = replace(noise, edge=noise.edge[list(orders.values())].set_axis(list(orders), axis=1))
    colours = {name: view.colour(name) for name in noise.curves.columns}
    figure = kept_figure(noise_lines, tables, view.palette, colours, name.traditional)
    alt = f"{name.traditional} of each reranker as noise grows, and the chance that the order holds."
    chart(figure, "noise", alt, wide=640)
    _near_ties(view, measure)
    _draw_table(view, measure, noise)


def _draw_table(view: View, measure: str, noise: NoiseTables) -> None:
    curves, means, names = noise.curves, noise.edge, list(noise.curves.columns)
    parts = [noise.trades.groupby(column)["noise"].min() for column in ("before", "after")]
    rows = pd.DataFrame(
        {
            "tied": curves.iloc[0],
            "traditional": means.loc[names, view.traditional],
            "near_noise": curves.loc[_level(curves, _NEAR)],
            "far_noise": curves.loc[_level(curves, _FAR)],
            **({} if noise.own.empty else {"own_noise": noise.own["value"].reindex(names)}),
            "noise_of_loss": noise_study.noise_losing(curves, _LOSS),
            "first_trade": pd.concat(parts, axis=1).min(axis=1).reindex(names),
            "tie_ratio": view.evaluation.lists["tie_ratio"].groupby(level="reranker").mean().reindex(names),
        }
    )
    measure_at = parse(measure)
    columns = shown_columns("reranker", *rows.columns, tied=measure_at.tied, traditional=measure_at.traditional)
    title = "All rerankers" if len(names) == len(means) else f"The best {MOST} rerankers"
    table(rows.rename_axis("reranker").reset_index(), title, "robustness", columns)


def _level(curves: pd.DataFrame, noise: float) -> float:
    """Return the level of noise nearest to the given one."""
    levels = curves.index.to_numpy()[1:]
    return float(levels[np.abs(np.log(levels / noise)).argmin()])


@section("Near ties")
def _near_ties(view: View, measure: str) -> None:
    tied = parse(measure).tied
    heading(
        "Near ties",
        "Groups form from the top down. A score ties with a group if it is at most ε below the group's highest "
        "score (within:ε in Settings). The panels show the tie ratio and the change of the tied score.",
    )
    curves = shown_near_ties(view, measure)
    section_finding(noise_study.near_tie_finding(curves, tied), view.rerankers)
    colours = {name: view.colour(name) for name in view.rerankers}
    figure = kept_figure(near_tie_panels, *curves, view.palette, colours, tied)
    alt = f"Tie ratio and change of {tied} for each reranker as ε grows."
    chart(figure, "near-ties", alt, wide=640)


def _n_rows(runs: Runs) -> int:
    return sum(len(table) for table in runs.tables.values())
