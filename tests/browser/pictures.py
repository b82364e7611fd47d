"""A page as it looks: light on a desk, dark on a phone."""

from pathlib import Path

from barriers import barriers
from opening import PRESENTATION
from pages import DESK, set_scheme, settle
from playwright.sync_api import expect

SHOTS = Path(__file__).parent / "shots"
PHONE = {"width": 390, "height": 844}
README_PAGE = "leaderboard"
"""Its first screen, light and dark, down to the chart of places, is README's picture."""
README_SIZE = {"width": 1440, "height": 1300}
TALLEST = 5000
REPEATED_TICKS = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot =>
  Object.entries(plot._fullLayout).filter(([name, axis]) => /^[xy]axis/.test(name) && axis._vals)
    .map(([name, axis]) => [name, axis._vals.map(tick => tick.text)])
    .filter(([, texts]) => new Set(texts).size < texts.length)
    .map(([name, texts]) => `${name} of ${plot.closest('[class*=st-key-]')?.className}: ${texts}`))"""
"""Axes of charts on which two ticks have one label."""
CUT_LABELS = """() => [...document.querySelectorAll('[data-testid=stMetricLabel] *, .stMarkdownBadge')]
  .filter(label => label.scrollWidth > label.clientWidth + 1 && getComputedStyle(label).overflow == 'hidden')
  .map(label => label.innerText)"""
"""Labels and notes of cards that end in an ellipsis."""
LOOKS = {
    "light": ("light", DESK),
    "phone": ("light", PHONE),
    "dark": ("dark", DESK),
    "dark-phone": ("dark", PHONE),
}


def take_picture(page, name):
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def judge_look(page, name, look):
    """Take the page's picture in a look; return what scrolls sideways or keeps a reader out.

    Both themes have the same elements, and both widths the same colors, so a light page on a desk and a dark
    one on a phone judge every rule on every element but the sidebar, which a phone folds away: one page is
    judged in each of `LOOKS`, all pages when slow tests are asked for. A theme is dear to change, a width is
    not. The page ends as wide as a desk.
    """
    scheme, size = LOOKS[look]
    set_scheme(page, scheme)
    page.set_viewport_size(size)
    settle(page)
    expect(page.get_by_test_id("stMetric")).to_have_count(0 if name.partition("-")[0] == PRESENTATION else 4)
    if size == PHONE:
        expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    sideways = page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")
    if (name, size) == (README_PAGE, DESK):
        page.set_viewport_size(README_SIZE)
        take_picture(page, f"first-screen-{look}")
    height = page.get_by_test_id("stMainBlockContainer").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": min(height, TALLEST)})
    problems = barriers(page, f"{name}, {look}")
    take_picture(page, f"{name}-{look}")
    page.set_viewport_size(DESK)
    problems += [f"{name}, {look}: ticks repeat, {axis}" for axis in page.evaluate(REPEATED_TICKS)]
    problems += [f"{name}, {look}: label cut, {label}" for label in page.evaluate(CUT_LABELS)]
    return problems + [f"{name}, {look}: {sideways} pixels scroll sideways"] * (sideways > 1)
