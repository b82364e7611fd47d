"""Every page runs on whatever data there is."""

import json

import pytest
from boards import EXTREMES, board
from opening import (
    APP,
    DATA_PAGES,
    FILES,
    FINDING_PAGES,
    assert_sound,
    finding,
    opened,
    table,
    texts,
    title,
)

from dashboard import cache


def unexplained(page):
    """The cards and columns of a page that have no tooltip."""
    columns = [
        (settings.get("label") or name, settings.get("help"))
        for frame in page.dataframe
        for name, settings in json.loads(frame.proto.columns or "{}").items()
        if name in frame.proto.column_order
    ]
    return [
        label
        for label, tooltip in [*((card.label, card.proto.help) for card in page.metric), *columns]
        if not tooltip
    ]


def test_every_folder_of_a_page_is_in_the_navigation():
    views = APP.parent / "views"
    files = {path for path in views.rglob("*.py") if path.stem == path.parent.name or path.parent == views}
    files.discard(views / "__init__.py")
    assert {APP.parent / file for file in FILES.values()} == files


@pytest.mark.parametrize("view", FINDING_PAGES)
def test_view_opens_on_the_sample_data(view):
    page = opened(view)
    assert title(page) == DATA_PAGES[view]
    assert finding(page)
    assert "lightbulb" in texts(page)
    assert unexplained(page) == []


CHOICES_ON_EXTREME_DATA = {"audit": {"table": "file-order"}}
WITHOUT_DATA = {"Notebook", "LLM rerankers"}
"""Sections that do not depend on the data, beside those of the Guide: they are opened on the first board."""


def sections(page):
    """The sections of a page of which it shows one at a time, but for that it shows: key and name of each."""
    return [
        (control.key, name)
        for control in page.main.get("segmented_control")
        if control.proto.label_visibility.value and control.key != "measure"
        for name in control.options
        if name != control.value
    ]


@pytest.mark.parametrize("view", FINDING_PAGES)
@pytest.mark.parametrize("name", EXTREMES)
def test_every_page_and_section_shows_extreme_data(view, name):
    label = cache.loaded_boards().add(EXTREMES[name]()).label
    page = opened(view, data=label, **CHOICES_ON_EXTREME_DATA.get(view, {}))
    assert page.selectbox(key="data").value == label
    assert finding(page)
    assert_sound(page)
    for key, section in sections(page) if view != "guide" else []:
        if section in WITHOUT_DATA and name != next(iter(EXTREMES)):
            continue
        page.segmented_control(key=key).set_value(section).run()
        assert not page.exception
        assert title(page) == DATA_PAGES[view]
        assert_sound(page)


@pytest.mark.parametrize("view", FINDING_PAGES)
def test_values_of_a_hundred_digits_are_written_as_powers_of_ten(view):
    label = cache.loaded_boards().add(EXTREMES["grades up to ten thousand"]()).label
    choices = CHOICES_ON_EXTREME_DATA.get(view, {})
    page = opened(view, data=label, measure="DCG", **choices)
    assert finding(page)
    assert_sound(page)


@pytest.mark.parametrize("view", FINDING_PAGES)
def test_an_empty_choice_in_a_link_falls_back(view):
    label = cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label
    empty = dict.fromkeys(("measure", "first", "second", "lists", "sort", "query", "reranker", "order"), "")
    page = opened(view, data=label, **empty, **CHOICES_ON_EXTREME_DATA.get(view, {}))
    assert finding(page)


def test_other_data_starts_with_all_its_rerankers():
    names = ("a query without rows", "two rerankers with ties")
    labels = [cache.loaded_boards().add(EXTREMES[name]()).label for name in names]
    page = opened("leaderboard", data=labels[0])
    page.session_state["_known_data"] = labels
    page.run()
    page.selectbox(key="data").set_value(labels[1]).run()
    assert len(table(page, "All rerankers")) == 2


def test_the_app_opens_on_real_runs_and_offers_the_simulated_ones():
    page = opened("leaderboard")
    assert page.selectbox(key="data").value == cache.SAMPLE_LABEL
    assert page.selectbox(key="data").options == list(cache.SAMPLES)
    assert "Sample data: one model stored in six number formats" in texts(page)
    page.button(key="drop-data").click().run()
    assert title(page) == "Data"


def test_five_measures_are_in_sight_and_the_others_a_click_away():
    page = opened("leaderboard")
    assert page.segmented_control(key="measure").options == list(cache.OFFERED)
    rest = page.pills(key="_further_measure")
    assert {*rest.options, *cache.OFFERED} == set(cache.MEASURES)
    rest.set_value("P@10").run()
    assert page.segmented_control(key="measure").value == "P@10"
    assert page.query_params == {"measure": "P@10"}


def test_the_best_of_the_sample_by_file_order_is_seventh_by_its_ties():
    rows = table(opened("leaderboard"), "All rerankers").set_index("reranker")
    assert rows["traditional"].idxmax() == "MiniLM grade 0-10"
    assert rows["tied"].rank(ascending=False)["MiniLM grade 0-10"] == 7


def test_choosing_other_data_keeps_no_reranker_that_it_lacks():
    label = cache.loaded_boards().add(EXTREMES["a query without rows"]()).label
    page = opened("query", data=label)
    assert page.selectbox(key="reranker").value == "coarse"
    page.selectbox(key="data").set_value(cache.SAMPLE_LABEL).run()
    assert not page.exception
    assert page.selectbox(key="reranker").value == "MiniLM bfloat16"


def test_a_reranker_without_a_scored_list_leaves_the_leaderboard_drawn():
    columns = "query_id,doc_id,score,relevance\n"
    mine = board(a_csv=f"{columns}q1,d1,1,1\nq1,d2,1,0\n", none_csv=f"{columns}q1,d1,1,0\n")
    page = opened("leaderboard", data=cache.loaded_boards().add(mine).label, empty="skip")
    assert finding(page)
    assert any("none" in text.value for text in page.caption if "without a list" in text.value)


def test_the_deviation_of_a_share_is_in_percent_as_the_share_is():
    rows = table(opened("rerankers", data=cache.SIMULATED_LABEL, section="Summary table"), "Summary table")
    assert rows["tie_ratio"].between(1, 100).all()
    assert rows["tie_ratio_std"].between(1, 100).all()
