"""Addresses and keys of version 0.2: each opens the page and the section where what it showed is now."""

import pytest
from boards import COARSE, QRELS, board
from opening import FILES, PAGES, charts, opened, title

from dashboard import cache

SETTINGS = {"data": cache.SIMULATED_LABEL, "measure": "AP", "order": "docid_asc"}


def section(page):
    """The section that a page shows, none where it has no sections."""
    return next((control.value for control in page.main.get("button_group") if control.key == "section"), None)


@pytest.mark.parametrize(
    ("address", "page", "name"),
    [
        ("runs", "data", "Files"),
        ("library", "data", "Library"),
        ("report", "share", None),
        ("significance", "compare", "Against the baseline"),
        ("robustness", "compare", "Noise"),
        ("tradeoffs", "compare", "Trade-offs"),
    ],
)
def test_an_address_leads_on_to_its_page_and_section_with_its_settings(address, page, name):
    new_page = opened(address, **SETTINGS)
    assert title(new_page) == PAGES[page]
    assert section(new_page) == name
    assert new_page.query_params.items() >= SETTINGS.items()
    assert not new_page.warning


def test_settings_of_the_library_and_of_the_report_are_set_on_their_new_pages(library):
    record = library.keep(board(coarse_trec=COARSE, qrels_txt=QRELS))
    uploads = opened("library", data=record.id, find="coarse")
    assert uploads.text_input(key="find").value == "coarse"
    report = opened("report", title="My title", preset="full")
    assert report.text_input(key="title").value == "My title"
    assert "--preset full" in report.code[-1].value


@pytest.mark.parametrize(
    ("page", "key", "name", "now"),
    [
        ("rerankers", "part", "Against the baseline", {"section": "Query groups"}),
        ("rerankers", "part", "Who copies whom", {"opened": "GPT-4 (Low Ties)"}),
    ],
)
def test_a_part_of_a_page_is_a_section_now(page, key, name, now):
    settings = {"data": cache.SIMULATED_LABEL, "order": "docid_asc"}
    new_page = opened(page, **settings, **{key: name})
    assert section(new_page) == now.get("section", "Scores")
    assert new_page.query_params == settings | now
    assert not new_page.warning


def test_the_presentation_is_reached_from_share_and_at_its_address():
    page = opened("share", **SETTINGS)
    (link,) = page.get("page_link")
    assert (link.proto.label, link.proto.page) == ("Present", "present")
    page.switch_page(FILES["present"]).run()
    assert title(page) == "Present"
    assert list(charts(page)) == ["slide-1"]
    assert page.query_params.items() >= SETTINGS.items()
    assert title(opened("present", **SETTINGS)) == "Present"
