"""The notebook of the sample data: its cells run, and show what the notebook it follows prints."""

import ast
import json
import re

import pytest
from plotly.graph_objects import Figure
from repository import SAMPLE

NOTEBOOK = SAMPLE / "tied_ranking_metrics.ipynb"
FIGURES = {
    "scenarios": "0.500 0.417 0.611 0.333",
    "every ordering": "doc3 doc2 doc1 doc4 doc5 1.000",
    "200 lists": "60 0.226 0.0252 0.0779 0.5092 0.0291 0.1221 0.7500 0.546 0.596",
    "GPT-4": "0.5690 0.6748 0.6845 0.0376 0.3889 0.9000 0.8827 0.0454",
    "PaLM-2": "0.8245 0.5571 0.5756 0.0686 0.4792 0.7700 0.7697 0.0410",
    "Claude": "0.9532 0.5127 0.5324 0.1294 0.5433 0.7900 0.7957 0.1001",
    "Local LLM": "0.9685 0.4802 0.4840 0.1667 0.5092 0.7500 0.7679 0.1461",
    "numbers of orders": "4 72 120 40320 4032 3456",
    "G-RAG means": "0.5558 0.5589 0.4000 0.3990 0.6500 0.6587 0.7525 0.9000 0.9020",
    "G-RAG deviations": "0.3818 0.3745 0.4899 0.4792 0.4667 0.4294 0.2946",
    "G-RAG ties": "45.0% 0.46 1.71 5 0.0122 0.2778",
}
"""Figures of the notebook on the G-RAG paper."""


def outcome(source, names):
    """Run a cell; the value of the expression it ends with, None where it ends with none."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NOTEBOOK.name, "exec"), names)  # noqa: S102 cells of our own
    return last and eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)  # noqa: S307


def words(html):
    """What a reader sees of a piece of HTML."""
    return re.sub(r"<style.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL).split()


@pytest.fixture(scope="module")
def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def outcomes(cells):
    names = {}
    return [outcome("".join(cell["source"]), names) for cell in cells]


@pytest.fixture(scope="module")
def stored_outputs(cells):
    """Of each cell, what a reader of the file sees below it; None where there is nothing."""
    html = ["".join(text for out in cell["outputs"] for text in out["data"]["text/html"]) for cell in cells]
    return [words(one) or None for one in html]


def test_the_file_shows_the_tables_that_its_cells_make_and_no_charts(outcomes, stored_outputs):
    tables = [None if one is None or isinstance(one, Figure) else words(one._repr_html_()) for one in outcomes]
    assert stored_outputs == tables
    assert sum(isinstance(one, Figure) for one in outcomes) == 4


@pytest.mark.parametrize("part", FIGURES)
def test_the_figures_of_the_notebook_on_the_grag_paper_come_out(stored_outputs, part):
    assert set(FIGURES[part].split()) <= {word for shown in stored_outputs if shown for word in shown}


def test_the_file_is_small_and_names_no_machine(notebook):
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert not re.search(r"/(home|root|tmp|work|Users)/|https?:", text)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
