"""Share: targets, the file itself, and the command that makes the same."""

import json
import shlex
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
import streamlit as st
from boards import COARSE, QRELS, STRICT, board
from opening import finding, metrics, only, opened, texts

from dashboard import cache
from dashboard.charts.report import draw_charts
from dashboard.library.boards import BoardSpec, make_board
from dashboard.views import share
from dashboard.views.share import command, section_label
from metrics import read_runs
from metrics.report import ReportOptions, report
from metrics.runs import File, read
from metrics.studies.prose import plain

DAY = date(2026, 1, 30)


@pytest.fixture
def label():
    return cache.loaded_boards().add(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS)).label


def preview(page):
    if not page.toggle(key="preview").value:
        page.toggle(key="preview").set_value(True).run()
    (frame,) = page.get("iframe")
    return frame.proto.srcdoc


def test_the_preview_is_the_file_that_the_command_writes(label, write, call, tmp_path):
    arguments = [
        write("strict.trec", STRICT),
        write("coarse.trec", COARSE),
        "--qrels",
        write("qrels.txt", QRELS),
        *("--traditional", "docid_desc"),  # the order that TREC runs start with
    ]
    before, shown = datetime.now(UTC), preview(opened("share", data=label))
    path, dates = tmp_path / "report.html", {f"{day:%Y-%m-%d}" for day in (before, datetime.now(UTC))}
    (date,) = (day for day in dates if day in shown)  # midnight may pass meanwhile
    call("report", *arguments, "--date", date, "-o", path)
    assert shown == path.read_text(encoding="utf-8")


def test_a_chip_is_called_as_the_section_that_it_chooses():
    runs = board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS).runs
    for section in report(runs, sections=["tradeoffs"]).appendix:
        assert section_label(section.name) == section.title


def test_the_command_beside_the_buttons_says_every_choice(label):
    page = opened(
        "share",
        data=label,
        measure="AP",
        order="docid_desc",
        targets="MTRR>=0.3",
        title="a 'b'",
        missing="skip",
        unjudged="leave_out",
    )
    words = shlex.split(page.code[-1].value.replace("\\\n", " "))
    assert words[:4] == ["tiescope", "report", "strict.trec", "coarse.trec"]
    pairs = set(pairwise(words))
    assert {("--qrels", "qrels.txt"), ("-m", "AP"), ("--traditional", "docid_desc")} <= pairs
    assert {("-r", "RR>=0.3"), ("--title", "a 'b'"), ("--missing", "skip"), ("-o", "report.html")} <= pairs
    assert ("--unjudged", "leave_out") in pairs


def test_the_command_makes_the_same_report(write, call, tmp_path):
    new_board = board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS)
    for name, text in (("strict.trec", STRICT), ("coarse.trec", COARSE), ("qrels.txt", QRELS)):
        write(name, text)
    options = ReportOptions.of(
        measures=("nDCG@5", "RR"),
        traditional="pessimistic",
        baseline="coarse",
        targets=("RR>=baseline-0.1", "P@3>0.2"),
        targets_for="strict",
        title="it's",
        rerankers=("coarse", "strict"),
        sections=("targets", "scores"),
        files=tuple((file.name, file.sha256) for file in new_board.files),
        precision="float16",
        empty="skip",
        relevant_from=1,
    )
    words = [
        str(tmp_path / word) if (tmp_path / word).is_file() else word
        for word in shlex.split(command(new_board, options).replace("\\\n", " "))[1:]
    ]
    _, out, _ = call(*words[: words.index("-o")], "--date", DAY.isoformat())
    assert out == report(new_board.runs, **vars(options)).markdown(DAY)


def test_the_command_keeps_the_order_of_criteria_and_tie_breaks():
    options = ReportOptions.of(tiebreak_by=("second", "fresh"), criteria=("score", "cost:asc"))
    words = command(board(coarse_trec=COARSE, qrels_txt=QRELS), options).replace("\\\n", " ").split()
    assert [after for word, after in pairwise(words) if word == "--tiebreak-by"] == ["second", "fresh"]
    assert [after for word, after in pairwise(words) if word == "--criterion"] == ["score", "cost:asc"]


