"""The address holds every choice that is not the default, and says what it asks for in vain."""

import pytest
from boards import COARSE, QRELS, STRICT, board
from libraries import keep_as
from opening import FILES, finding, metrics, only, opened, table, texts
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy

from dashboard import cache


@pytest.fixture
def two_grades():
    """A board on which the choices about scoring change values: a query without rows, and grades 1 and 2."""
    qrels = QRELS.replace(" 1\n", " 2\n", 1) + "unanswered 0 d1 1\n"
    return cache.loaded_boards().add(board(a_trec=STRICT, qrels_txt=qrels))


def test_each_run_sends_the_chosen_option_as_a_browser_may_skip_the_first_run():
    page = opened("leaderboard").run()
    for key, option in (("measure", "RR"), ("section", "Scores")):
        sent = page.segmented_control(key=key).proto
        assert (sent.set_value, list(sent.raw_values)) == (True, [option])


def test_the_address_names_the_choices_of_the_sidebar_and_of_its_page(two_grades):
    page = opened("leaderboard", data=two_grades.label)
    page.selectbox(key="relevant_from").set_value(2.0).run()
    page.segmented_control(key="missing").set_value("skip").run()
    page.segmented_control(key="measure").set_value("AP").run()
    page.segmented_control(key="unjudged").set_value("leave_out").run()
    sidebar = {"relevant_from": "2", "missing": "skip", "unjudged": "leave_out"}
    for view, own in (("guide", {}), ("rerankers", {"measure": "AP"})):
        page.query_params = {}  # the browser opens a page of the menu at its bare address
        page.switch_page(FILES[view]).run()
        assert page.query_params == {"data": page.query_params["data"]} | sidebar | own
    other = opened("rerankers", **page.query_params)
    assert metrics(other) == metrics(page)
    assert other.query_params == page.query_params


def test_choices_that_came_by_a_link_stay_on_the_next_pages_of_the_menu():
    page = opened("leaderboard", data=cache.SIMULATED_LABEL, measure="nDCG@10", relevant_from="2", depth="10")
    for view in ("guide", "rerankers", "compare"):
        page.query_params = {}  # the browser opens a page of the menu at its bare address
        page.switch_page(FILES[view]).run()
    assert page.segmented_control(key="measure").value == "nDCG@10"
    page.segmented_control(key="section").set_value("Trade-offs").run()
    assert page.segmented_control(key="depth").value == "10"
    assert page.query_params.items() >= {"measure": "nDCG@10", "relevant_from": "2", "depth": "10"}.items()


def test_a_link_inside_the_app_sets_controls_that_were_set_otherwise_before():
    page = opened("compare", data=cache.SIMULATED_LABEL, section="Stability", measure="AP")
    page.query_params = {"data": cache.SIMULATED_LABEL, "measure": "nDCG@10", "section": "Pairs that swap"}
    page.switch_page(FILES["leaderboard"]).run()
    assert page.segmented_control(key="measure").value == "nDCG@10"
    assert page.segmented_control(key="section").value == "Pairs that swap"


def test_pages_keep_their_section_and_only_they_name_one_in_the_address():
    page = opened("compare", data=cache.SIMULATED_LABEL, section="Stability")
    for view, section in (("guide", "One minute"), ("leaderboard", "Scores")):
        page.query_params = {}  # the browser opens a page of the menu at its bare address
        page.switch_page(FILES[view]).run()
        assert page.segmented_control(key="section").value == section
        assert not page.warning
        assert "section" not in page.query_params
    page.segmented_control(key="section").set_value("Other tools").run()
    page.query_params = {}
    page.switch_page(FILES["compare"]).run()
    assert page.segmented_control(key="section").value == page.query_params["section"] == "Stability"
    page.segmented_control(key="section").set_value("Against the baseline").run()
    assert "section" not in page.query_params
    page.segmented_control(key="section").set_value("Trade-offs").run()
    page.query_params = {}
    page.switch_page(FILES["ties"]).run()
    assert "section" not in page.query_params


def test_a_default_that_moved_leaves_the_choice_in_the_address():
    page = opened("query", data=cache.SIMULATED_LABEL)
    query = page.selectbox(key="query").value
    page.selectbox(key="reranker").set_value("GPT-4 (Low Ties)").run()
    assert page.selectbox(key="query").value == query
    assert not page.selectbox(key="query").options[0].startswith(query)
    assert page.query_params["query"] == query


def test_a_link_from_before_a_rename_still_shows_the_board(library):
    record = keep_as(library, board(a_trec=STRICT, qrels_txt=QRELS), name="Before")
    library.rename(record.id, "After")
    page = opened("leaderboard", data=record.label)
    assert page.query_params == {"data": record.id}
    again = opened("leaderboard", **page.query_params)
    assert again.selectbox(key="data").value == f"After · {record.id}"
    assert table(again, "All rerankers").equals(table(page, "All rerankers"))
    assert not again.warning


def test_a_board_that_is_not_here_is_said_on_every_page_and_after_a_refresh():
    page = opened("leaderboard", data="Gone · 12345678")
    assert page.query_params == {"data": "12345678"}
    page.query_params = {}
    page.switch_page("views/rerankers.py").run()
    again = opened("rerankers", **page.query_params)
    for shown in (page, again):
        assert "12345678, which is not on this server" in shown.warning[0].value.replace("\\", "")
    assert again.selectbox(key="data").value is None
    assert not [*again.get("code"), *again.dataframe, *again.get("plotly_chart")]
    again.selectbox(key="data").set_value(cache.SIMULATED_LABEL).run()
    assert not again.warning
    assert again.query_params == {"data": cache.SIMULATED_LABEL}


