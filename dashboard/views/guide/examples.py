"""The examples of the Guide that compute: a list with a tie, scored as it is changed and as noise grows."""

import math

import streamlit as st

from dashboard import controls, visitor
from dashboard.charts.one_list import first_hit_bars, tie_ladder
from dashboard.controls import number_input
from dashboard.escaping import escape_markdown
from dashboard.views.guide.prose import ProsePart, read_parts
from dashboard.views.guide.topics import draw_cards, draw_head, fold_parts
from dashboard.widgets.components import Card, cards, chart, finding
from dashboard.widgets.figures import OF_NO_BOARD, kept_figure
from dashboard.widgets.list_panel import orderings_text
from metrics.studies.guide import WorkedExample, filled_formulas, noise_example, worked_example, worked_finding

MOST_TIED = 30
MOST_ABOVE = 20
SIGMAS = ("0.001", "0.01", "0.05", "0.1", "0.2", "1", "100")
"""Standard deviations that are offered."""
_ICONS = ("join_inner", "casino", "straighten")
_cached_example = st.cache_resource(show_spinner=False, max_entries=16)(worked_example)
_cached_noise = st.cache_resource(show_spinner=False, max_entries=len(SIGMAS))(noise_example)


def one_minute() -> None:
    """Draw the idea, and an example that computes as it is changed."""
    idea, example_part, ladder_part, first_hit_part, formulas_part = read_parts("one_minute")
    draw_head(idea)
    draw_cards(idea.cards, columns=3, width=240, icons=_ICONS)
    draw_head(example_part)
    example = _choose_example()
    orders = orderings_text(math.log10(example.orderings), example.orderings)
    finding(worked_finding(example, orders))
    mean = f"mean of {orders} orders" if example.orderings > 1 else "the only order"
    cards(
        Card("circle", "MTRR", f"{example.expected:.4f}", mean, "blue"),
        Card("arrow_downward", "Worst order", f"{example.worst:.4f}", "relevant documents last"),
        Card("arrow_upward", "Best order", f"{example.best:.4f}", "relevant documents first"),
        Card("target", f"TMHits@{example.k}", f"{example.hits:.4f}", f"a hit in the top {example.k}", "blue"),
    )
    _draw_answers(example)
    left, right = st.columns(2, gap="large")
    with left:
        draw_head(ladder_part)
        figure = kept_figure(OF_NO_BOARD, tie_ladder, example.documents, visitor.theme(), example.k)
        chart(figure, "guide-ladder", "The list of the example.")
    with right:
        draw_head(first_hit_part)
        figure = kept_figure(OF_NO_BOARD, first_hit_bars, example.chances, visitor.theme(), None)
        chart(figure, "guide-first-hit", "Chance of each rank of the first relevant document.")
    _draw_formulas(formulas_part, example)


def _choose_example() -> WorkedExample:
    grid = st.grid(4, min_column_width=150)
    with grid.cell():
        tied = number_input("Documents in the tie", 1, MOST_TIED, 5, "tied")
    with grid.cell():
        relevant = number_input("Of them relevant", 1, tied, 1, "relevant")
    with grid.cell():
        above = number_input("Documents above the tie", 0, MOST_ABOVE, 0, "above")
    with grid.cell():
        k = number_input("Cut-off k", 1, MOST_TIED + MOST_ABOVE, 3, "cutoff")
    return _cached_example(tied, relevant, above, k)


def _draw_answers(example: WorkedExample) -> None:
    """Draw what each measure makes of the tie: the order of the file, the mean of all, rules of their own."""
    rows = [
        ("Measure", "Value"),
        ("---", "---"),
        *((name, f"{value:.4f}") for name, value in example.answers.items()),
    ]
    st.markdown("\n".join(f"| {name} | {value} |" for name, value in rows))
    st.caption(
        "MRR takes the order of the file, which lists the relevant documents last; MTRR is the mean over all "
        "orders. The others settle the tie by a rule of their own."
    )


def _draw_formulas(part: ProsePart, example: WorkedExample) -> None:
    """Draw the formulas with the numbers of the example, folded."""
    with st.expander(f"**{part.title}**"):
        st.caption(part.text)
        grid = st.grid(2, min_column_width=300)
        for formula in filled_formulas(example):
            with grid.container(border=True, height="stretch"):
                st.markdown(f"**{formula.name}**  \n:gray[{escape_markdown(formula.meaning)}]")
                st.latex(formula.latex)


def noise() -> None:
    """Draw what noise means for ties, and an example that computes as it is changed."""
    idea, example_part, ladder_part, rank_part, sources, more = read_parts("noise")
    draw_head(idea)
    draw_cards(idea.cards, columns=3, width=240, icons=("ssid_chart", "functions", "join_inner"))
    draw_head(example_part)
    sigma = controls.segmented("Noise σ", SIGMAS, "sigma", "0.05")
    example = _cached_noise(float(sigma))
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
    fold_parts([sources, more])
