"""Guide: ties explained by example; formulas, measures, tools, findings and file formats."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest

import pandas as pd
import streamlit as st

from dashboard import controls, visitor
from dashboard.cache import cached
from dashboard.choices import Selection
from dashboard.controls import number_input
from dashboard.escaping import escape_markdown
from dashboard.views.guide.prose import ProsePart, read_parts, table_rows
from dashboard.widgets.components import Card, cards, finding, heading, in_cell
from dashboard.widgets.one_list import draw_permutations, orderings_text
from metrics.studies.guide import (
    filled_formulas,
    worked_example,
    worked_finding,
)

_BESIDE_BLOCK = re.compile(r"\n\n+(?=\| |```)|(?<=[|`])\n\n+")
"""The empty lines before and after a table or code."""


def draw_topic(*files: str) -> None:
    """Draw the first part of the files; the others fold."""
    first, *others = (part for file in files for part in read_parts(file))
    draw_part(first)
    fold_parts(others)


def draw_part(part: ProsePart) -> None:
    """Draw the heading, text and cards of a part."""
    draw_head(part)
    draw_text(part.rest)
    draw_cards(part.cards)


def draw_head(part: ProsePart) -> None:
    """Draw the heading of a part and its first paragraph."""
    heading(part.title, part.text.replace("`", ""))  # code in a small grey text would be too pale to read


def draw_cards(
    cards: Sequence[ProsePart], columns: int = 2, width: int = 300, icons: Sequence[str] = ()
) -> None:
    """Draw each part in a box of at least `width` pixels, with its Material icon if `icons` are given."""
    if cards:
        grid = st.grid(columns, min_column_width=width)
        for card, icon in zip_longest(cards, icons):
            with grid.container(border=True, height="stretch"):
                st.markdown(f"{f':material/{icon}: ' if icon else ''}{card_title(card)}  \n{card.text}")
                draw_text(card.rest)


def fold_parts(parts: Sequence[ProsePart]) -> None:
    """Draw each part in an expander."""
    for part in parts:
        with st.expander(card_title(part)):
            draw_text(part.body)
            draw_cards(part.cards)


def card_title(card: ProsePart) -> str:
    """Return the title of a card with its name in bold, unless the name is code."""
    name, space, details = card.title.partition(" &nbsp; ")
    return (name if name.startswith("`") else f"**{name}**") + space + details


def draw_text(text: str) -> None:
    """Draw Markdown; its tables and code fit narrow screens."""
    for block in filter(None, _BESIDE_BLOCK.split(text)):
        if block.startswith("| "):
            labels, *rows = table_rows(block)
            st.table(pd.DataFrame(rows, columns=labels), hide_index=True, border="horizontal")
        elif block.startswith("```"):
            st.code(block.strip("`").partition("\n")[2].strip("\n"), language=None, wrap_lines=True)
        else:
            st.markdown(block)


MOST_TIED = 30
MOST_ABOVE = 20  # or below
_ICONS = ("join_inner", "casino", "straighten")
_cached_example = cached(max_entries=16)(worked_example)


def one_minute() -> None:
    """Draw the idea and an example that recomputes on every change."""
    idea, example_part, values_part, formulas_part = read_parts("one_minute")
    draw_head(idea)
    draw_cards(idea.cards, columns=3, width=240, icons=_ICONS)
    draw_head(example_part)
    grid = st.grid(5, min_column_width=150)
    tied = in_cell(grid, number_input, "Documents in the tie", 1, MOST_TIED, 5, "tied")
    relevant = in_cell(grid, number_input, "Relevant documents in the tie", 1, tied, 1, "relevant")
    above = in_cell(grid, number_input, "Documents above the tie", 0, MOST_ABOVE, 0, "above")
    k = in_cell(grid, number_input, "Cut-off k", 1, MOST_TIED + MOST_ABOVE, 3, "cutoff")
    below = in_cell(grid, number_input, "Documents below the tie", 0, MOST_ABOVE, 0, "under")
    example = _cached_example(tied, relevant, above, k, below)
    orders = orderings_text(math.log10(example.orderings))
    finding(worked_finding(example, orders))
    mean = f"mean of {orders} orders" if example.orderings > 1 else "the only order"
    cards(
        Card("circle", "MTRR", f"{example.expected:.4f}", mean, "blue"),
        Card("arrow_downward", "Worst case", f"{example.worst:.4f}", "relevant documents last"),
        Card("arrow_upward", "Best case", f"{example.best:.4f}", "relevant documents first"),
        Card("target", f"TMHits@{example.k}", f"{example.hits:.4f}", f"a hit in the top {example.k}", "blue"),
    )
    rows = [f"| {name} | {value:.4f} |" for name, value in example.answers.items()]
    st.markdown("\n".join(["| Measure | Value |", "| --- | --- |", *rows]))
    st.caption(
        "MRR uses file order, in which the relevant documents of the tie come last. MTRR is the mean over all "
        "orders. The other measures settle the tie by their own rule."
    )
    draw_head(values_part)
    draw_permutations(example.possible, example.documents, visitor.theme(), "guide-values")
    with st.expander(f"**{formulas_part.title}**"):
        st.caption(formulas_part.text)
        grid = st.grid(2, min_column_width=300)
        for formula in filled_formulas(example):
            with grid.container(border=True, height="stretch"):
                st.markdown(f"**{formula.name}**  \n:gray[{escape_markdown(formula.meaning)}]")
                st.latex(formula.latex)


TOPICS: Mapping[str, Callable[[], None]] = {
    "One minute": one_minute,
    "Words": partial(draw_topic, "words"),
    "Formulas": partial(draw_topic, "formulas"),
    "Measures": partial(draw_topic, "measures", "reading"),
    "Deciding": partial(draw_topic, "deciding"),
    "Tools": partial(draw_topic, "tools"),
    "Files": partial(draw_topic, "files", "findings"),
    "Library": partial(draw_topic, "library", "large_results"),
}


def show(selection: Selection) -> None:
    """Draw the chosen topic."""
    st.title("Guide", anchor=False)
    TOPICS[controls.segmented("Topic", list(TOPICS), "section", label_visibility="collapsed")]()
