"""Findings of one kind, said once of all runs that they are true of."""

import pandas as pd

from metrics.runs.findings import KINDS, as_frame, group_findings, make_finding


def half(name, n_docs, file=None, prefix=""):
    message = f"{prefix}float16 holds each of the {n_docs} distinct scores exactly."
    return make_finding("half-precision", file or f"{name}.trec", message, count=n_docs)


def test_eight_runs_with_scores_in_half_precision_are_one_group_that_counts_them():
    findings = as_frame([half(f"run{number}", number) for number in range(8)])
    (group,) = group_findings(findings, [f"run{number}" for number in range(8)])
    assert (group.severity, group.code) == ("info", "half-precision")
    assert f"{group.subject}: {group.title}" == "8 runs: scores in half precision."
    assert [line.count for line in group.lines] == [7, 6, 5, 4, 3, 2, 1, 0]  # what concerns most comes first


def test_messages_that_are_equal_but_for_the_reranker_are_one_line_with_all_names():
    findings = as_frame(
        [
            half("b: odd", 5, "t.csv", "b: odd: "),
            half("a", 5, "t.csv", "a: "),
            half("b", 4, "t.csv", "b: "),
        ]
    )
    (group,) = group_findings(findings, ["a", "b", "b: odd"])
    assert [line.names for line in group.lines] == [("b: odd", "a"), ("b",)]
    assert group.lines[0].message == "float16 holds each of the 5 distinct scores exactly."
    assert [line.place for line in group.lines] == ["", "t.csv"]


def test_a_single_finding_keeps_its_message_and_its_place():
    findings = as_frame([make_finding("infinite", "t.csv", "bge: 3 documents.", line=7, count=3)])
    (group,) = group_findings(findings, ["bge"])
    assert (group.subject, group.title, group.lines[0].place) == ("bge", "3 documents.", "t.csv, line 7")


def test_findings_of_one_kind_and_two_severities_are_apart_the_gravest_first():
    shares = [("a", None), ("b", "warning")]
    findings = as_frame(
        [make_finding("unjudged", f"{name}.trec", "Some.", severity=severity) for name, severity in shares]
    )
    groups = group_findings(findings, ["a", "b"])
    assert [(group.severity, group.subject) for group in groups] == [("warning", "b.trec"), ("info", "a.trec")]


def test_no_findings_make_no_group_and_every_kind_says_what_its_findings_share():
    assert group_findings(as_frame([]), ["a"]) == []
    assert group_findings(pd.DataFrame(as_frame([])), []) == []
    titles = [kind.title for kind in KINDS]
    assert all(titles)
    assert len(set(titles)) == len(titles)


def test_a_finding_on_parquet_names_its_row():
    findings = as_frame([make_finding("infinite", f"t.{suffix}", "", line=3) for suffix in ("parquet", "csv")])
    assert [group_findings(findings[at : at + 1], [])[0].lines[0].place for at in (0, 1)] == ["row 3", "line 3"]
