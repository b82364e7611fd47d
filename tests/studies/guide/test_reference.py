import pytest

from metrics import MEASURES, TOOLS, TREATMENTS
from metrics.studies.guide.reference import family_measures, measure_table, tool_rules, treatment_table
from metrics.ties import JOINT_BOUNDS


def test_every_measure_is_of_one_kind():
    kinds = {measure.family.kind for measure in MEASURES}
    names = [measure.name for kind in kinds for measure in family_measures(kind)]
    assert sorted(names) == sorted(measure.name for measure in MEASURES)


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
    assert {(rule.treatment, rule.why, rule.cases_without_number) for rule in tool.rules.values()} == {
        (rule.treatment, rule.why, rule.cases) for rule in rules
    }
    names = ", ".join(rule.measures for rule in rules).split(", ")
    measures = [
        measure for name in names for measure in ([name[:-4], f"{name[:-4]}@k"] if "[" in name else [name])
    ]
    assert sorted(measures) == sorted(tool.rules)


def test_the_treatment_table_has_every_treatment_the_draw_and_noise():
    names = [treatment.name for treatment in (*TREATMENTS, *JOINT_BOUNDS)]
    assert list(treatment_table()["treatment"]) == [*names, "random:SEED", "noise:SIGMA"]
