"""The section of the Guide on noise: one list with a tie, scored as noise grows."""

import streamlit as st

from dashboard import controls, visitor
from dashboard.charts.one_list import first_hit_bars, tie_ladder
from dashboard.views.lab.guide.layout import draw_cards, draw_folded, draw_head, draw_part
from dashboard.views.lab.guide.prose import read_parts
from dashboard.widgets.components import Card, cards, chart
from dashboard.widgets.figures import OF_NO_BOARD, kept_figure
from metrics.studies.guide.noise_example import noise_example

SIGMAS = ("0.001", "0.01", "0.05", "0.1", "0.2", "1", "100")
"""Standard deviations that are offered."""
_cached_example = st.cache_resource(show_spinner=False, max_entries=len(SIGMAS))(noise_example)


def noise() -> None:
    """Draw what noise means for ties, and an example that computes as it is changed."""
    idea, example_part, ladder_part, rank_part, sources, more = read_parts("noise")
    draw_head(idea)
    draw_cards(idea.cards, columns=3, width=240, icons=("ssid_chart", "functions", "join_inner"))
    draw_head(example_part)
    sigma = controls.segmented("Noise σ", SIGMAS, "sigma", "0.05")
    example = _cached_example(float(sigma))
    cards(
        Card("list", "MRR", f"{example.traditional:.4f}", "as the file lists the tie", "orange"),
        Card("circle", "MTRR", f"{example.tied:.4f}", "σ to nothing: the tied value", "blue"),
        Card("ssid_chart", "MRR under noise", f"{example.noisy:.4f}", f"σ = {sigma}", "blue"),
        Card("join_full", "MRR of one tie", f"{example.one_tie:.4f}", "σ without end"),
    )
    left, right = st.columns(2, gap="large")
    with left:
        draw_head(ladder_part)
        figure = kept_figure(OF_NO_BOARD, tie_ladder, example.documents, visitor.theme(), 1)
        chart(figure, "noise-ladder", "The list of the example.")
    with right:
        draw_head(rank_part)
        figure = kept_figure(OF_NO_BOARD, first_hit_bars, example.chances, visitor.theme(), None)
        chart(figure, "noise-ranks", "Chance of each rank of the relevant document under noise.")
    draw_part(sources)
    draw_folded(more)
