"""Sections of the Significance page: which differences are larger than chance, and which the ties decide."""

from dataclasses import replace
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.deciding.finish import finish_heatmap
from dashboard.charts.deciding.forest import difference_forest
from dashboard.charts.deciding.pairs import order_matrix, verdict_matrix
from dashboard.escaping import escape_markdown
from dashboard.session import View
from dashboard.widgets.components import MOST_ROWS, chart, heading, number, section_finding, share, table
from metrics import Evaluation
from metrics.studies.leaderboard.leaderboard import leaderboard
from metrics.studies.significance.query_differences import query_differences
from metrics.studies.significance.significance import Verdicts
from metrics.studies.significance.test_registry import find_correction, find_test, is_significant
from metrics.studies.tie_breaking.order_stability import OrderStability
from metrics.studies.tie_breaking.stability import stability_finding
from metrics.studies.tie_breaking.variance import variance_split

MOST = 30
"""Rerankers that are compared pair by pair."""
STARS = "*** p < 0.001, ** p < 0.01, * p < 0.05, ns not significant."


def differences(view: View, found: Verdicts, measure: str) -> None:
    """The forest of differences from the baseline."""
    baseline = str(found.tied["baseline"].iloc[0])
    heading(
        f"Difference from {escape_markdown(baseline)}",
        f"Mean difference with its {found.level:.0%} interval. Right: adjusted verdicts, traditional, tied.",
    )
    chart(
        difference_forest(found.best_first(), view.palette, measure),
        "forest",
        f"{measure} difference of each reranker from {baseline}, by tied and by traditional values.",
        wide=620,
    )


def order_under_ties(view: View, chances: OrderStability) -> None:
    """How likely each reranker is above each other when ties are broken at random."""
    heading(
        "P(row above column | ties)", "Percent of tie-breakings in which the row comes out above the column."
    )
    order = list(chances.bounds.sort_values("expected", ascending=False, kind="stable").index)
    alt = "Chance of each reranker to come out above each other when ties are broken at random."
    chart(order_matrix(chances.pairs, order, view.palette), "above", alt, wide=360)
    st.caption("Orange: fragile, near 50 percent. Grey: no order of the ties reverses it.")


def where_they_finish(view: View, chances: OrderStability, measure: str, name: str) -> None:
    """The chance of each place, and every place the ties allow."""
    heading(
        "Where each reranker can finish",
        f"Shade: chance of that place. Outline: every place the ties allow. Diamond: place by {name}.",
    )
    order = chances.bounds.sort_values("expected", ascending=False, kind="stable").index
    board = leaderboard(view.evaluation, measure, view.traditional).loc[order]
    ranks = board["traditional_rank"].astype(int).tolist()
    chart(
        finish_heatmap(chances.ranks.loc[order], chances.bounds.loc[order], ranks, view.palette),
        "finishes",
        "Chance of each reranker to finish at each place when ties are broken at random.",
        wide=560,
    )


def every_pair(view: View, pairs: Verdicts, chances: OrderStability, correction: str) -> None:
    """Which of all pairs differ, by which value."""
    how = find_correction(correction)
    corrected = "uncorrected" if how.method is None else f"after {how.label}"
    told = f"Significant at {1 - pairs.level:.0%} {corrected} over {len(pairs.tied):,} pairs, by which value."
    heading("All pairs", told)
    order = list(chances.bounds.sort_values("expected", ascending=False, kind="stable").index)
    tied, before = (
        pd.Series(is_significant(rows["p_adjusted"].to_numpy(), pairs.level))
        for rows in (pairs.tied, pairs.traditional)
    )
    figure = verdict_matrix(tied, before, pairs.tied, order, view.palette)
    chart(figure, "all-pairs", "Which pairs of rerankers differ significantly, by which value.", wide=360)


def stability(chances: OrderStability, name: str) -> None:
    """Which order hangs most on the ties."""
    section_finding(stability_finding(chances.pairs, chances.bounds, chances.tau, name))


