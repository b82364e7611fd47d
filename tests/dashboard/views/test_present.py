"""The presentation: one sentence and one chart a slide, of the board and the measure shown."""

import re

import pytest
from boards import COARSE, EXTREMES, QRELS, STRICT, board
from opening import FILES, assert_sound, charts, only, opened, plain, title

from dashboard import cache
from dashboard.visitor import BROWSER_KEY


def sentence(page):
    return plain(only(page.header).value)


def test_the_slide_is_in_the_address_and_turns_by_a_button():
    page = opened("present", measure="AP", slide="3")
    assert sentence(page).startswith(":orange[The tie ratio predicts the gap moderately] (r = ")
    assert list(charts(page)) == ["slide-3"]
    page.button(key="turn-right").click().run()
    assert page.query_params.items() >= {"measure": "AP", "slide": "4"}.items()
    assert list(charts(page)) == ["slide-4"]
    assert re.search("p\u00a0[=\\\\<]+\u00a0", only(page.header).value), "no line ends within a p value"
    page.button(key="leave").click().run()
    assert only(page.title).value == "Share"
    assert page.query_params == {"measure": "AP"}


def test_slides_begin_with_one_list_and_each_names_what_is_compared_with_what():
    for slide in "1234":
        page = opened("present", slide=slide)
        (note,) = [plain(caption.value) for caption in page.caption if caption.value.startswith("MRR, 200")]
        assert ("The list with the largest gap" in note) == (slide == "1")
        assert (" compared with all orders" if slide == "1" else " against ") in note


def test_every_slide_fits_a_phone():
    page = opened("present", slide="1")
    page.session_state[BROWSER_KEY] = {"is_narrow": True}
    page.run()
    texts = [text for trace in charts(page)["slide-1"]["data"] for text in trace.get("text") or []]
    assert "rank 1 · 11% · <b>RR 1.000</b> · Hits@3 1" in texts
    page.segmented_control(key="slide").set_value("2").run()
    assert any("sideways-350" in part.proto.body for part in page.get("html"))
    notes = [note["text"] for note in charts(page)["slide-2"]["layout"]["annotations"]]
    assert notes[:2] == ["MiniLM int8", "MiniLM two decimals"], "names above bars"
    page.segmented_control(key="slide").set_value("3").run()
    assert {axis for axis in charts(page)["slide-3"]["layout"] if axis.startswith("xaxis")} == {
        *("xaxis", "xaxis2", "xaxis3", "xaxis4")
    }
    page.segmented_control(key="slide").set_value("4").run()
    notes = [note["text"] for note in charts(page)["slide-4"]["layout"]["annotations"]]
    assert "MiniLM int8" in notes
    assert "won · lost · equal" not in notes


def test_only_the_point_of_the_sentence_is_coloured_and_names_are_no_markup():
    page = opened("present", slide="2")
    assert only(page.header).value.startswith(
        ":orange[9 of 28 pairs change order] when ties are averaged, five of them significant"
    )
    assert only(page.header).value.count(":orange[") == 1


def test_a_measure_with_its_own_tie_rule_presents_the_measure_it_replaces():
    page = opened("present", measure="taRR")
    assert any(caption.value.startswith("MRR, 200 queries") for caption in page.caption)


def test_where_no_list_has_a_gap_the_first_slide_is_of_the_list_with_most_ties():
    label = cache.loaded_boards().add(EXTREMES["nothing relevant"]()).label
    page = opened("present", data=label)
    assert any("The list with most tied documents" in caption.value for caption in page.caption)


def test_one_reranker_is_not_compared_with_other_rerankers():
    page = opened("present", data=cache.loaded_boards().add(EXTREMES["all tied"]()).label, slide="3")
    assert any("grey: lists of all rerankers" in plain(caption.value) for caption in page.caption)


@pytest.mark.parametrize("name", EXTREMES)
def test_every_slide_of_an_odd_board_says_something(name):
    page = opened("present", data=cache.loaded_boards().add(EXTREMES[name]()).label)
    (provenance,) = [caption.value for caption in page.caption if caption.value.startswith("MRR, ")]
    assert provenance.partition("The list with ")[0].count("quer") == 1
    assert_sound(page)
    sentences = [sentence(page)]
    while not page.button(key="turn-right").disabled:
        page.button(key="turn-right").click().run()
        assert not page.exception
        assert_sound(page)
        is_named = any("the line is the mean gap" in caption.value for caption in page.caption)
        assert not (is_named and name == "one query"), "one list has no mean to draw"
        sentences.append(sentence(page))
    assert all(sentences)
    assert len(set(sentences)) == len(sentences)


def test_a_slide_that_is_kept_is_not_that_of_another_baseline():
    label = cache.loaded_boards().add(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS)).label
    for baseline in ("strict", "coarse"):
        page = opened("present", data=label, slide="4", baseline=baseline)
        captions = [plain(caption.value) for caption in page.caption]
        assert any(f"against {baseline}, sign flips" in text for text in captions)


PRESENTED = {"data": cache.SIMULATED_LABEL, "measure": "AP", "order": "docid_asc"}


def test_the_presentation_is_reached_from_share_and_at_its_address():
    page = opened("share", **PRESENTED)
    (link,) = page.get("page_link")
    assert (link.proto.label, link.proto.page) == ("Present", "present")
    page.switch_page(FILES["present"]).run()
    assert title(page) == "Present"
    assert list(charts(page)) == ["slide-1"]
    assert page.query_params.items() >= PRESENTED.items()
    assert title(opened("present", **PRESENTED)) == "Present"
