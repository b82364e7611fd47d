"""Read the Guide's Markdown files, fill in their figures, and split them into parts."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboard.escaping import escape_markdown
from dashboard.library.boards import MOST_FILES
from dashboard.library.schema import RETENTION
from dashboard.library.store import MAX_LIBRARY, MAX_UPLOAD, USUAL
from dashboard.settings import UPLOAD_LIMITS
from metrics import FORMATS, TOOLS
from metrics.runs import COLUMNS, KINDS
from metrics.runs.columns import MAX_COLUMNS
from metrics.runs.files import FREE_BYTES, MAX_BYTES, MAX_GROWTH, MAX_LINE
from metrics.runs.formats.json_records import MAX_DEPTH, MAX_JSON, MAX_VALUES
from metrics.studies.guide import (
    SCENARIOS,
    family_measures,
    measure_table,
    random_order_value,
    scenario_values,
    tool_rules,
    treatment_table,
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
        loader=FileSystemLoader(Path(__file__).parent / "text", encoding="utf-8"),
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


def reading() -> Figures:
    """Return example values."""
    return {
        "random_ndcg": f"{random_order_value('nDCG@5'):.4f}",
        "scenarios": [
            (name, ", ".join(map(str, SCENARIOS[name])), f"{row.RR:.4f}", f"{row.AP:.4f}")
            for name, row in scenario_values().iterrows()
        ],
    }


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
    "reading": reading,
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
