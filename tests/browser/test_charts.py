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


def test_every_chart_of_a_page_is_drawn_once(new_page):
    page = new_page("/guide")
    page.evaluate(WATCH_CHARTS)
    for title in (*DATA_PAGES.values(), "Guide"):
        go(page, title)
    assert page.evaluate("drawnAgain") == []
