import re
from fractions import Fraction

import pandas as pd
import pytest
from enumeration import Doc, rank_counts, reference
from hypothesis import given
from hypothesis import strategies as st

from metrics import FORMATS, MEASURES, TOOLS, TREATMENTS, parse
from metrics.runs import File, read
from metrics.runs.columns import MAX_COLUMNS
from metrics.runs.files import MAX_BYTES
from metrics.runs.records import MAX_DEPTH, MAX_JSON
from metrics.runs.text import MAX_LINE
from metrics.studies import guide
from metrics.studies.prose import plain

SMALL = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 4), st.integers(1, 12)).map(
    lambda drawn: (drawn[0], min(drawn[1], drawn[0]), *drawn[2:])
)


def documents(tied, relevant, above):
    strict = [Doc(f"above{place}", 9 - place, 0) for place in range(above)]
    return strict + [Doc(f"tied{place}", 0, place < relevant) for place in range(tied)]


def test_five_tied_documents_with_one_relevant_give_the_known_figures():
    found = guide.worked()
    assert found.expected == pytest.approx(float(Fraction(137, 300)))
    assert found.of_mean_rank == pytest.approx(1 / 3)
    assert found.hits == pytest.approx(0.6)
    assert (found.best, found.worst) == pytest.approx((1, 0.2))
    assert found.orderings == 120


@given(SMALL)
def test_the_worked_example_is_what_the_enumeration_says(drawn):
    tied, relevant, above, k = drawn
    found, docs = guide.worked(*drawn), documents(tied, relevant, above)
    assert found.expected == pytest.approx(float(reference(docs, "RR", "expected")))
    assert found.best == pytest.approx(float(reference(docs, "RR", "optimistic")))
    assert found.worst == pytest.approx(float(reference(docs, "RR", "pessimistic")))
    assert found.hits == pytest.approx(float(reference(docs, f"Hits@{k}", "expected")))
    counts = rank_counts(docs)
    assert found.orderings == counts.total()
    exact = {rank: count / counts.total() for rank, count in counts.items()}
    assert dict(zip(found.chances["rank"], found.chances["chance"], strict=True)) == pytest.approx(exact)


@given(SMALL)
def test_one_over_the_mean_rank_of_a_document_is_never_above_the_mean_of_one_over_the_first_rank(drawn):
    tied, _, above, _ = drawn
    found = guide.worked(*drawn)
    mean_rank = Fraction(sum(range(above + 1, above + tied + 1)), tied)
    assert found.of_mean_rank == pytest.approx(float(1 / mean_rank))
    assert found.of_mean_rank <= found.expected + 1e-12


@given(SMALL)
def test_the_list_of_the_example_has_its_one_tie_below_documents_that_do_not_tie(drawn):
    tied, relevant, above, _ = drawn
    rows = guide.worked(*drawn).documents
    assert list(rows["last"] - rows["first"] + 1) == [1] * above + [tied] * tied
    assert rows["relevant"].sum() == relevant
    assert not rows["relevant"].head(above).any()


@pytest.mark.parametrize(
    ("drawn", "start"),
    [
        ((1, 1, 0, 3), "Nothing ties: the list has one order, and RR is 1.0000"),
        ((3, 3, 1, 3), "A tie that does not matter: all of it is relevant, so RR is 0.5000 in each of the 6"),
        ((5, 1, 0, 3), "5 documents share a score, 1 of them relevant: 6 orders"),
    ],
)
def test_the_finding_of_the_example_says_what_its_tie_leaves_open(drawn, start):
    assert plain(guide.worked_finding(guide.worked(*drawn), "6")).startswith(start)


def number(text):
    return Fraction(re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", r"\1/\2", text))


@given(SMALL)
def test_the_sum_that_is_filled_in_comes_to_the_value_behind_it(drawn):
    latex = guide.filled(guide.worked(*drawn))[0].latex
    terms, value = re.search(r"&=(.*)\\\\\[6pt\]&(?:=|\\approx)\\mathbf\{([\d.]+)\}", latex).groups()
    if r"\dots" not in terms:
        products = [
            number(left) * number(right) for left, right in re.findall(r"(.*?)\\cdot(.*?)(?:\+|$)", terms)
        ]
        assert float(sum(products)) == pytest.approx(float(value), abs=6e-4)


def test_the_formulas_of_the_example_show_its_numbers():
    latex = {one.name: one.latex for one in guide.filled(guide.worked())}
    assert list(latex) == ["MTRR", "TMHits@3", "GRAG-RR", "Best and worst RR"]
    assert r"\tfrac{1}{5}\cdot1+\tfrac{1}{5}\cdot\tfrac{1}{2}" in latex["MTRR"]
    assert r"\approx\mathbf{0.4567}" in latex["MTRR"]
    assert r"=1-\binom{4}{3}\Big/\binom{5}{3}=\mathbf{0.6000}" in latex["TMHits@3"]
    assert r"=\frac{1}{0+6/2}\approx\mathbf{0.3333}" in latex["GRAG-RR"]
    assert r"\mathbf{1.0000}" in latex["Best and worst RR"]
    assert r"\mathbf{0.2000}" in latex["Best and worst RR"]


def test_a_long_sum_is_cut():
    latex = guide.filled(guide.worked(tied=30, relevant=7))[0].latex
    assert len(re.findall(r"\\tfrac\{1\}\{\d+\}\+|\\cdot1\+", latex)) == guide.MOST_TERMS - 2
    assert r"+\dots\\" in latex


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
