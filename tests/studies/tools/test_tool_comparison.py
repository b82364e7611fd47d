import pandas as pd
import pytest
from drawing import frame as drawn
from enumeration import Doc

from metrics import Runs
from metrics.evaluation import ScoringOptions
from metrics.studies.prose import plain
from metrics.studies.tools.emulation import emulate
from metrics.studies.tools.tool_comparison import (
    by_reranker,
    by_tool,
    comparable_values,
    tool_finding,
    tool_values,
)

TIED = [Doc(name, 1, int(name == "b")) for name in "cabde"]
STRICT = [Doc(name, 5 - at, int(name == "b")) for at, name in enumerate("cabde")]


def runs(**lists):
    return Runs.from_frame(drawn({name: {"q": one} for name, one in lists.items()}))


def test_values_are_those_of_the_emulation_in_the_order_of_the_rerankers():
    tied_runs = runs(A=TIED, B=STRICT)
    values = tool_values(tied_runs, "RR", ["B", "A"])
    assert values["reranker"].unique().tolist() == ["B", "A"]
    own = values[values["measure"] == "RR"].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, emulate(tied_runs.arranged({"B": "B", "A": "A"}), ["RR"]))


def test_tools_whose_mrr_has_a_cut_off_are_asked_for_it_down_to_the_end_of_the_longest_list():
    values = tool_values(runs(A=TIED, B=STRICT), "RR", ["A", "B"])
    cut = values[values["measure"] != "RR"]
    assert set(cut["measure"]) == {"RR@5"}
    assert {"BEIR", "MTEB"} <= set(cut["tool"])
    assert not set(cut["tool"]) & set(values.loc[values["measure"] == "RR", "tool"])
    whole = comparable_values(values, "RR").set_index(["tool", "reranker"])["value"]
    assert (whole["BEIR", "A"], whole["MTEB", "A"]) == (1 / 3, 1 / 4)  # as listed; by document ID, descending


def test_ndcg_is_asked_with_both_gains():
    assert set(tool_values(runs(A=TIED), "nDCG@10", ["A"])["measure"]) == {"nDCG@10", "nDCG-linear@10"}


def test_a_reranker_left_out_is_not_in_the_table():
    assert set(tool_values(runs(A=TIED, B=STRICT), "RR", ["A"])["reranker"]) == {"A"}


def test_a_tool_has_one_row_with_a_column_a_reranker_and_a_reason():
    values = tool_values(runs(A=TIED, B=STRICT), "RR", ["A", "B"])
    table = by_tool(values)
    assert table.columns.to_list() == ["tool", "version", "spelling", "A", "B", "why"]
    assert table["tool"].is_unique
    row = table.set_index("tool").loc["trec_eval"]
    assert (row["A"], row["B"]) == (1 / 4, 1 / 3)
    assert row["why"]


def test_a_reranker_may_be_named_as_a_column():
    table = by_tool(tool_values(runs(tool=TIED, version=STRICT, why=STRICT), "RR", ["tool", "version", "why"]))
    assert table.columns.to_list() == ["tool", "version", "spelling", "tool ", "version ", "why ", "why"]


def test_the_finding_names_the_reranker_and_tools_that_are_farthest_apart():
    values = tool_values(runs(A=STRICT, B=TIED), "RR", ["A", "B"])
    sentence = plain(tool_finding(values, "RR"))
    assert sentence.startswith("The same file gives B RR 0.2500 in trec_eval and 0.5000 in")


def test_the_finding_says_whether_tools_name_the_same_leader():
    third, fourth = ([Doc(d, 5 - at, int(at == place)) for at, d in enumerate("abcde")] for place in (2, 3))
    last = [Doc(d, 5 - at, int(d == "e")) for at, d in enumerate("abcde")]

    def finding_of(lists):
        drawn_runs = Runs.from_frame(
            drawn({"A": {"q": TIED, "r": TIED}, "B": dict(zip("qr", lists, strict=True))})
        )
        return plain(tool_finding(tool_values(drawn_runs, "RR", ["A", "B"]), "RR"))

    assert finding_of([last, last]).endswith("for every reranker name the same leader.")
    assert finding_of([third, fourth]).endswith("They name 2 different leaders.")


def test_a_value_that_answers_another_question_is_told_apart_and_no_ground_for_the_finding():
    graded = [Doc("a", 2, 1), Doc("b", 1, 2), Doc("c", 0, 0)]
    values = tool_values(runs(A=graded), "P@1", ["A"], ScoringOptions(relevant_from=2))
    assert set(values["value"].dropna()) == {0, 1}
    comparable = comparable_values(values, "P@1")
    assert set(comparable["value"]) == {0}
    assert not {"BEIR", "MTEB"} & set(comparable["tool"])
    assert "say the same" in plain(tool_finding(values, "P@1"))
    row = by_tool(values).set_index("tool").loc["BEIR"]
    assert row["A"] == 1
    assert row["why"].startswith("Answers another question: relevant from grade 1. ")


def test_a_tool_without_a_number_keeps_its_row_and_says_for_whom_and_why():
    tied = [Doc(str(place), 1, int(place == 3)) for place in range(16)]
    table = by_tool(tool_values(runs(A=tied, B=STRICT), "RR", ["A", "B"]))
    row = table.set_index("tool").loc["ranx"]
    assert pd.isna(row["A"])
    assert row["B"] == 1 / 3
    assert row["why"].startswith(
        "No number for A: the order of a tie changes the value of a list of more than 15"
    )
    alone = by_tool(tool_values(runs(A=tied), "RR", ["A"])).set_index("tool").loc["ranx"]
    assert alone["why"].startswith("No number: ")


@pytest.mark.parametrize("measure", ["RR", "Hits@1", "AP"])
def test_the_finding_says_when_every_tool_agrees(measure):
    assert "Every tool says the same" in plain(
        tool_finding(tool_values(runs(A=STRICT), measure, ["A"]), measure)
    )


def test_a_measure_no_tool_has_is_said_to_have_none():
    values = tool_values(runs(A=TIED), "TsRR", ["A"])
    assert not len(values)
    assert "No two tools" in plain(tool_finding(values, "TsRR"))


def test_tools_that_agree_on_every_reranker_share_a_column():
    values = tool_values(runs(A=TIED, B=STRICT), "RR", ["B", "A"])
    table = by_reranker(values)
    assert table.index.to_list() == ["B", "A"]
    assert sum(map(len, table.columns)) == values.dropna(subset="value")["tool"].nunique()
    for tools in table.columns:
        for tool in tools:
            expected = values[values["tool"] == tool].set_index("reranker")["value"]
            assert table[tools].to_dict() == pytest.approx(expected.to_dict(), nan_ok=True)
    assert not table.T.duplicated().any()


def test_every_tool_is_compared_where_documents_are_relevant_or_not_as_both_gains_are_one():
    binary = tool_values(runs(A=TIED, B=STRICT), "nDCG@10", ["A", "B"])
    compared = comparable_values(binary, "nDCG@10")
    assert set(compared["tool"]) == set(binary[binary["value"].notna() & (binary["question"] == "")]["tool"])
    assert "trec_eval" in set(compared["tool"])
    assert not compared.duplicated(["tool", "reranker"]).any()


def test_grades_keep_tools_of_another_gain_apart():
    graded = [Doc(d, 5 - at, 2 * (at == 1) + (at == 2)) for at, d in enumerate("abcde")]
    compared = comparable_values(tool_values(runs(A=graded), "nDCG@10", ["A"]), "nDCG@10")
    assert set(compared["measure"]) == {"nDCG@10"}
    assert "trec_eval" not in set(compared["tool"])
