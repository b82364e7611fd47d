"""Charts leave the page as files, from their own menu."""

import pytest
from pages import asking

BEGINS = {"SVG": b"<svg", "PNG": b"\x89PNG"}


@pytest.mark.parametrize("page_name", ["/", "/ties"])
def test_a_chart_is_saved_from_its_menu_without_a_run(new_page, page_name):
    page = new_page(page_name)
    asked = asking(page)
    asked.clear()
    plot = page.locator(".js-plotly-plot").first
    plot.hover()
    for kind, begin in BEGINS.items():
        with page.expect_download() as download:
            plot.locator(f'.modebar-btn[data-title="Save as {kind}"]').click()
        assert download.value.path().read_bytes().startswith(begin)
        assert download.value.suggested_filename.endswith(kind.lower())
    assert not asked
