"""The Guide's worked example and its tables."""

from fractions import Fraction

import pytest
from enumeration import Doc, rank_counts, reference
from hypothesis import given
from hypothesis import strategies as st
from repository import ROOT

from metrics import MEASURES, TOOLS
from metrics.studies.guide import (
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
    exact = [count / counts.total() for _, count in sorted(counts.items())][: len(example.possible.rows) - 1]
    assert example.possible.rows["chance"].tolist()[:-1] == pytest.approx(exact)


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


def test_the_figures_in_the_text_on_reading_values_are_those_of_their_lists():
    text = (ROOT / "dashboard/views/guide_text/reading.md").read_text(encoding="utf-8")
    tie = [Doc(str(place), 0, grade) for place, grade in enumerate((3, 2, 1, 0, 0))]
    random_order = float(reference(tie, "nDCG@5", "expected"))
    assert f"{random_order:.4f} on the grades 3, 2, 1, 0, 0." in text
    for ranks in ((1, 4, 5), (1, 2, 3)):
        docs = [Doc(f"d{rank}", -rank, int(rank in ranks)) for rank in range(1, 11)]
        rr, ap = (float(reference(docs, measure, "input")) for measure in ("RR", "AP"))
        assert f"Relevant at ranks {', '.join(map(str, ranks))}: RR {rr:.4f}, AP {ap:.4f}." in text
