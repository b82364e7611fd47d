"""What can be checked of a feature: a value, a sentence of the Guide, a section of a page, a command's output.

Each function here returns a check: it takes nothing and fails where the feature is not there. A page, a command
and the report are run once, however many checks look at them.
"""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from datetime import date
from functools import cache
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
from opening import opened, plain
from repository import ROOT, SAMPLE

from dashboard import cli
from dashboard.views.guide import markdown
from metrics import Runs, evaluate, read_table
from metrics.report import report
from metrics.simulation import notebook_grag
from metrics.studies.targets import PRESETS

Check = Callable[[], None]
SIMULATED = SAMPLE / "llm_rerankers.csv"
_ROUNDING = 0.500001
_SOURCES = ROOT / "docs/reference/sources.md"


def value(measure: str, grades: Sequence[float], scores: Sequence[float] = (), ties: str = "expected") -> float:
    """One list as a measure has it, top first unless scores say otherwise."""
    scores = scores or range(len(grades), 0, -1)
    table = pd.DataFrame(
        {"query_id": "q", "doc_id": [f"d{place}" for place in range(len(grades))], "score": scores}
    ).assign(relevance=grades)
    return float(evaluate(Runs.from_frame(table), [measure], [ties]).scores.iloc[0, 0])


def scores(figure: float, measure: str, grades: Sequence[float], *args: object, digits: int = 4) -> Check:
    """A list scores what the document prints."""

    def check() -> None:
        assert value(measure, grades, *args) == pytest.approx(figure, abs=_ROUNDING * 10**-digits)

    return check


def equal(function: Callable[[], object], expected: object) -> Check:
    """What the library gives is what the document has."""

    def check() -> None:
        assert function() == expected

    return check


def true(function: Callable[[], object]) -> Check:
    """A statement about the library holds."""

    def check() -> None:
        assert function()

    return check


def guide(name: str, *texts: str) -> Check:
    """A file of the Guide says so, its figures filled in."""
    return _says(lambda: plain(_guide_text(name)), [plain(text) for text in texts])


def corrects(*texts: str) -> Check:
    """The documentation's page on errors in the sources says so."""
    return _says(lambda: plain(_SOURCES.read_text(encoding="utf-8")), [plain(text) for text in texts])


def prints(arguments: Sequence[object], *texts: str) -> Check:
    """A command prints so."""
    return _says(lambda: output(*map(str, arguments)), texts)


def reports(*texts: str) -> Check:
    """The full report of the simulated rerankers says so."""
    return _says(_report_text, texts)


def holds_to(*texts: str) -> Check:
    """The report of the simulated rerankers says so where the ready targets are set."""
    return _says(lambda: _report_text(PRESETS["retrieval"]), texts)


def evaluates(*texts: str) -> Check:
    """The text form of the report on the notebook's G-RAG queries says so."""
    return _says(_evaluator_text, texts)


def page(view: str, heading: str, *contents: str, **query: str) -> Check:
    """A section of a page shows texts, and figures to as many digits as are given."""

    def check() -> None:
        texts, numbers = section(view, heading, **query)
        assert not [
            content
            for content in contents
            if content not in texts and not any(_is_near(content, number) for number in numbers)
        ]

    return check


def control(view: str, kind: str, key: str, **query: str) -> Check:
    """A page has a control."""
    return true(lambda: any(element.key == key for element in _run_page(view, **query).get(kind)))


def both(*checks: Check) -> Check:
    """Several checks of one feature."""

    def check() -> None:
        for each in checks:
            each()

    return check


@cache
def output(*arguments: str) -> str:
    """What a command prints on standard output."""
    written = StringIO()
    with (
        patch.object(sys, "argv", ["tiescope", *arguments]),
        redirect_stdout(written),
        redirect_stderr(StringIO()),
        pytest.raises(SystemExit),
    ):
        cli.main()
    return written.getvalue()


@cache
def section(view: str, heading: str, **query: str) -> tuple[str, list[float]]:
    """Texts and numbers below a heading, up to the next one; below the title where the heading is empty.

    A heading that the page does not have as it opens is in one of its sections, a click away.
    """
    first = _run_page(view, **query)
    controls = [control for control in first.segmented_control if control.key == "section"]
    others = [] if "section" in query else [name for control in controls for name in control.options]
    pages = (first, *(_run_page(view, **query, section=name) for name in others))
    elements = next(below for below in (_below(heading, page) for page in pages) if below is not None)
    texts, numbers = [], []
    for node in elements:
        if node.type == "header":
            break
        texts += _texts(node)
        numbers += _numbers(node)
    return plain("\n".join(texts)), numbers


def _below(heading, page):
    """What stands below a heading of a page, or else the name of its open section; None where it has none."""
    nodes = list(page.main)
    places = [at for at, node in enumerate(nodes) if _is_heading(node, heading)] or [
        at for at, node in enumerate(nodes) if node.key == "section" and node.value == heading
    ]
    return iter(nodes[places[0] + 1 :]) if places else None


def _is_heading(node, heading):
    return (node.type == "header" and plain(node.value).startswith(heading)) or (
        not heading and node.type == "title"
    )


@cache
def _run_page(view: str, **query: str):
    return opened(view, **query)


@cache
def _guide_text(name: str) -> str:
    return markdown(name)


@cache
def _report_text(targets: tuple[str, ...] = ()) -> str:
    return report(read_table(SIMULATED), targets=targets, preset="full").markdown(date(2026, 1, 30))


@cache
def _evaluator_text() -> str:
    return report(notebook_grag(), sections=["data"]).text(date(2026, 1, 30))


def _says(read: Callable[[], str], texts: Sequence[str]) -> Check:
    def check() -> None:
        text = read()
        assert not [missing for missing in texts if missing not in text]

    return check


def _texts(node) -> list[str]:
    match node.type:
        case "metric":
            return [node.label, node.value]
        case "dataframe":
            labels = [column.get("label") or "" for column in json.loads(node.proto.columns).values()]
            return [*labels, *(str(cell) for cell in node.value.to_numpy().ravel() if isinstance(cell, str))]
        case "plotly_chart":
            return [_chart_text(json.loads(node.proto.spec))]
        case "markdown" | "caption" | "code" | "latex":
            return [node.value]
    return []


def _chart_text(spec: dict) -> str:
    layout = spec["layout"]
    titles = [
        axis["title"].get("text", "")
        for axis in layout.values()
        if isinstance(axis, dict) and axis.get("title")
    ]
    notes = [note.get("text", "") for note in layout.get("annotations", [])]
    return "\n".join([*titles, *notes, *(trace.get("name") or "" for trace in spec["data"])])


def _numbers(node) -> list[float]:
    if node.type == "dataframe":
        return [float(cell) for cell in node.value.to_numpy().ravel() if isinstance(cell, int | float)]
    return []


def _is_near(content: str, number: float) -> bool:
    """Whether a number is what its first digits say; a percentage is that of a share or of a hundredfold."""
    text = content.removesuffix("%").replace(",", "")
    try:
        figure = float(text)
    except ValueError:
        return False
    return abs(number - figure) <= _ROUNDING * 10 ** -len(text.partition(".")[2])


def lines_of(document: Path) -> dict[int, str]:
    """Number of each line of a document that says something → the line."""
    lines = enumerate(document.read_text(encoding="utf-8").splitlines(), 1)
    return {number: line for number, line in lines if line.strip(" -`\t") and not line.startswith("In [")}