def test_columns_that_were_chosen_are_in_the_command():
    table = "topic,doc_id,score,relevance\nq,a,1,1\nq,b,1,0\n"
    spec = BoardSpec.of([File("t.csv", table.encode())]).with_columns(0, {"query_id": "topic"})
    new_board = make_board(spec, [read(spec.entries[0].file, {"query_id": "topic"})])
    assert "--column query_id=topic" in command(new_board, ReportOptions())


def test_rules_for_missing_scores_and_own_results_are_options_of_the_command():
    new_board = board(coarse_trec=COARSE, qrels_txt=QRELS)
    spec = new_board.spec.with_rule(0, "missing_score", "last").with_rule(0, "drop_self", "yes")
    words = command(replace(new_board, spec=spec), ReportOptions())
    assert "--missing-score last" in words
    assert "--drop-self" in words
    assert "--column" not in words


def test_targets_of_the_page_are_those_written_those_named_and_none_unless_set(label):
    for targets, n_targets in (("P@1>0.1, MTRR>=0.2", 2), ("retrieval", 12)):
        page = opened("share", data=label, targets=targets)
        assert metrics(page)["Targets met, tied"].endswith(f"of {n_targets}")
    page = opened("share", data=label)
    assert "Targets met, tied" not in metrics(page)
    assert 'id="targets"' not in preview(page)


def test_a_target_that_means_none_is_named_and_none_is_held(label):
    page = opened("share", data=label, targets="P@1>>0.1")
    assert "is not a target" in only(page.error).value
    assert "Targets met, tied" not in metrics(page)


def test_the_report_is_short_until_the_address_chooses_another(label):
    page = opened("share", data=label)
    assert 'id="summary"' in preview(page)
    assert 'id="scores"' not in preview(page)
    assert "--preset" not in page.code[-1].value
    assert not [element for element in page.get("button_group") if element.key == "sections"]
    page.segmented_control(key="preset").set_value("full").run()
    assert 'id="scores"' in preview(page)
    assert "--preset full" in page.code[-1].value
    assert page.query_params["preset"] == "full"


def test_a_page_without_preview_makes_no_report(label, monkeypatch):
    monkeypatch.setattr(share, "report", None)
    page = opened("share", data=label)
    assert not page.error
    assert not page.get("iframe")


def test_the_page_begins_with_the_conclusion_of_the_report(label):
    runs = board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS).runs
    assert finding(opened("share", data=label)) == plain(report(runs, traditional="docid_desc").conclusion)


def test_sections_chosen_are_those_of_the_file(label):
    page = opened("share", data=label, preset="full", sections=["targets"])
    assert preview(page).count("<section ") == 1


def test_the_page_tells_of_the_reranker_chosen(label):
    page = opened("share", data=label, targets="P@1>0.1", targets_for="coarse")
    assert any("coarse" in text.value and "target" in text.value for text in page.markdown)
    assert "--targets-for" in page.code[-1].value or "coarse" in preview(page)


def test_charts_of_the_file_are_the_same_whenever_they_are_drawn(tmp_path):
    (tmp_path / "strict.trec").write_text(STRICT)
    (tmp_path / "qrels.txt").write_text(QRELS)
    runs = [read_runs([tmp_path / "strict.trec"], tmp_path / "qrels.txt") for _ in range(2)]
    first, second = (draw_charts(report(one)) for one in runs)
    assert first.figures == second.figures


@pytest.mark.parametrize(
    ("host", "is_local"), [("127.0.0.1:8501", True), ("localhost", True), ("ties.example.org", False)]
)
def test_links_that_open_on_this_computer_only_say_so_in_the_sidebar_on_the_page_and_when_copied(
    label, monkeypatch, host, is_local
):
    monkeypatch.setattr(type(st.context), "url", f"http://{host}/share")
    page = opened("share", data=label)
    buttons = [data for one in page.get("bidi_component") if "text" in (data := json.loads(one.proto.json))]
    assert {data["label"]: data["is_local"] for data in buttons} == {"Copy": is_local, "Copy link": is_local}
    assert texts(page, "caption").count("on this computer only") == 2 * is_local  # in the sidebar, on the page
