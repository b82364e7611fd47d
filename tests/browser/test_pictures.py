"""Charts leave the page as files, from their own menu."""

import pytest


@pytest.mark.parametrize(
    ("page_name", "kind", "begin"),
    [
        ("/", "SVG", b"<svg"),
        ("/", "PNG", b"\x89PNG"),
        ("/ties", "PNG", b"\x89PNG"),
    ],
)
def test_a_chart_is_saved_from_its_menu(new_page, page_name, kind, begin):
    page = new_page(page_name)
    plot = page.locator(".js-plotly-plot").first
    plot.hover()
    ran = page.get_by_test_id("stApp").get_attribute("data-test-script-state")
    with page.expect_download() as download:
        plot.locator(f'.modebar-btn[data-title="Save as {kind}"]').click()
    assert download.value.path().read_bytes().startswith(begin)
    assert download.value.suggested_filename.endswith(kind.lower())
    assert page.get_by_test_id("stApp").get_attribute("data-test-script-state") == ran
