import pandas as pd
import pytest

from metrics.runs.findings import KINDS, Finding, as_frame, make_finding


def test_a_finding_is_as_grave_as_its_kind_and_has_its_hint():
    finding = make_finding("queries-missing", "llm.trec", "3 of 43 judged queries have no rows.")
    kind = next(kind for kind in KINDS if kind.code == "queries-missing")
    assert finding == Finding(
        "warning", "queries-missing", "llm.trec", None, "3 of 43 judged queries have no rows.", kind.hint, 1
    )


def test_severity_and_hint_can_be_said():
    finding = make_finding("unjudged", "f", "m", line=3, count=2, hint="h", severity="warning")
    assert finding == Finding("warning", "unjudged", "f", 3, "m", "h", 2)


def test_a_code_that_is_no_kind_is_refused():
    with pytest.raises(KeyError, match="nonsense"):
        make_finding("nonsense", "f", "m")


def test_the_table_has_a_column_for_each_attribute():
    columns = ["severity", "code", "file", "line", "message", "hint", "count"]
    assert as_frame([]).columns.to_list() == columns
    assert as_frame([make_finding("unreadable", "f", "m")]).columns.to_list() == columns


@pytest.mark.parametrize(
    "findings", [[], [make_finding("comments", "f", "m", line=2, count=3)]], ids=["none", "one"]
)
def test_lines_and_counts_are_whole_numbers(findings):
    types = as_frame(findings).dtypes
    assert (str(types["line"]), str(types["count"])) == ("Int64", "int64")


def test_a_line_that_cannot_be_named_is_missing():
    assert as_frame([make_finding("comments", "f", "m")])["line"].to_list() == [pd.NA]


def test_the_gravest_comes_first_and_equals_stay_as_they_were():
    codes = ["comments", "few-decimals", "no-overlap", "graded", "saturated", "unreadable"]
    frame = as_frame([make_finding(code, "f", "m") for code in codes])
    assert frame["code"].to_list() == [
        *("no-overlap", "unreadable"),
        *("few-decimals", "saturated"),
        *("comments", "graded"),
    ]
