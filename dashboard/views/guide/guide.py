"""Guide: ties explained by example; formulas, measures, tools, findings and file formats."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import streamlit as st

from dashboard import controls, visitor
from dashboard.charts.one_list import first_hit_bars, tie_ladder
from dashboard.choices import View
from dashboard.controls import link_parameters, number_input
from dashboard.escaping import escape_markdown
from dashboard.views.guide.prose import Block, ProsePart, read_parts
from dashboard.widgets.components import Card, Colour, cards, chart, finding, heading
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.one_list import orderings_text
from metrics.studies.guide import WorkedExample, filled_formulas, noise_example, worked_example, worked_finding

_DASHBOARD = Path(__file__).parents[2]
_DEFINITION = re.compile(r"(`[^`]+`|\$[^$]+\$): (.*)", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_VERDICT_COLOURS: dict[str, Literal["green", "yellow", "orange", "blue", "gray"]] = {
    "stable": "green",
    "tie-sensitive": "yellow",
    "tie-inflated": "orange",
    "tie-deflated": "blue",
    "own rule": "gray",
}
_SEVERITY_BADGES: dict[str, tuple[str, Colour]] = {
    "error": ("error", "red"),
    "warning": ("warning", "orange"),
    "info": ("info", "blue"),
}


def words() -> None:
    """Draw the verdicts of the leaderboard; the glossary and the policies fold."""
    verdicts, *tables = read_parts("words")
    draw_head(verdicts)
    grid = st.grid(2, min_column_width=300)
    for card in verdicts.cards:
        with grid.container(border=True, height="stretch", gap="xxsmall"):
            st.badge(card.title, color=_VERDICT_COLOURS[card.title])
            st.markdown(card.text)
    fold_parts(tables)


def formulas() -> None:
    """Draw the symbols and the definition; the formulas of each family fold."""
    (part,) = read_parts("formulas")
    definition, *families = part.cards
    draw_part(part._replace(cards=[definition]), columns=1)
    for family in families:
        draw_folded(card_title(family), family.blocks)


def measures() -> None:
    """Draw which measure to use when; how to read values and the list of measures fold."""
    advice, catalogue = read_parts("measures")
    values, *others = read_parts("reading")
    draw_part(advice)
    fold_cards(values)
    fold_parts([*others, catalogue])


def deciding() -> None:
    """Draw when to use the tied score; tests, ties, audits and targets fold."""
    first, *others = read_parts("deciding")
    draw_part(first)
    fold_parts(others)


def tools() -> None:
    """Draw how each tool breaks ties, and all tie orders."""
    rules, treatments = read_parts("tools")
    fold_cards(rules)
    fold_parts([treatments])


def files() -> None:
    """Draw the columns; formats, answers of models, limits and findings fold."""
    formats, answers, columns, limits = read_parts("files")
    draw_part(columns)
    fold_parts([formats, answers, limits])
    (kinds,) = read_parts("findings")
    draw_head(kinds)
    for card in kinds.cards:
        icon, colour = _SEVERITY_BADGES[card.title]
        with st.expander(f":{colour}-badge[:material/{icon}: {card.title}] {card.text}"):
            draw_blocks(card.rest)


def library() -> None:
    """Draw what is kept; settings and large results fold."""
    kept, *others = read_parts("library")
    draw_part(kept)
    fold_parts([*others, *read_parts("large_results")])


def documents() -> None:
    """Draw where the app shows the content of the source documents; their errors fold."""
    errors, places = read_parts("documents")
    draw_head(places)
    draw_blocks(places.rest)
    fold_cards(errors)
    part, notebook = notebook_places()
    draw_head(part)
    for place in notebook:
        row = st.container(horizontal=True, vertical_alignment="top", gap="small")
        with row.expander(card_title(place.card)):
            st.markdown(place.card.text)
            if place.figures:
                st.markdown(f":blue[{escape_markdown(', '.join(place.figures))}]")
        row.page_link(
            _page_file(place.page),
            label=place.label,
            icon=":material/arrow_forward:",
            query_params=link_parameters(place.choices),
            width=330,
        )


def _page_file(name: str) -> str:
    file = f"views/{name}.py"
    return file if (_DASHBOARD / file).exists() else f"views/{name}/{name}.py"


class NotebookPlace(NamedTuple):
    """Where the app shows a table or figure of the notebook.

    Attributes:
        card: title and content in the notebook.
        figures: values of the notebook that the place shows.
        label: label of the link: page title, and heading or its beginning.
        page: name of the page.
        choices: query parameters of the link.
    """

    card: ProsePart
    figures: tuple[str, ...]
    label: str
    page: str
    choices: dict[str, str]

    @property
    def heading(self) -> str:
        """The heading on the page, or its beginning."""
        return self.label.partition(", ")[2]


def notebook_places() -> tuple[ProsePart, list[NotebookPlace]]:
    """Return the part about the notebook, and the places of its tables and figures."""
    (part,) = read_parts("notebook")
    return part, [_read_place(card) for card in part.cards]


def _read_place(card: ProsePart) -> NotebookPlace:
    *emphasis, link = (block.text for block in card.rest)
    label, address = _LINK.findall(link)[0]
    parts = urlsplit(address)
    return NotebookPlace(
        card=card,
        figures=tuple(figure for text in emphasis for figure in text.strip("*").split(", ")),
        label=label,
        page=parts.path.strip("/") or "leaderboard",
        choices=dict(parse_qsl(parts.query)),
    )


def draw_part(part: ProsePart, columns: int = 2) -> None:
    """Draw the heading, blocks, cards and notes of a part."""
    draw_head(part)
    draw_blocks([block for block in part.rest if block.kind != "note"])
    draw_cards(part.cards, columns)
    draw_blocks([block for block in part.rest if block.kind == "note"])


def draw_head(part: ProsePart) -> None:
    """Draw the heading of a part and its first paragraph."""
    heading(part.title, _without_code(part.text))


def draw_cards(
    cards: Sequence[ProsePart], columns: int = 2, width: int = 300, icons: Sequence[str] = ()
) -> None:
    """Draw each part in a box of at least `width` pixels, with its Material icon if `icons` are given."""
    grid = st.grid(columns, min_column_width=width) if cards and columns > 1 else None
    for position, card in enumerate(cards):
        with grid.container(border=True, height="stretch") if grid else st.container(border=True):
            icon = f":material/{icons[position]}: " if icons else ""
            st.markdown(f"{icon}{card_title(card)}  \n{card.text}")
            draw_blocks(card.rest)


def draw_folded(title: str, blocks: Sequence[Block], cards: Sequence[ProsePart] = ()) -> None:
    """Draw blocks and cards in an expander."""
    with st.expander(title):
        draw_blocks(blocks)
        draw_cards(cards, 2)


def fold_cards(part: ProsePart) -> None:
    """Draw the heading and the blocks of a part, and its cards in expanders."""
    draw_head(part)
    draw_blocks(part.rest)
    for card in part.cards:
        draw_folded(card_title(card), card.blocks)


def fold_parts(parts: Sequence[ProsePart]) -> None:
    """Draw each part in an expander."""
    for part in parts:
        draw_folded(f"**{part.title}**", part.blocks, part.cards)


def card_title(card: ProsePart) -> str:
    """Return the title of a card with its name in bold, unless the name is code."""
    name, space, details = card.title.partition(" &nbsp; ")
    return (name if name.startswith("`") else f"**{name}**") + space + details


def draw_blocks(blocks: Sequence[Block]) -> None:
    """Draw paragraphs, lists, tables, code samples and formulas."""
    for block in blocks:
        match block.kind:
            case "list":
                draw_list(block)
            case "table":
                labels, *rows = block.rows
                st.table(pd.DataFrame(rows, columns=labels), hide_index=True, border="horizontal")
            case "code":
                st.code(block.text, language=block.language, wrap_lines=True)
            case "formula":
                st.latex(block.text)
            case "note":
                st.caption(_without_code(block.text))
            case "text":
                st.markdown(block.text)


def _without_code(text: str) -> str:
    # Code in a small grey text would be too pale to read.
    return text.replace("`", "")


def draw_list(block: Block) -> None:
    """Draw list items in two columns: a symbol and its meaning, a measure and its formula."""
    are_symbols = block.text.startswith("- $")
    grid = st.grid(2, min_column_width=280, gap=("xxsmall", "small") if are_symbols else "small")
    for item in block.items:
        if definition := _DEFINITION.fullmatch(item):
            term, meaning = definition.groups()
            grid.markdown(f"{term} &nbsp; :gray[{meaning}]" if are_symbols else f"{term} &nbsp; {meaning}")
        else:
            grid.markdown(item)


MOST_TIED = 30
MOST_ABOVE = 20  # or below
SIGMAS = ("0.001", "0.01", "0.05", "0.1", "0.2", "1", "100")
"""Standard deviations on offer."""
_ICONS = ("join_inner", "casino", "straighten")
_cached_example = st.cache_resource(show_spinner=False, max_entries=16)(worked_example)
_cached_noise = st.cache_resource(show_spinner=False, max_entries=len(SIGMAS))(noise_example)


def one_minute() -> None:
    """Draw the idea and an example that recomputes on every change."""
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
        Card("arrow_downward", "Worst case", f"{example.worst:.4f}", "relevant documents last"),
        Card("arrow_upward", "Best case", f"{example.best:.4f}", "relevant documents first"),
        Card("target", f"TMHits@{example.k}", f"{example.hits:.4f}", f"a hit in the top {example.k}", "blue"),
    )
    _draw_answers(example)
    left, right = st.columns(2, gap="large")
    with left:
        draw_head(ladder_part)
        figure = kept_figure(tie_ladder, example.documents, visitor.theme(), example.k)
        chart(figure, "guide-ladder", "The list of the example.")
    with right:
        draw_head(first_hit_part)
        figure = kept_figure(first_hit_bars, example.chances, visitor.theme(), None)
        chart(figure, "guide-first-hit", "Probability of each rank of the first relevant document.")
    _draw_formulas(formulas_part, example)


def _choose_example() -> WorkedExample:
    grid = st.grid(5, min_column_width=150)
    with grid.cell():
        tied = number_input("Documents in the tie", 1, MOST_TIED, 5, "tied")
    with grid.cell():
        relevant = number_input("Relevant documents in the tie", 1, tied, 1, "relevant")
    with grid.cell():
        above = number_input("Documents above the tie", 0, MOST_ABOVE, 0, "above")
    with grid.cell():
        k = number_input("Cut-off k", 1, MOST_TIED + MOST_ABOVE, 3, "cutoff")
    with grid.cell():
        below = number_input("Documents below the tie", 0, MOST_ABOVE, 0, "under")
    return _cached_example(tied, relevant, above, k, below)


def _draw_answers(example: WorkedExample) -> None:
    rows = [
        ("Measure", "Value"),
        ("---", "---"),
        *((name, f"{value:.4f}") for name, value in example.answers.items()),
    ]
    st.markdown("\n".join(f"| {name} | {value} |" for name, value in rows))
    st.caption(
        "MRR uses file order, in which the relevant documents of the tie come last. MTRR is the mean over all "
        "orders. The other measures settle the tie by their own rule."
    )


def _draw_formulas(part: ProsePart, example: WorkedExample) -> None:
    with st.expander(f"**{part.title}**"):
        st.caption(part.text)
        grid = st.grid(2, min_column_width=300)
        for formula in filled_formulas(example):
            with grid.container(border=True, height="stretch"):
                st.markdown(f"**{formula.name}**  \n:gray[{escape_markdown(formula.meaning)}]")
                st.latex(formula.latex)


def noise() -> None:
    """Draw the link between noise and ties, and an example that recomputes on every change."""
    idea, example_part, ladder_part, rank_part, sources = read_parts("noise")
    draw_head(idea)
    draw_cards(idea.cards, columns=3, width=240, icons=("ssid_chart", "functions", "join_inner"))
    draw_head(example_part)
    sigma = controls.segmented("Noise σ", SIGMAS, "sigma", "0.05")
    example = _cached_noise(float(sigma))
    cards(
        Card("list", "MRR", f"{example.traditional:.4f}", "file order", "orange"),
        Card("circle", "MTRR", f"{example.tied:.4f}", "σ → 0: the tied score", "blue"),
        Card("ssid_chart", "MRR under noise", f"{example.noisy:.4f}", f"σ = {sigma}", "blue"),
        Card("join_full", "MRR of one tie", f"{example.one_tie:.4f}", "σ → ∞"),
    )
    left, right = st.columns(2, gap="large")
    with left:
        draw_head(ladder_part)
        figure = kept_figure(tie_ladder, example.documents, visitor.theme(), 1)
        chart(figure, "noise-ladder", "The list of the example.")
    with right:
        draw_head(rank_part)
        figure = kept_figure(first_hit_bars, example.chances, visitor.theme(), None)
        chart(figure, "noise-ranks", "Probability of each rank of the relevant document under noise.")
    fold_parts([sources])


TOPICS = {
    "One minute": one_minute,
    "Words": words,
    "Formulas": formulas,
    "Noise": noise,
    "Measures": measures,
    "Deciding": deciding,
    "Tools": tools,
    "Files": files,
    "Library": library,
    "Documents": documents,
}
# Topics of earlier versions → the topic with their content.
EARLIER = {"Findings": "Files", "Large results": "Library", "Notebook": "Documents"}


def show(_: View) -> None:
    """Draw the chosen topic."""
    st.title("Guide", anchor=False)
    if topic := EARLIER.get(controls.asked_text("section") or ""):
        controls.set_value("section", topic)
    TOPICS[controls.segmented("Topic", list(TOPICS), "section", label_visibility="collapsed")]()
