"""A stored evaluation opened by its path on the server: its page, light and as on a phone in the dark."""

from pictures import judge_looks
from playwright.sync_api import expect

from dashboard import cache
from metrics import evaluate
from metrics.scale.stored import Stored


def test_a_path_opens_and_its_page_neither_scrolls_sideways_nor_has_a_serious_barrier(new_page, folder):
    ties = ("input", "expected", "optimistic", "pessimistic")
    Stored.write(folder / "sample.parquet", [evaluate(cache.sample_board().runs, ["RR", "nDCG@10"], ties)])
    page = new_page("/large")
    page.get_by_label("Path on the server").fill("sample.parquet")
    page.get_by_label("Path on the server").press("Enter")
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(4)
    assert judge_looks(page, "large") == []
