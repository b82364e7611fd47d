"""The main story with the keyboard alone: data, the answer, the list that shows why, its orders."""

from pages import settle
from playwright.sync_api import expect

FOCUSED = """() => {
    const focused = document.activeElement;
    return focused.matches('a, button, input') ? focused.ariaLabel || focused.innerText : '';
}"""
FURTHEST = 80
"""Stops of the tab key on a page, at most."""
GRADES = "reranker,query_id,doc_id,score,relevance\n" + "".join(
    f"{name},q{query},d{place},{4 - (place + shift) // 2},{int(place == query)}\n"
    for name, shift in (("old", 0), ("new", 1))
    for query in range(4)
    for place in range(6)
)


def tab_to(page, words):
    """Press Tab until what has the focus is called so."""
    for _ in range(FURTHEST):
        page.keyboard.press("Tab")
        if words in page.evaluate(FOCUSED):
            return
    raise AssertionError(f"Tab does not reach {words!r}")


def press(page, words, title):
    """Reach what is called so, press Enter, and wait for the page of that title."""
    tab_to(page, words)
    page.keyboard.press("Enter")
    settle(page, title)


def expect_orders(page):
    """Expect the figure of all values of a list, and what they add up to."""
    expect(page.locator(".st-key-chart-permutations .js-plotly-plot")).to_be_visible()
    expect(page.get_by_test_id("stMain")).to_contain_text("The mean over")


def test_the_keyboard_leads_from_the_sample_by_the_leaderboard_to_the_orders_of_a_list(new_page):
    page = new_page()
    press(page, "Why: query q147 of MiniLM grade 0-10", "Queries")
    expect_orders(page)


def test_the_keyboard_drops_a_file_and_leads_to_its_answer_and_to_its_list(new_page, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(GRADES)
    page = new_page()
    press(page, "Drop your own", "Data")
    with page.expect_file_chooser() as chooser:
        tab_to(page, "Upload")
        page.keyboard.press("Enter")
    chooser.value.set_files(path)
    expect(page.get_by_test_id("stMain")).to_contain_text("grades.csv")
    press(page, "Leaderboard", "Leaderboard")
    expect(page.locator(".st-key-finding")).to_contain_text("old")
    press(page, "Why: ", "Queries")
    expect_orders(page)


def test_the_keyboard_opens_any_list_of_the_scatter(new_page):
    page = new_page("/ties")
    tab_to(page, "Open")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("q147")
    page.keyboard.press("Enter")
    settle(page)
    expect(page.locator(".st-key-chart-list-ladder .js-plotly-plot")).to_be_visible()
    press(page, "Open in Queries", "Queries")
    expect(page.locator(".st-key-finding")).to_contain_text("orders")
