"""The Guide's worked example and its tables."""

import re
from fractions import Fraction

import pytest
from enumeration import Doc, rank_counts, reference
from hypothesis import given
from hypothesis import strategies as st
from repository import ROOT

from metrics import MEASURES, TOOLS
from metrics.studies.guide import (
    MOST_TERMS,
    filled_formulas,
    measure_table,
    tool_rules,
    worked_example,
    worked_finding,
)
from metrics.studies.prose import plain


def test_the_measure_table_has_a_row_for_every_measure():
    table = measure_table().set_index("measure")
    assert len(table) == len(MEASURES)
    assert table["summary"].to_list() == [measure.summary for measure in MEASURES]
    assert table["source"].to_list() == [measure.source for measure in MEASURES]
    assert tuple(table.loc["RR[@k]", ["traditional", "tied", "range"]]) == ("MRR[@k]", "MTRR[@k]", "0 to 1")
    assert tuple(table.loc["Div@k", ["tied", "range"]]) == ("tied Div@k", "0 and up")
    assert table.loc["TsRR", "tied"] == ""
    assert "RBP(p)" in table.index


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_rules_of_a_tool_are_those_of_its_measures(tool):
    rules = tool_rules(tool)
    assert {(rule.treatment, rule.why) for rule in tool.rules.values()} == {
        (rule.treatment, rule.why) for _, rule in rules
    }
    names = ", ".join(measures for measures, _ in rules).split(", ")
    measures = [
        measure for name in names for measure in ([name[:-4], f"{name[:-4]}@k"] if "[" in name else [name])
    ]
    assert sorted(measures) == sorted(tool.rules)


SMALL = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 4), st.integers(1, 12)).map(
    lambda settings: (settings[0], min(settings[1], settings[0]), *settings[2:])
)


def documents(tied, relevant, above):
    strict = [Doc(f"above{place}", 9 - place, 0) for place in range(above)]
    return strict + [Doc(f"tied{place}", 0, place < relevant) for place in range(tied)]


def test_five_tied_documents_with_one_relevant_give_the_known_figures():
    example = worked_example()
    assert example.answers["MTRR"] == pytest.approx(float(Fraction(137, 300)))
    assert example.answers["GRAG-RR"] == pytest.approx(1 / 3)
    assert example.hits == pytest.approx(0.6)
    assert (example.best, example.answers["PRR"]) == pytest.approx((1, 0.2))
    assert example.orderings == 120


@given(SMALL, st.integers(1, 5))
def test_documents_below_the_tie_put_tsrr_between_tarr_and_prr(settings, below):
    example, alone = worked_example(*settings, below=below), worked_example(*settings)
    assert example.answers["MTRR"] == pytest.approx(alone.answers["MTRR"])
    assert example.answers["taRR"] == pytest.approx(alone.answers["taRR"])
    assert example.answers["PRR"] - 1e-12 <= example.answers["TsRR"] <= example.answers["taRR"] + 1e-12
    if example.relevant < example.tied:
        assert alone.answers["TsRR"] < example.answers["TsRR"]
    assert f"{example.answers['TsRR']:.4f}" in {one.name: one.latex for one in filled_formulas(example)}["TsRR"]


@given(SMALL)
def test_the_worked_example_is_what_the_enumeration_says(settings):
    tied, relevant, above, k = settings
    example, docs = worked_example(*settings), documents(tied, relevant, above)
    assert example.answers["MTRR"] == pytest.approx(float(reference(docs, "RR", "expected")))
    assert example.best == pytest.approx(float(reference(docs, "RR", "optimistic")))
    assert example.answers["PRR"] == pytest.approx(float(reference(docs, "RR", "pessimistic")))
    assert example.hits == pytest.approx(float(reference(docs, f"Hits@{k}", "expected")))
    counts = rank_counts(docs)
    assert example.orderings == counts.total()
    exact = {rank: count / counts.total() for rank, count in counts.items()}
    assert dict(zip(example.chances["rank"], example.chances["chance"], strict=True)) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("settings", "figures"),
    [
        ((5, 1, 0), [1 / 5, 137 / 300, 1 / 3, 1 / 5, 1 / 5, 1 / 3]),
        ((4, 2, 1), [1 / 4, 29 / 72, 3 / 8, 9 / 32, 1 / 4, 2 / 7]),
    ],
)
def test_the_example_shows_every_answer_to_its_tie_side_by_side(settings, figures):
    example = worked_example(*settings)
    assert list(example.answers) == ["MRR", "MTRR", "taRR", "TsRR", "PRR", "GRAG-RR"]
    assert list(example.answers.values()) == pytest.approx(figures)
    shown = {formula.name: formula.latex for formula in filled_formulas(example)}
    for name in ("taRR", "TsRR", "GRAG-RR"):
        assert f"{example.answers[name]:.4f}" in shown[name]


