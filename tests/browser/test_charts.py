"""Charts as the browser draws them."""

from opening import DATA_PAGES
from pages import go

WATCH_CHARTS = """() => {
    window.drawnAgain = [];
    const watched = new Set();
    const watch = () => document.querySelectorAll(".js-plotly-plot").forEach((plot) => {
        if (watched.has(plot)) return;
        watched.add(plot);
        const name = `${document.title}: ${plot.closest("[aria-label]")?.getAttribute("aria-label")}`;
        let { width } = plot.layout;
        plot.on("plotly_beforeplot", () => {
            if (plot.layout.width === width) drawnAgain.push(name);
            width = plot.layout.width;
        });
    });
    new MutationObserver(watch).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""
"""Note each chart that comes and is plotted again in the same width."""
OVERFLOWING = """() => [...document.querySelectorAll(".js-plotly-plot")]
    .filter((plot) => "_redrawFromAutoMarginCount" in plot._fullLayout)
    .map((plot) => plot.closest("[aria-label]")?.getAttribute("aria-label"))"""
"""Charts whose margins were too small for the labels of their axes, so that plotly began them anew."""


def test_every_chart_of_a_page_is_drawn_once(new_page):
    page = new_page("/guide")
    page.evaluate(WATCH_CHARTS)
    overflowing = []
    for title in (*DATA_PAGES.values(), "Guide"):
        go(page, title)
        overflowing += page.evaluate(OVERFLOWING)
    assert page.evaluate("drawnAgain") == overflowing == []
