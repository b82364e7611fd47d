import hashlib
import io

import pandas as pd
import pytest
from boards import COARSE, HOSTILE, QRELS, STRICT

DAY = ("--date", "2026-01-30", "--traditional", "input")
VALUES_ALONE = ("--section", "scores")
SHORT = ("--preset", "short")
"""Of a report in CSV or Parquet, which holds the values of each list whatever is written beside."""


@pytest.fixture
def run_and_qrels(write):
    return [write("strict.trec", STRICT), write("coarse.trec", COARSE), "--qrels", write("qrels.txt", QRELS)]


def test_a_published_table_is_audited_and_its_file_hashed(call, run_and_qrels, write):
    rows = "| strict | 70.83 | 1 |\n| coarse | 50.00 | 2 |\n| other | 60.00 | 3 |\n"
    table = write("table.md", f"| run | MRR | BLEU |\n|---|---|---|\n{rows}")
    code, out, err = call("report", *run_and_qrels, *DAY, "--preset", "short", "--published", table)
    assert (code, err) == (0, "")
    assert "## Audit" in out
    assert "only pair with different published means" in out
    assert "Percentages were divided by 100: MRR." in out
    assert "Left out because no name matches: reranker 'other'; measure 'BLEU'." in out
    full = call("report", *run_and_qrels, *DAY, "--section", "method", "--published", table)[1]
    assert "table.md" in full


def test_markdown_is_printed_where_no_file_is_named(call, run_and_qrels):
    code, out, err = call("report", *run_and_qrels, *DAY)
    assert code == 0
    assert out.startswith("# Effect of ties on 2 rerankers\n\n> **")
    assert "\n2 rerankers on 4 queries. Made on 2026-01-30" in out
    assert err == ""


@pytest.mark.parametrize(
    ("ending", "start", "options"),
    [
        ("html", b"<!DOCTYPE html>", ()),
        ("md", b"# Effect of ties", SHORT),
        ("tex", b"% Effect of ties", SHORT),
        ("csv", b"reranker,query_id", VALUES_ALONE),
        ("parquet", b"PAR1", VALUES_ALONE),
    ],
)
def test_the_suffix_chooses_the_format_and_equal_inputs_give_equal_bytes(
    call, run_and_qrels, tmp_path, ending, start, options
):
    path, other = tmp_path / f"report.{ending}", tmp_path / f"other.{ending}"
    assert call("report", *run_and_qrels, *DAY, *options, "-o", path) == (0, "", "")
    assert path.read_bytes().startswith(start)
    call("report", *run_and_qrels, *DAY, *options, "-o", other)
    assert path.read_bytes() == other.read_bytes()


def test_csv_and_parquet_hold_the_same_values_list_by_list(call, run_and_qrels, tmp_path):
    for ending in ("csv", "parquet"):
        call("report", *run_and_qrels, *VALUES_ALONE, "-o", tmp_path / f"all.{ending}")
    text = pd.read_csv(tmp_path / "all.csv")
    typed = pd.read_parquet(tmp_path / "all.parquet")
    assert len(typed) == 8
    pd.testing.assert_frame_equal(text, typed, check_dtype=False, rtol=0, atol=0)


def test_a_query_that_begins_as_a_formula_is_a_text_in_csv(call, write, tmp_path):
    call("report", write("hostile.csv", HOSTILE), *VALUES_ALONE, "-o", tmp_path / "all.csv")
    assert set(pd.read_csv(io.BytesIO((tmp_path / "all.csv").read_bytes()))["query_id"]) == {
        "'=q<i>0",
        "'=q<i>1",
    }


def test_another_ending_is_refused_by_the_right_ones(call, run_and_qrels, tmp_path):
    code, _, err = call("report", *run_and_qrels, "-o", tmp_path / "report.pdf")
    assert code == 2
    assert "a report ends in .html, .md, .tex, .csv, .parquet" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "none"], "'none' is not a preset"),
        (["-r", "RR>>1"], "is not a target"),
        (["--baseline", "none"], "no reranker 'none'"),
        (["--traditional", "std"], "std does not order ties"),
        (["--section", "none"], "'none' is not a section"),
        (["--test", "none"], "no test 'none'"),
        (["-o", "/nowhere/at/all/report.md"], "cannot be written"),
    ],
)
def test_what_cannot_be_reported_exits_with_2(call, run_and_qrels, arguments, message):
    code, _, err = call("report", *run_and_qrels, *arguments)
    assert code == 2
    assert message in " ".join(err.split())


def test_presets_say_how_much_is_told_and_name_ready_targets(call, run_and_qrels):
    _, out, _ = call("report", *run_and_qrels, *DAY, "--preset", "short", "--preset", "retrieval")
    headings = [line for line in out.splitlines() if line.startswith("## ")]
    assert headings == ["## Summary", "## Pairs that swap", "## Method in brief", "## Targets"]
    assert "| P@3 > 0.8 |" in out


def test_the_hash_of_every_file_is_told(call, run_and_qrels):
    _, out, _ = call("report", *run_and_qrels, "--section", "method")
    for text in (STRICT, COARSE, QRELS):
        assert hashlib.sha256(text.encode()).hexdigest() in out
