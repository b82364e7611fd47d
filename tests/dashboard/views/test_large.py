"""The page of large results: stored evaluations that the command opened, and no other file."""

import json
from itertools import pairwise

import pytest
import streamlit as st
from boards import COARSE, EXTREMES, QRELS, STRICT
from drawing import frame
from enumeration import Doc
from opening import APP, finding, only, opened, plain, table, texts, title
from streamlit import config
from streamlit.testing.v1 import AppTest

from dashboard import cache, settings
from dashboard.views import large
from dashboard.widgets.first_rows import FIRST_ROWS
from metrics import Runs, evaluate, read_runs
from metrics.scale.stored import Stored
from metrics.studies import prose
from metrics.studies.leaderboard import leaderboard, leaderboard_finding
from metrics.studies.pair_findings import verdicts
from metrics.studies.stored_summary import LEADERBOARD_TREATMENTS
from metrics.studies.swapped_orders import swapped_orders
from metrics.studies.verdict_sentence import leaderboard_verdict

PAGE = "large"
CODE = "tiescope app results.parquet"
TIES = ("input", "docid_desc", *LEADERBOARD_TREATMENTS)


@pytest.fixture
def runs(tmp_path):
    """A folder with two runs, their judgments, and the evaluation of both."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, text in {"strict.trec": STRICT, "coarse.trec": COARSE, "qrels.txt": QRELS}.items():
        (folder / name).write_text(text)
    files = [folder / "strict.trec", folder / "coarse.trec"]
    Stored.write(folder / "kept.parquet", [evaluate(read_runs(files, folder / "qrels.txt"), cache.MEASURES)])
    return folder


@pytest.fixture(autouse=True)
def server(monkeypatch, tmp_path):
    """Start a server anew with what its command named."""
    before = config.get_option("server.address")
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "home"))

    def start(*files):
        config.set_option("server.address", "127.0.0.1")
        opened_files = {"runs": [], "qrels": None, "stored": [str(file) for file in files]}
        monkeypatch.setenv(settings.OPEN, json.dumps(opened_files))

    start()
    monkeypatch.setenv(settings.OPEN, "")
    yield start
    config.set_option("server.address", before)


def shows(page, *rerankers):
    """Whether an evaluation of these rerankers is drawn."""
    rows = table(page, "All rerankers")
    assert set(rows.get("name", rows["reranker"])) == set(rerankers)
    return True


def shows_nothing(page):
    assert not page.get("plotly_chart")
    assert "Nothing is open" in texts(page)
    return True


def test_where_nothing_is_open_the_page_says_how_and_offers_no_path():
    page = opened(PAGE)
    assert shows_nothing(page)
    assert CODE in only(page.code).value
    assert not page.text_input


def test_a_stored_evaluation_that_the_command_named_is_what_the_app_opens_on(server, runs):
    server(runs / "kept.parquet")
    page = opened("leaderboard")  # by the address without a page
    assert title(page) == "Large results"
    assert shows(page, "strict", "coarse")
    assert page.selectbox(key="results").value == "kept.parquet"
    board = table(page, "All rerankers").set_index("reranker")
    means = evaluate(read_runs([runs / "coarse.trec"], runs / "qrels.txt"), "RR").means("RR").loc["coarse"]
    assert board.loc["coarse", "tied"] == pytest.approx(means["expected"], abs=1e-12)
    assert board.loc["coarse", "traditional"] == pytest.approx(means["input"], abs=1e-12)


@pytest.mark.parametrize("name", EXTREMES)
def test_the_page_shows_extreme_data(server, tmp_path, name):
    runs = EXTREMES[name]().runs
    Stored.write(tmp_path / "kept.parquet", [evaluate(runs, ["RR", "DCG"], TIES)])
    server(tmp_path / "kept.parquet")
    page = opened(PAGE, results_lists=runs.rerankers[-1])
    assert shows(page, *runs.rerankers)
    assert page.selectbox(key="results_lists").value == runs.rerankers[-1]
    page.segmented_control(key="results_measure").set_value("DCG").run()
    assert not page.exception


def test_a_link_brings_measure_order_and_reranker_along(server, runs):
    server(runs / "kept.parquet")
    page = opened(PAGE, results_measure="Hits@3", results_order="optimistic", results_lists="coarse")
    assert page.selectbox(key="results_measure").value == "Hits@3"
    assert page.selectbox(key="results_order").value == "optimistic"
    assert page.selectbox(key="results_lists").value == "coarse"
    page.selectbox(key="results_measure").set_value("AP").run()
    assert "MAP" in finding(page)


def test_choices_that_the_evaluation_lacks_fall_back(server, runs):
    server(runs / "kept.parquet")
    page = opened(PAGE, results_measure="ERR", results_order="random:7", results_lists="nobody", results="")
    assert page.selectbox(key="results_measure").value == "RR"
    assert page.selectbox(key="results_order").value == "input"
    assert shows(page, "strict", "coarse")


def test_a_link_opens_no_file_that_the_command_did_not_open(server, runs):
    server()
    for path in (runs / "kept.parquet", f"file://{runs}/kept.parquet"):
        page = opened(PAGE, results=str(path), path=str(path))
        assert shows_nothing(page)
        assert "cannot apply" in only(page.warning).value


def test_the_lists_with_the_largest_gap_are_named_largest_first(server, runs):
    server(runs / "kept.parquet")
    lists = table(opened(PAGE), "Lists with the largest gap")
    assert set(lists["reranker"]) == {"coarse"}
    assert all(abs(a) >= abs(b) for a, b in pairwise(lists["gap"]))
    assert lists["query_id"].str.startswith("q").all()


def test_several_files_are_chosen_by_name_even_where_names_are_alike(server, runs, tmp_path):
    Stored.write(tmp_path / "kept.parquet", [evaluate(read_runs([runs / "coarse.trec"], runs / "qrels.txt"))])
    server(runs / "kept.parquet", tmp_path / "kept.parquet")
    page = opened(PAGE)
    assert page.selectbox(key="results").options == ["kept.parquet", "kept.parquet (2)"]
    page.selectbox(key="results").set_value("kept.parquet (2)").run()
    assert shows(page, "coarse")


@pytest.mark.parametrize(
    ("ties", "advice"), [("input", "--ties expected"), (["expected", "optimistic", "pessimistic"], "")]
)
def test_an_evaluation_without_the_leaderboards_treatments_names_them(server, runs, ties, advice):
    runs_read = read_runs([runs / "coarse.trec"], runs / "qrels.txt")
    Stored.write(runs / "kept.parquet", [evaluate(runs_read, "RR", ties)])
    server(runs / "kept.parquet")
    page = opened(PAGE)
    assert [advice in plain(error.value) for error in page.error] == ([True] if advice else [])
    assert bool(page.get("plotly_chart")) != bool(advice)


def test_an_evaluation_without_a_scored_list_says_so(server, runs):
    nothing = read_runs([runs / "coarse.trec"], runs / "qrels.txt")
    Stored.write(runs / "kept.parquet", [evaluate(nothing, "RR", relevant_from=9, empty="skip")])
    server(runs / "kept.parquet")
    page = opened(PAGE)
    assert "No list is scored" in texts(page)


def test_a_file_that_is_gone_is_one_message(server, runs):
    server(runs / "kept.parquet")
    page = opened(PAGE)
    (runs / "kept.parquet").unlink()
    page.run()
    assert "kept.parquet: it is gone" in plain(only(page.error).value)
    assert not page.exception


def test_the_menu_has_large_results_only_where_one_is_open(server, runs, monkeypatch):
    visible = {}
    page_class = st.Page

    def note_page(path, **options):
        is_visible = options.get("visibility", "visible") == "visible"
        visible[options["title"]] = visible.get(options["title"], False) or is_visible
        return page_class(path, **options)

    monkeypatch.setattr(st, "Page", note_page)
    for files, is_there in (((), False), ((runs / "kept.parquet",), True)):
        server(*files)
        assert title(opened(PAGE)) == "Large results"
        assert visible.pop("Large results") == is_there


def test_large_results_alone_are_the_first_page(server, runs, monkeypatch):
    pages, page_class = [], st.Page

    def note_page(path, **options):
        pages.append(page_class(path, **options))
        return pages[-1]

    monkeypatch.setattr(st, "Page", note_page)
    server(runs / "kept.parquet")
    page = AppTest.from_file(str(APP), default_timeout=300).run()
    assert not page.exception
    assert title(page) == "Large results"
    addresses = {page.url_path: page.visibility for page in pages if page.title == "Large results"}
    assert addresses == {"": "visible", "large": "hidden"}


def test_a_stored_evaluation_that_is_uploaded_is_told_how_to_open(runs):
    page = opened("data")
    only(page.file_uploader).set_value(("kept.parquet", (runs / "kept.parquet").read_bytes(), "")).run()
    assert CODE in only(page.info).value
    assert not page.error


def has_none(page):
    """Whether a reranker without a list is in the table, without bounds, and named as not drawn."""
    rows = table(page, "All rerankers").set_index("reranker")
    assert rows.loc["none", "bounds"] == "–"
    assert rows.loc["strict", "bounds"] != "–"
    return any("no scored list" in text.value and "none" in text.value for text in page.caption)


def test_a_reranker_without_a_scored_list_is_in_the_table_and_not_drawn(server, runs):
    (runs / "none.trec").write_text("elsewhere Q0 d1 1 1 none\n")
    judged_runs = read_runs([runs / "strict.trec", runs / "none.trec"], runs / "qrels.txt")
    evaluation = evaluate(judged_runs, ["RR"], TIES, missing="skip", empty="skip")
    Stored.write(runs / "kept.parquet", [evaluation])
    server(runs / "kept.parquet")
    assert has_none(opened(PAGE))


def test_of_many_rerankers_the_first_are_drawn_and_all_are_in_the_table(server, tmp_path):
    lists = {f"r{n:03}": {"q": [Doc("a", 1, 1), Doc("b", 1, 0)]} for n in range(FIRST_ROWS + 2)}
    Stored.write(tmp_path / "kept.parquet", [evaluate(Runs.from_frame(frame(lists)), ["RR"], TIES)])
    server(tmp_path / "kept.parquet")
    page = opened(PAGE)
    assert shows(page, *lists)
    assert any("2 are left out" in text.value for text in page.caption)
    kinds = [node.type for node in page.main]
    assert kinds.index("dataframe") < kinds.index("plotly_chart")


def test_the_sentence_is_the_verdict_of_the_leaderboard_unless_there_are_too_many_lists(
    server, runs, monkeypatch
):
    server(runs / "kept.parquet")
    evaluation = Stored.open(runs / "kept.parquet").load()
    rows, swaps = leaderboard(evaluation, "RR", "input"), swapped_orders(evaluation, "RR", "input")
    verdict = leaderboard_verdict(rows, swaps, verdicts(evaluation, "RR", "input"), evaluation, "RR")
    assert finding(opened(PAGE)) == prose.plain(verdict).strip()
    monkeypatch.setattr(large, "_TESTED_LISTS", 0)
    assert finding(opened(PAGE)) == prose.plain(leaderboard_finding(rows, "MRR", "input")).strip()
