import pandas as pd
import pytest

from metrics import FORMATS, MEASURES, TOOLS, TREATMENTS, parse
from metrics.runs import File, read
from metrics.runs.formats.json_records import MAX_DEPTH, MAX_JSON
from metrics.runs.reading.columns import MAX_COLUMNS
from metrics.runs.reading.files import MAX_BYTES
from metrics.runs.reading.text import MAX_LINE
from metrics.studies.guide import guide


def test_every_measure_is_explained_by_one_formula():
    assert sorted(one.name for family in guide.FORMULAS for one in family.measures) == sorted(
        one.name for one in MEASURES
    )


@pytest.mark.parametrize("family", guide.FORMULAS, ids=lambda one: one.module)
def test_a_formula_says_what_is_each_measures_own(family):
    names = {one.name for one in family.measures}
    assert set(family.each) == (names if len(names) > 1 else set())
    assert family.latex or all(family.each.values())


@pytest.mark.parametrize("family", guide.FORMULAS, ids=lambda one: one.module)
def test_latex_is_balanced(family):
    inline = [family.idea, *family.each.values(), *family.symbols.values()]
    for text in (family.latex, *inline, *family.symbols, *guide.SYMBOLS, *guide.SYMBOLS.values()):
        assert text.count("{") == text.count("}")
        assert text.count("$") % 2 == 0


@pytest.mark.parametrize("advice", guide.ADVICE, ids=lambda one: one.purpose)
def test_advice_names_measures_that_exist(advice):
    assert [str(parse(name)) for name in advice.measures] == list(advice.measures)


def test_the_measure_table_has_a_row_for_every_measure():
    table = guide.measure_table().set_index("measure")
    assert len(table) == len(MEASURES)
    assert table["summary"].to_list() == [one.summary for one in MEASURES]
    assert table["source"].to_list() == [one.source for one in MEASURES]
    assert tuple(table.loc["RR[@k]", ["traditional", "tied", "range"]]) == ("MRR[@k]", "MTRR[@k]", "0 to 1")
    assert tuple(table.loc["Div@k", ["tied", "range"]]) == ("tied Div@k", "0 and up")
    assert table.loc["TsRR", "tied"] == ""
    assert "RBP(p)" in table.index


def test_the_tool_table_has_every_rule_of_every_tool():
    table = guide.tool_table()
    assert list(table["tool"].unique()) == [one.name for one in TOOLS]
    for one in TOOLS:
        rows = table[table["tool"] == one.name]
        assert {(rule.treatment, rule.why) for rule in one.rules.values()} == set(
            rows[["treatment", "why"]].itertuples(index=False, name=None)
        )
        named = ", ".join(rows["measures"]).split(", ")
        whole = [name for text in named for name in ([text[:-4], f"{text[:-4]}@k"] if "[" in text else [text])]
        assert sorted(whole) == sorted(one.rules)


def test_the_treatment_table_has_every_treatment_and_the_draw():
    assert list(guide.treatment_table()["treatment"]) == [*(one.name for one in TREATMENTS), "random:SEED"]


def test_every_format_has_an_example_of_three_lines():
    assert set(guide.EXAMPLES) == {one.name for one in FORMATS}
    assert {text.count("\n") for text in guide.EXAMPLES.values()} == {2}


@pytest.mark.parametrize("name", sorted(set(guide.EXAMPLES) - {"parquet"}))
def test_an_example_is_read_as_its_format(name):
    found = read(File("example", guide.EXAMPLES[name].encode()))
    assert found.format == name
    assert {"query_id", "doc_id"} < set(found.table.column_names)
    assert len(found.table) == (2 if name in ("table", "beir-qrels") else 3)


def test_the_parquet_example_writes_what_is_read_as_parquet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "llm.csv").write_text(guide.EXAMPLES["table"])
    exec(guide.EXAMPLES["parquet"], {})  # noqa: S102 our own three lines
    found = read(File.open(tmp_path / "llm.parquet"))
    assert found.format == "parquet"
    assert found.table.to_pandas().equals(read(File("csv", guide.EXAMPLES["table"].encode())).table.to_pandas())


def test_limits_are_those_of_the_readers():
    told = " ".join(guide.limits().values())
    for limit in (f"{MAX_BYTES / 2**30:g} GB", f"{MAX_JSON / 2**20:g} MB", f"{MAX_LINE / 2**20:g} MB"):
        assert limit in told
    assert f"{MAX_COLUMNS:,}" in told
    assert f"{MAX_DEPTH} deep" in told


def test_the_words_of_the_guide_are_sentences():
    said = [*guide.WORDS.values(), *guide.COUNTED.values(), *(one.why for one in guide.ADVICE)]
    assert pd.Series(said).str.fullmatch(r"[A-Z][^—]*[.?]").all()
