"""A page as it looks: light on a desk, dark on a phone."""

import os
from contextlib import suppress
from pathlib import Path

from barriers import barriers
from opening import PRESENTATION
from pages import DESK, set_scheme, settle
from playwright.sync_api import Error, expect

SHOTS = Path(__file__).parent / "shots"
ARE_LOOKED_AT = "PYTEST_XDIST_WORKER" not in os.environ
"""Pictures are for a person, who asks for them by running browser tests alone, not by all tests at once."""
PHONE = {"width": 390, "height": 844}
README_PAGE = "leaderboard"
"""Its first screen, light and dark, down to the chart of places, is README's picture."""
README_SIZE = {"width": 1440, "height": 1140}
TALLEST = 5000
REPEATED_TICKS = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot =>
  Object.entries(plot._fullLayout).filter(([name, axis]) => /^[xy]axis/.test(name) && axis._vals)
    .map(([name, axis]) => [name, axis._vals.map(tick => tick.text)])
    .filter(([, texts]) => new Set(texts).size < texts.length)
    .map(([name, texts]) => `${name} of ${plot.closest('[class*=st-key-]')?.className}: ${texts}`))"""
"""Axes of charts on which two ticks have one label."""
CUT_LABELS = """() => [...document.querySelectorAll('.stMetric, .stMetric *, .stMarkdownBadge')]
  .filter(label => label.scrollWidth > label.clientWidth + 1
    && (label.matches('.stMetric') || getComputedStyle(label).overflow == 'hidden'))
  .map(label => label.innerText)"""
"""Labels and notes of cards, and badges, that end in an ellipsis; cards that something sticks out of."""
WATCH_CHARTS = """() => {
    window.drawnAgain = [];
    const watched = new Set();
    const watch = () => document.querySelectorAll(".js-plotly-plot").forEach((plot) => {
        if (watched.has(plot)) return;
        watched.add(plot);
        const name = `${document.title}: ${plot.closest("[aria-label]")?.getAttribute("aria-label")}`;
        let width = null;
        plot.on("plotly_afterplot", () => { width = plot._fullLayout.width; });
        plot.on("plotly_beforeplot", () => {
            if (width !== null && (plot.layout.width ?? width) === width) drawnAgain.push(name);
        });
    });
    new MutationObserver(watch).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""
"""Note each chart that comes and is plotted again in the same width."""
OVERFLOWING = """() => [...document.querySelectorAll('.js-plotly-plot')]
  .filter(plot => '_redrawFromAutoMarginCount' in plot._fullLayout)
  .map(plot => plot.closest('[aria-label]')?.getAttribute('aria-label'))"""
"""Charts whose margins were too small for the labels of their axes, so that plotly began them anew."""
MISFITS = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const sideways = main.scrollWidth - main.clientWidth;
    const charts = [...main.querySelectorAll('.js-plotly-plot')].filter(plot => plot.checkVisibility());
    return charts.map(plot => [
        plot.closest('[aria-label]')?.ariaLabel, plot._fullLayout?.width,
        plot.closest('[data-testid=stElementContainer]').clientWidth,
    ]).filter(([name, width, place]) => width !== place)
        .map(([name, width, place]) => `chart ${width} pixels wide in ${place}, ${name}`)
        .concat(sideways > 1 ? [`${sideways} pixels scroll sideways`] : []);
}"""
"""Charts not drawn in the width of their places, and by how much the page is wider than its window."""
COVERED = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => {
    const icons = [...plot.querySelectorAll('.modebar-btn svg')].map(icon => icon.getBoundingClientRect());
    const covers = ({left, right, top, bottom}) => icons.some(icon =>
        icon.left < right && left < icon.right && icon.top < bottom && top < icon.bottom);
    return [...plot.querySelectorAll('.main-svg text')]
        .filter(text => covers(text.getBoundingClientRect())).map(text => text.textContent);
})"""
"""Texts of charts behind the buttons that a chart shows on hover."""
LOOKS = {
    "light": ("light", DESK),
    "phone": ("light", PHONE),
    "dark": ("dark", DESK),
    "dark-phone": ("dark", PHONE),
}


def take_picture(page, name, *size):
    """Take a picture of the window, or of so much of it: width, height; if anybody looks at it."""
    if not ARE_LOOKED_AT:
        return
    SHOTS.mkdir(exist_ok=True)
    clip = dict(zip(("x", "y", "width", "height"), (0, 0, *size), strict=True)) if size else None
    page.screenshot(path=SHOTS / f"{name}.png", clip=clip)


def misfits(page):
    """Return what of a page does not fit, once the sidebar and all charts have followed the window's width."""
    with suppress(Error):
        page.wait_for_function(f"({MISFITS})().length === 0")
        return []
    return page.evaluate(MISFITS)


def judge_look(page, name, look, *, is_section=False):
    """Take the page's picture in a look; return what scrolls sideways or keeps a reader out.

    Both themes have the same elements, and both widths the same colors, so a light page on a desk and a dark
    one on a phone judge every rule on every element but the sidebar, which a phone folds away: one page is
    judged in each of `LOOKS`, all pages when slow tests are asked for. A theme is dear to change, and so is a
    width, in which all charts are drawn again: the page stays in the look, in a window as tall as pages get.
    """
    scheme, size = LOOKS[look]
    set_scheme(page, scheme)
    is_slide = name.partition("-")[0] == PRESENTATION
    page.set_viewport_size(size if is_slide else size | {"height": TALLEST})
    settle(page)
    if not is_section:
        expect(page.locator(".st-key-finding")).to_have_count(0 if is_slide else 1)
    sidebar = page.get_by_test_id("stSidebar")
    if size == PHONE:
        expect(sidebar).not_to_be_in_viewport()
    elif not is_slide:
        expect(sidebar).to_be_in_viewport(ratio=1)
    problems = [f"{name}, {look}: {misfit}" for misfit in misfits(page)] + barriers(page, f"{name}, {look}")
    height = page.get_by_test_id("stMainBlockContainer").evaluate("main => main.scrollHeight")
    take_picture(page, f"{name}-{look}", size["width"], min(height, TALLEST))
    if ARE_LOOKED_AT and (name, size) == (README_PAGE, DESK):
        page.set_viewport_size(README_SIZE)
        page.evaluate("document.activeElement.blur()")
        take_picture(page, f"first-screen-{look}")
    problems += [f"{name}, {look}: ticks repeat, {axis}" for axis in page.evaluate(REPEATED_TICKS)]
    problems += [f"{name}, {look}: label cut, {label}" for label in page.evaluate(CUT_LABELS)]
    if size == DESK:
        problems += [f"{name}, {look}: margins too small, {chart}" for chart in page.evaluate(OVERFLOWING)]
        problems += [f"{name}, {look}: buttons cover, {text}" for text in page.evaluate(COVERED)]
    return problems