def test_a_view_that_was_saved_and_left_again_is_not_what_the_address_opens(library):
    settings = {"order": "input", "measure": "AP", "relevant_from": 2.0, "unjudged": "leave_out"}
    record = keep_as(library, board(a_trec=STRICT, qrels_txt=QRELS), view=settings)
    page = opened("leaderboard", data=record.id)
    assert page.segmented_control(key="measure").value == "AP"
    page.selectbox(key="order").set_value(cache.TRADITIONAL[0]).run()
    page.segmented_control(key="measure").set_value(cache.MEASURES[0]).run()
    page.selectbox(key="relevant_from").set_value(1.0).run()
    assert page.segmented_control(key="unjudged").value == "leave_out"
    page.segmented_control(key="unjudged").set_value("nonrelevant").run()
    other = opened("leaderboard", **page.query_params)
    assert finding(other) == finding(page)
    assert other.selectbox(key="order").value == cache.TRADITIONAL[0]


def test_a_default_chosen_after_a_view_was_saved_is_in_the_address(library):
    record = library.keep(board(a_trec=STRICT, qrels_txt=QRELS))
    page = opened("leaderboard", data=record.id, measure="AP")
    page.switch_page(FILES["data"]).run()
    page.button(key="save-view").click().run()
    page.switch_page(FILES["leaderboard"]).run()
    page.segmented_control(key="measure").set_value("RR").run()
    assert page.query_params == {"data": record.id, "measure": "RR"}
    assert opened("leaderboard", data=record.id).segmented_control(key="measure").value == "AP"


WRONG = {
    "order": "docid_dsc",
    "rerankers": "nonexistent",
    "reranker": "nobody",
    "query": "doesnotexist",
    "relevant_from": "inf",
    "missing": "",
    "unjudged": "zero",
}


def test_unknown_values_of_an_address_are_named_once_and_removed():
    page = opened("query", data=cache.SAMPLE_LABEL, measure="AP", **WRONG)
    (line,) = (warning.value.replace("\\", "") for warning in page.warning)
    assert [f"{key}={text}" for key, text in WRONG.items() if f"{key}={text}" not in line] == []
    page.run()
    assert not page.warning
    assert page.query_params == {"measure": "AP"}


def test_an_unknown_value_of_a_later_control_is_named_when_it_is_drawn():
    page = opened("compare", data=cache.SIMULATED_LABEL, depth="7")
    assert not page.warning
    page.segmented_control(key="section").set_value("Trade-offs").run()
    assert "depth=7" in only(page.warning).value


def test_the_address_is_written_again_where_the_browser_may_still_receive_an_earlier_one(monkeypatch):
    page, written = opened("guide"), []
    monkeypatch.setattr(QueryParamsProxy, "from_dict", lambda _, address: written.append(address))
    for order in ("docid_asc", "input"):
        page.selectbox(key="order").set_value(order).run()
    assert written == [{"order": ["docid_asc"]}, {}]
    page.run()
    assert len(written) == 2


@pytest.mark.parametrize("choice", [{"measure": "AP"}, {"relevant_from": "2"}, {"order": "bogus"}])
def test_a_link_without_a_known_tie_order_opens_trec_runs_in_trec_eval_s(two_grades, choice):
    page = opened("leaderboard", data=two_grades.label, **choice)
    assert page.selectbox(key="order").value == "docid_desc"
    assert "order" not in page.query_params
    warnings = [warning.value.replace("\\", "") for warning in page.warning]
    unknown = "order=bogus. The tie order is trec_eval: id, descending."
    assert [unknown in warning for warning in warnings] == [True] * ("order" in choice)


def test_trec_runs_start_with_trec_eval_s_order_and_other_files_with_their_own(library):
    runs = {"a_trec": STRICT, "b_trec": COARSE, "qrels_txt": QRELS}
    csv = {"c_csv": "query_id,doc_id,score\nq0,d0,1\n", "qrels_txt": QRELS}
    boards = [board(**files) for files in (runs, csv, runs | csv)]
    assert [loaded.runs.tie_order for loaded in boards] == ["docid_desc", "input", "input"]
    record = library.keep(boards[0])
    page = opened("leaderboard", data=record.id)
    order = page.selectbox(key="order")
    assert (order.value, order.options[:2]) == ("docid_desc", ["file order", "trec_eval: id, descending"])
    assert "Default for TREC runs: trec_eval's order." in texts(page, "caption")
    order.set_value("input").run()
    other = opened("leaderboard", **page.query_params)
    first, by_link, now = (
        table(shown, "All rerankers")["traditional"].tolist()
        for shown in (opened("leaderboard", data=record.id), other, page)
    )
    assert first != by_link == now


def test_a_chosen_tie_order_stays_on_other_boards_a_default_one_does_not(library):
    record = library.keep(board(a_trec=STRICT, b_trec=COARSE, qrels_txt=QRELS))
    page = opened("leaderboard", data=record.id)
    page.selectbox(key="data").set_value(cache.SAMPLE_LABEL).run()
    assert page.selectbox(key="order").value == "input"
    page.selectbox(key="data").set_value(record.label).run()
    assert page.selectbox(key="order").value == "docid_desc"
    page.selectbox(key="order").set_value("docid_asc").run()
    for label in (cache.SAMPLE_LABEL, record.label):
        page.selectbox(key="data").set_value(label).run()
        assert page.selectbox(key="order").value == page.query_params["order"] == "docid_asc"
