"""Guide: ties explained by example; formulas, measures, tools, findings and file formats."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboard import controls, visitor
from dashboard.cache import cached
from dashboard.choices import Selection
from dashboard.escaping import escape_markdown
from dashboard.library.boards import MOST_FILES
from dashboard.library.schema import RETENTION
from dashboard.library.store import MAX_LIBRARY, MAX_UPLOAD, USUAL
from dashboard.settings import UPLOAD_LIMITS
from dashboard.widgets.components import Card, cards, finding, heading, in_cell
from dashboard.widgets.one_list import draw_permutations, orderings_text
from metrics import FORMATS, TOOLS
from metrics.runs import COLUMNS, KINDS
from metrics.runs.columns import MAX_COLUMNS
from metrics.runs.files import FREE_BYTES, MAX_BYTES, MAX_GROWTH, MAX_LINE
from metrics.runs.formats.json_records import MAX_DEPTH, MAX_JSON, MAX_VALUES
from metrics.studies.guide import (
    family_measures,
    measure_table,
    tool_rules,
    treatment_table,
    worked_example,
    worked_finding,
)
from metrics.studies.leaderboard import VERDICTS

_CELLS = re.compile(r"(?<!\\)\|")


class Marked(str):
    """Text that needs no escaping."""

    __slots__ = ()


class ProsePart(NamedTuple):
    """A heading with its Markdown; `cards` are the parts one level down."""

    title: str
    body: str
    cards: list["ProsePart"]

    @property
    def text(self) -> str:
        """The first paragraph."""
        return self.body.partition("\n\n")[0]

    @property
    def rest(self) -> str:
        """The Markdown after the first paragraph."""
        return self.body.partition("\n\n")[2]


def read_parts(name: str) -> list[ProsePart]:
    """Return the parts under the second-level headings of `text/NAME.md`."""
    return _split(markdown(name), level=2)


def markdown(name: str) -> str:
    """Return `text/NAME.md` with the figures filled in."""
    figures = FIGURES.get(name, dict)()
    return _environment().get_template(f"{name}.md").render(figures)


def _split(text: str, level: int) -> list[ProsePart]:
    parts = []
    for section in re.split(rf"^{'#' * level} ", text, flags=re.MULTILINE)[1:]:
        title, _, below = section.partition("\n")
        body = re.split(rf"^#{{{level + 1}}} ", below, maxsplit=1, flags=re.MULTILINE)[0]
        parts.append(ProsePart(title, body.strip("\n"), _split(below, level + 1)))
    return parts


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of a Markdown table, header row first."""
    lines = [[cell.strip() for cell in _CELLS.split(line)[1:-1]] for line in text.splitlines()]
    return [lines[0], *lines[2:]]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("guide_text"), encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 the output is Markdown, which `finalize` escapes
        finalize=lambda value: value if isinstance(value, Marked) else escape_markdown(str(value)),
    )
    environment.filters |= {
        "marked": Marked,
        "sentence": lambda text: text[0].upper() + text[1:],
        "code": lambda text: Marked(f"`{text}`"),
        "measures": lambda measures: Marked(", ".join(f"`{measure.name}`" for measure in measures)),
        "term": lambda measure: Marked(
            f"- `{measure.name}`: {measure.term or escape_markdown(measure.summary)}"
        ),
        "note": lambda text: Marked(f":gray[{escape_markdown(text)}]"),
        "source": lambda text: Marked(f":small[:gray[{escape_markdown(text)}]]"),
        "traditional": lambda text: Marked(f":orange[{escape_markdown(text)}]"),
        "tied": lambda text: Marked(f":blue[{escape_markdown(text)}]"),
    }
    return environment


Figures = Mapping[str, Any]
_COMMON_FORMATS = ("trec-run", "trec-qrels", "table", "parquet", "json", "jsonl")
"""Formats listed first."""
_FAMILIES = ("first_hit", "additive", "average_precision", "cascade", "bpref", "targets", "own_rules")


def formulas() -> Figures:
    """Return the measures and sources of each family."""
    families = {name: family_measures(name) for name in _FAMILIES}
    sources = {
        name: "; ".join(f"{measure.name}: {measure.source}" for measure in measures)
        for name, measures in families.items()
    }
    return {"families": families, "sources": sources}


def deciding() -> Figures:
    """Return tests, targets and verdicts."""
    from metrics.studies import pair_tests, targets  # noqa: PLC0415 what only this topic needs
    from metrics.studies.audit import audited_order  # noqa: PLC0415 likewise

    return {
        "tests": pair_tests.TESTS,
        "presets": targets.PRESETS,
        "verdicts": targets.VERDICTS,
        "audit_verdicts": audited_order.VERDICTS,
    }


