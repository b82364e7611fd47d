"""A section on how alike the lists of rerankers are."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.cache import ShownBoard
from dashboard.charts.deciding.pair_matrices import likeness_matrix, matrix_width
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import chart, heading, section_finding, table
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.page_body import section
from metrics.studies.leaderboard.ranks.similarity import Variant
from metrics.support.shown_columns import shown_columns

_MEANINGS: dict[str, Variant] = {"they are alike": "b", "nobody knows": "a", "they share a place": "w"}
"""What a tie may mean → variant of rank-biased overlap."""


@cached_by_key(show_spinner="Comparing lists …", max_entries=8)
def list_pairs(view: ShownBoard, rerankers: tuple[str, ...], variant: Variant) -> pd.DataFrame:
    """Return how alike the lists of each two rerankers are.

    Args:
        view: what is shown.
        rerankers: those compared.
        variant: what a tie means.
    """
    from metrics.studies.leaderboard.ranks.list_similarity import list_similarity  # noqa: PLC0415 when asked

    return list_similarity({name: view.ranking(name) for name in rerankers}, variant, queries=view.queries)


@section("Who copies whom")
def likeness_section(view: session.View, drawn_rerankers: pd.Index) -> None:
    """Draw how alike the lists of each two rerankers are, on average over queries."""
    from metrics.studies.leaderboard.ranks.list_similarity import (  # noqa: PLC0415 when asked for
        DEPTH,
        QUESTIONS,
        similarity_finding,
    )

    meaning = session.segmented("Tied documents", tuple(_MEANINGS), "tied")
    variant = _MEANINGS[meaning]
    heading(
        "How alike two lists are",
        f"Rank-biased overlap of the first {DEPTH} places, percent, mean over the queries both rank.",
    )
    rerankers = tuple(map(str, drawn_rerankers))
    pairs = list_pairs(view, rerankers, variant)
    section_finding(similarity_finding(pairs), view.rerankers)
    is_narrow = session.is_narrow()
    chart(
        kept_figure(view.board.key, likeness_matrix, pairs, rerankers, view.palette, is_narrow=is_narrow),
        "likeness",
        "How alike the lists of each two rerankers are.",
        wide=matrix_width(len(rerankers), is_narrow=is_narrow),
    )
    st.caption(QUESTIONS[variant])
    table(
        pairs,
        "Pairs, most alike first",
        "likeness",
        shown_columns(
            "reranker", ("other", "other_reranker"), ("similarity", "list_overlap"), "identical", "n"
        ),
    )
