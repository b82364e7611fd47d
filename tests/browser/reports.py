"""What a report draws, and what Share hands out of it."""

from playwright.sync_api import expect

TITLE = "For you"
STARTS = {
    "Markdown": b"# For you",
    "LaTeX": b"% For you",
    "CSV": b"reranker,query_id",
    "Parquet": b"PAR1",
}
"""Each file beside the one that is previewed → how it begins."""


def charts(page):
    """Charts of a report, once each is drawn."""
    drawn_charts = page.locator(".chart")
    for chart in drawn_charts.all():
        expect(chart.locator(".main-svg").first).to_be_visible()
    return drawn_charts


def expect_handed_out(page):
    """Expect Share of that title to hand out the file that it previews, and every other."""
    page.get_by_text("Preview", exact=True).click()
    preview = "iframe[title='Preview of the report']"
    frame = page.frame_locator(preview)
    expect(frame.locator("h1")).to_have_text(TITLE)
    expect(charts(frame)).not_to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML").click()
    assert download.value.path().read_text(encoding="utf-8") == page.locator(preview).get_attribute("srcdoc")
    for name, start in STARTS.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=name).first.click()
        assert download.value.path().read_bytes().startswith(start)