def results(found: Verdicts, lists: Evaluation, measure: str, test: str, correction: str) -> None:
    """Every comparison as a table."""
    found = found.best_first()
    tied, before = found.tied, found.traditional
    baseline = str(tied["baseline"].iloc[0])
    split = variance_split(lists, measure, baseline)["share_ties"]
    rows = pd.DataFrame(
        {
            "reranker": tied["reranker"],
            "n": tied["n"],
            **{f"traditional_{name}": before[name] for name in ("difference", "p_adjusted", "stars")},
            **{name: tied[name] for name in ("difference", "low", "high", "p", "p_adjusted", "stars")},
            "changed": found.changed,
            **{name: tied[name] for name in ("dz", "superiority", "won", "equal", "lost", "note")},
            "share_ties": 100 * split.reindex(tied["reranker"]).to_numpy(),
        }
    )
    asked, how = find_test(test), find_correction(correction)
    corrected = (
        "" if asked.simultaneous or how.method is None else f", {how.label} over {len(rows)} comparisons"
    )
    table(
        rows,
        f"Results against {escape_markdown(baseline)}",
        "significance",
        {
            "reranker": st.column_config.TextColumn("Reranker"),
            "traditional_difference": number("Traditional", "%+.4f"),
            "traditional_p_adjusted": number("p adj.", "%.3g"),
            "traditional_stars": st.column_config.TextColumn("", width=44),
            "difference": number("Tied", "%+.4f"),
            "low": number("from", "%+.4f"),
            "high": number("to", "%+.4f"),
            "p_adjusted": number("p adj.", "%.3g"),
            "stars": st.column_config.TextColumn("", width=44),
            "changed": st.column_config.CheckboxColumn(
                "Changes", help="The verdict rests on the order of ties."
            ),
            "dz": number("Effect d", "%+.2f", "Mean difference over its standard deviation (Cohen's dz)."),
            "superiority": number(
                "P(wins)", "%.2f", "Chance to beat the baseline on a query, equal ones half."
            ),
            "won": number("Won", "%d"),
            "equal": number("Equal", "%d"),
            "lost": number("Lost", "%d"),
            "n": number("Queries", "%d"),
            "share_ties": share(
                "Ties", "Share of the difference's variance that is ties; the rest is queries."
            ),
            "note": st.column_config.TextColumn("Note"),
        },
    )
    st.caption(
        f"{asked.label[0].upper()}{asked.label[1:]}{corrected}. {asked.summary} {STARS}".replace("*", r"\*")
    )


def farthest_queries(view: View, measure: str, baseline: str) -> None:
    """The queries behind a comparison, each a link to both lists side by side."""
    heading(
        "Queries behind a difference",
        "Those whose difference the order of ties moves most, or those that differ most once it is averaged.",
    )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        others = [name for name in view.rerankers if name != baseline]
        other = session.select("Compared with the baseline", others, "compared", width=240)
        by = session.segmented("Farthest by", ("ties", "difference"), "farthest")
    rows = query_differences(
        view.evaluation,
        measure,
        other,
        baseline,
        view.traditional,
        sort_by="moved" if by == "ties" else "difference",
    )
    lists = [
        session.list_link_parameters(other, query) | {"beside": baseline}
        for query in rows["query_id"].head(MOST_ROWS)
    ]
    rows["open"] = pd.Series([f"/query?{urlencode(link)}" for link in lists], dtype="str")
    table(
        rows,
        "Query by query",
        "queries",
        {
            "query_id": st.column_config.TextColumn("Query"),
            "open": st.column_config.LinkColumn("Lists", display_text="Open both", width="small"),
            "difference_before": number("Traditional difference", "%+.4f"),
            "difference": number("Tied difference", "%+.4f"),
            "moved": number("Moved by ties", "%+.4f", "Traditional minus tied difference."),
            "a": number(other, "%.4f", "Tied value."),
            "b": number(baseline, "%.4f", "Tied value."),
            "a_before": number(f"{other}, traditional"),
            "b_before": number(f"{baseline}, traditional"),
        },
        download=rows.drop(columns="open"),
    )


def leading(view: View, measure: str) -> View:
    """The view of the best rerankers, as many as every pair of them can be drawn."""
    means = view.evaluation.scores[measure, "expected"].groupby(level="reranker").mean()
    best = set(means.nlargest(MOST).index)
    names = [name for name in view.rerankers if name in best]
    if len(names) == len(view.rerankers):
        return view
    st.caption(f"Pairs and places are those of the {MOST} best of {len(view.rerankers)} by tied mean.")
    return replace(view, rerankers=names, evaluation=view.evaluation.only(names))
