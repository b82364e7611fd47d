import pytest
from drawing import frame as drawn
from enumeration import Doc

from metrics import Runs
from metrics.studies.prose import plain
from metrics.studies.tools.tool_comparison import by_tool, tool_finding, tool_values
from metrics.studies.tools.tools import emulate

TIED = [Doc(name, 1, int(name == "b")) for name in "cabde"]
STRICT = [Doc(name, 5 - at, int(name == "b")) for at, name in enumerate("cabde")]


def runs(**lists):
    return Runs.from_frame(drawn({name: {"q": one} for name, one in lists.items()}))


def test_values_are_those_of_the_emulation_in_the_order_of_the_rerankers():
    tied_runs = runs(A=TIED, B=STRICT)
    values = tool_values(tied_runs, "RR", ["B", "A"])
    assert values["reranker"].unique().tolist() == ["B", "A"]
    expected = emulate(tied_runs, ["RR"]).set_index(["tool", "reranker"])["value"]
    assert values.set_index(["tool", "reranker"])["value"].to_dict() == expected.to_dict()


def test_ndcg_is_asked_with_both_gains():
    assert set(tool_values(runs(A=TIED), "nDCG@10", ["A"])["measure"]) == {"nDCG@10", "nDCG-linear@10"}


def test_a_reranker_left_out_is_not_in_the_table():
    assert set(tool_values(runs(A=TIED, B=STRICT), "RR", ["A"])["reranker"]) == {"A"}


def test_a_tool_has_one_row_with_a_column_a_reranker_and_a_reason():
    values = tool_values(runs(A=TIED, B=STRICT), "RR", ["A", "B"])
    table = by_tool(values)
    assert table.columns.to_list() == ["tool", "spelling", "A", "B", "why"]
    assert table["tool"].is_unique
    row = table.set_index("tool").loc["trec_eval"]
    assert (row["A"], row["B"]) == (1 / 4, 1 / 3)
    assert row["why"]


def test_the_finding_names_the_reranker_and_tools_that_are_farthest_apart():
    sentence = plain(tool_finding(tool_values(runs(A=STRICT, B=TIED), "RR", ["A", "B"]), "RR"))
    assert sentence.startswith("The same file gives B RR 0.2500 in trec_eval and 0.3333 in")


def test_the_finding_says_whether_tools_name_the_same_leader():
    third, fourth = ([Doc(d, 5 - at, int(at == place)) for at, d in enumerate("abcde")] for place in (2, 3))
    last = [Doc(d, 5 - at, int(d == "e")) for at, d in enumerate("abcde")]

    def finding_of(lists):
        drawn_runs = Runs.from_frame(
            drawn({"A": {"q": TIED, "r": TIED}, "B": dict(zip("qr", lists, strict=True))})
        )
        return plain(tool_finding(tool_values(drawn_runs, "RR", ["A", "B"]), "RR"))

    assert finding_of([last, last]).endswith("All name the same leader.")
    assert finding_of([third, fourth]).endswith("They name 2 different leaders.")


@pytest.mark.parametrize("measure", ["RR", "Hits@1", "AP"])
def test_the_finding_says_when_every_tool_agrees(measure):
    assert "Every tool says the same" in plain(
        tool_finding(tool_values(runs(A=STRICT), measure, ["A"]), measure)
    )


def test_a_measure_no_tool_has_is_said_to_have_none():
    values = tool_values(runs(A=TIED), "TsRR", ["A"])
    assert not len(values)
    assert "No two tools" in plain(tool_finding(values, "TsRR"))
