"""The Guide's Markdown files: what they say of measures, formats and limits is so."""

import re

import pytest
from repository import ROOT

from dashboard.settings import OPEN
from dashboard.views.guide import markdown, read_parts, table_rows
from metrics import FORMATS, MEASURES, parse
from metrics.runs import File, read
from metrics.runs.columns import MAX_COLUMNS, recognise
from metrics.runs.files import MAX_BYTES, MAX_GROWTH, MAX_LINE
from metrics.runs.formats.delimited import Head
from metrics.runs.formats.json_records import MAX_DEPTH, MAX_JSON, MAX_VALUES

FILES = (
    *("one_minute", "words", "formulas", "measures", "deciding", "tools"),
    *("findings", "files", "library", "large_results", "reading"),
)
FORMULAS = read_parts("formulas")[1:]
EXAMPLES = {
    card.title.strip("`"): card.rest.partition("\n")[2].removesuffix("\n```")
    for card in read_parts("files")[1].cards
}


def code_words(text):
    return re.findall(r"`([^`]+)`", text)


def terms(card):
    """The measures that a formula says what is their own."""
    return re.findall(r"^- `([^`]+)`", card.body, re.MULTILINE)


def rows_of(file, title):
    """The rows of the one table of a part."""
    (part,) = (part for part in read_parts(file) if part.title == title)
    (table,) = (block for block in part.body.split("\n\n") if block.startswith("| "))
    return table_rows(table)[1:]


def test_the_table_of_the_servers_settings_has_every_variable_that_the_code_names():
    files = [path for package in ("dashboard", "metrics") for path in (ROOT / package).rglob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    named = [code_words(row[0]) for row in rows_of("library", "Settings of the server")]
    assert {variable for (variable,) in named} == {*re.findall(r'"(TIESCOPE_\w+)"', code)} - {OPEN}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_plain_markdown_once_its_figures_are_filled_in(name):
    text = markdown(name)
    assert text.startswith("# ")
    assert all(part.title and part.text for part in read_parts(name))
    assert not re.search(r"\{\{ |\{%|—", text)


def test_every_measure_is_explained_by_one_formula():
    names = [name for card in FORMULAS for name in code_words(card.title)]
    assert sorted(names) == sorted(measure.name for measure in MEASURES)


@pytest.mark.parametrize("card", FORMULAS, ids=lambda card: card.title.split(" &")[0])
def test_a_formula_says_what_is_each_measures_own(card):
    names = set(code_words(card.title))
    assert set(terms(card)) == (names if len(names) > 1 else set())
    assert "$$" in card.body or terms(card)


@pytest.mark.parametrize("name", ["formulas", "deciding"])
def test_latex_is_balanced(name):
    text = markdown(name)
    for paragraph in text.split("\n\n"):
        assert paragraph.count("{") == paragraph.count("}")
        assert paragraph.count("$") % 2 == 0


def test_advice_names_measures_that_exist():
    names = [name for row in rows_of("measures", "Which measure when") for name in code_words(row[1])]
    assert len(names) > len(rows_of("measures", "Which measure when"))
    assert [str(parse(name)) for name in names] == names


def test_every_format_has_an_example_of_three_lines():
    assert set(EXAMPLES) == {file_format.name for file_format in FORMATS}
    assert {text.count("\n") for text in EXAMPLES.values()} == {2}


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"parquet"}))
def test_an_example_is_read_as_its_format(name):
    file = File("example", EXAMPLES[name].encode())
    source, head = read(file), Head(file)
    assert source.format == name
    assert {"query_id", "doc_id"} < set(source.table.column_names)
    starts_with_a_header = EXAMPLES[name][0] not in "[{" and "query_id" in recognise(head.header)
    usual = 2 if starts_with_a_header else 3
    assert len(source.table) == {"listwise": 6, "ranked-cells": 5}.get(name, usual)


def test_the_parquet_example_writes_what_is_read_as_parquet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "llm.csv").write_text(EXAMPLES["table"])
    exec(EXAMPLES["parquet"], {})  # noqa: S102 our own three lines
    source = read(File.open(tmp_path / "llm.parquet"))
    assert source.format == "parquet"
    assert source.table.to_pandas().equals(read(File("csv", EXAMPLES["table"].encode())).table.to_pandas())


def test_limits_are_those_of_the_readers():
    limits = " ".join(limit for _, limit in rows_of("files", "Limits"))
    for limit in (f"{MAX_BYTES / 2**30:g} GB", f"{MAX_JSON / 2**20:g} MB", f"{MAX_LINE / 2**20:g} MB"):
        assert limit in limits
    assert f"{MAX_COLUMNS:,}" in limits
    assert f"{MAX_DEPTH} levels" in limits
    for limit in (f"{MAX_GROWTH} times", f"{MAX_VALUES:,}"):
        assert limit in limits


@pytest.mark.parametrize(
    ("file", "title", "column"),
    [("words", "Words", 1), ("words", "What counts", 1), ("measures", "Which measure when", 2)],
)
def test_the_words_of_the_guide_are_sentences(file, title, column):
    texts = [row[column] for row in rows_of(file, title)]
    assert texts
    assert not [text for text in texts if not re.fullmatch(r"[A-Z][^—]*[.?]", text)]


def test_a_table_keeps_a_bar_that_is_escaped():
    assert table_rows("| a | b |\n| --- | --- |\n| x \\| y | z |") == [["a", "b"], ["x \\| y", "z"]]