def files() -> Figures:
    """Return the formats, the columns and the limits of files."""
    by_name = {file_format.name: file_format for file_format in FORMATS}
    return {
        "formats": [by_name[name] for name in dict.fromkeys((*_COMMON_FORMATS, *by_name))],
        "columns": COLUMNS,
        "limits": {
            "upload": st.get_option("server.maxUploadSize"),
            "files": MOST_FILES,
            "unpacked": f"{MAX_BYTES / 2**30:.3g}",
            "free": f"{FREE_BYTES / 2**20:g}",
            "growth": f"{MAX_GROWTH}",
            "json_values": f"{MAX_VALUES:,}",
            "json": MAX_JSON // 2**20,
            "line": MAX_LINE // 2**20,
            "columns": f"{MAX_COLUMNS:,}",
            "depth": MAX_DEPTH,
        },
    }


def library() -> Figures:
    """Return the limits of the library."""
    names = "max_upload", "max_library", "max_visitor", "max_visitors"
    limits = USUAL[MAX_UPLOAD], USUAL[MAX_LIBRARY], *UPLOAD_LIMITS.values()
    texts = [f"{limit:,}" for limit in limits]
    return {"days": RETENTION.days, **dict(zip(names, texts, strict=True))}


FIGURES: Mapping[str, Callable[[], Figures]] = {
    "words": lambda: {"verdicts": VERDICTS},
    "formulas": formulas,
    "measures": lambda: {"measures": list(measure_table().itertuples())},
    "deciding": deciding,
    "tools": lambda: {
        "tools": [(tool, tool_rules(tool)) for tool in TOOLS],
        "treatments": list(treatment_table().itertuples()),
    },
    "findings": lambda: {"kinds": KINDS},
    "files": files,
    "library": library,
}
"""Name of a Guide file → function that returns its figures."""


_BESIDE_BLOCK = re.compile(r"\n\n+(?=\| |```)|(?<=[|`])\n\n+")
"""The empty lines before and after a table or code."""


def draw_topic(*files: str) -> None:
    """Draw the first part of the files; the others fold."""
    first, *others = (part for file in files for part in read_parts(file))
    draw_head(first)
    draw_text(first.rest)
    draw_cards(first.cards)
    for part in others:
        with st.expander(card_title(part)):
            draw_text(part.body)
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
    idea, example_part, values_part = read_parts("one_minute")
    draw_head(idea)
    draw_cards(idea.cards, columns=3, width=240, icons=_ICONS)
    values_place = st.container()
    draw_head(example_part)
    grid = st.grid(5, min_column_width=150)
    tied = in_cell(grid, controls.number_input, "Documents in the tie", 1, MOST_TIED, 5, "tied")
    relevant = in_cell(grid, controls.number_input, "Relevant documents in the tie", 1, tied, 1, "relevant")
    above = in_cell(grid, controls.number_input, "Documents above the tie", 0, MOST_ABOVE, 0, "above")
    k = in_cell(grid, controls.number_input, "Cut-off k", 1, MOST_TIED + MOST_ABOVE, 3, "cutoff")
    below = in_cell(grid, controls.number_input, "Documents below the tie", 0, MOST_ABOVE, 0, "under")
    example = _cached_example(tied, relevant, above, k, below)
    orders = orderings_text(math.log10(example.orderings))
    finding(worked_finding(example, orders))
    mean = f"mean of {orders} orders" if example.orderings > 1 else "the only order"
    cards(
        Card("circle", "MTRR", f"{example.answers['MTRR']:.4f}", mean, "blue"),
        Card("arrow_downward", "Worst case", f"{example.answers['PRR']:.4f}", "relevant documents last"),
        Card("arrow_upward", "Best case", f"{example.best:.4f}", "relevant documents first"),
        Card("target", f"TMHits@{example.k}", f"{example.hits:.4f}", f"a hit in the top {example.k}", "blue"),
    )
    rows = [f"| {name} | {value:.4f} |" for name, value in example.answers.items()]
    st.markdown("\n".join(["| Measure | Value |", "| --- | --- |", *rows]))
    st.caption(
        "MRR uses file order, in which the relevant documents of the tie come last. MTRR is the mean over all "
        "orders. The other measures settle the tie by their own rule."
    )
    with values_place:
        heading(values_part.title)
        draw_permutations(example.possible, example.documents, visitor.theme(), "guide-values")
        st.caption(values_part.text)


TOPICS: Mapping[str, Callable[[], None]] = {
    "One minute": one_minute,
    "Words": partial(draw_topic, "words"),
    "Measures": partial(draw_topic, "measures", "formulas", "reading"),
    "Deciding": partial(draw_topic, "deciding", "tools"),
    "Files": partial(draw_topic, "files", "findings", "library", "large_results"),
}


def show(selection: Selection) -> None:
    """Draw the chosen topic."""
    TOPICS[controls.segmented("Topic", list(TOPICS), "section", label_visibility="collapsed")]()