@given(SMALL)
def test_the_list_of_the_example_has_its_one_tie_below_documents_that_do_not_tie(settings):
    tied, relevant, above, _ = settings
    rows = worked_example(*settings).documents
    assert list(rows["last"] - rows["first"] + 1) == [1] * above + [tied] * tied
    assert rows["relevant"].sum() == relevant
    assert not rows["relevant"].head(above).any()


@pytest.mark.parametrize(
    ("settings", "start"),
    [
        ((1, 1, 0, 3), "No documents tie: the list has one order, and RR is 1.0000"),
        ((3, 3, 1, 3), "This tie does not matter: all its documents are relevant, so RR is 0.5000 in all 6"),
        ((5, 1, 0, 3), "5 documents share a score, 1 of them relevant: 6 orders"),
    ],
)
def test_the_finding_of_the_example_says_what_its_tie_leaves_open(settings, start):
    assert plain(worked_finding(worked_example(*settings), "6")).startswith(start)


GRADES = (3, 2, 1, 0, 0)


def number(text):
    return Fraction(re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", r"\1/\2", text))


def sum_of_products(terms):
    return sum(number(left) * number(right) for left, right in re.findall(r"(.*?)\\cdot(.*?)(?:\+|$)", terms))


@given(SMALL)
def test_definition_and_closed_form_filled_in_come_to_the_value_behind_them(settings):
    example = worked_example(*settings)
    *_, terms, value = filled_formulas(example)[0].latex.split(r"\\[6pt]&")
    value = float(re.search(r"\\mathbf\{([\d.]+)\}", value)[1])
    if r"\dots" not in terms:
        assert float(sum_of_products(terms.removeprefix("="))) == pytest.approx(value, abs=6e-4)


def test_the_formulas_of_the_example_show_its_numbers():
    latex = {one.name: one.latex for one in filled_formulas(worked_example())}
    assert list(latex) == ["MTRR", "TMHits@3", "taRR", "TsRR", "GRAG-RR", "Best RR, and worst RR (PRR)"]
    assert r"\tfrac{1}{5}\cdot1+\tfrac{1}{5}\cdot\tfrac{1}{2}" in latex["MTRR"]
    assert r"\approx\mathbf{0.4567}" in latex["MTRR"]
    assert r"=1-\binom{4}{3}\Big/\binom{5}{3}=\mathbf{0.6000}" in latex["TMHits@3"]
    assert r"=\frac{1}{0+6/2}\approx\mathbf{0.3333}" in latex["GRAG-RR"]
    assert r"\mathbf{1.0000}" in latex["Best RR, and worst RR (PRR)"]
    assert r"\mathbf{0.2000}" in latex["Best RR, and worst RR (PRR)"]


def test_a_long_sum_is_cut():
    latex = filled_formulas(worked_example(tied=30, relevant=7))[0].latex
    assert len(re.findall(r"\\tfrac\{1\}\{\d+\}\+|\\cdot1\+", latex)) == MOST_TERMS - 2
    assert r"+\dots\\" in latex


def test_the_figures_in_the_text_on_reading_values_are_those_of_their_lists():
    text = (ROOT / "dashboard/views/guide/text/reading.md").read_text(encoding="utf-8")
    random_order = float(
        reference([Doc(str(at), 0, grade) for at, grade in enumerate(GRADES)], "nDCG@5", "expected")
    )
    assert f"{random_order:.4f} on the grades {', '.join(map(str, GRADES))}." in text
    for ranks in ((1, 4, 5), (1, 2, 3)):
        docs = [Doc(f"d{rank}", -rank, int(rank in ranks)) for rank in range(1, 11)]
        rr, ap = (float(reference(docs, measure, "input")) for measure in ("RR", "AP"))
        assert f"Relevant at ranks {', '.join(map(str, ranks))}: RR {rr:.4f}, AP {ap:.4f}." in text
