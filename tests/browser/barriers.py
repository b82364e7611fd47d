"""What keeps a reader out of a page, as axe-core finds it."""

from axe_playwright_python.sync_playwright import Axe
from pages import settle
from playwright.sync_api import expect

GRAVE = ("serious", "critical")


def barriers(page, where):
    """Rule, element and what is wrong with it, for each serious or critical barrier.

    Axe judges colours only of what is inside the window: make it tall enough for the page before.
    """
    _stand_still(page)
    found = Axe().run(page).response["violations"]
    return [
        f"{where}: {one['id']} ({one['impact']}), {one['help']}: {node['html']}: {node['failureSummary']}"
        for one in found
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


def _stand_still(page):
    """Wait until fonts are there and nothing moves or fades, so that colours are those that stay."""
    page.mouse.move(0, 0)
    settle(page)
    if page.get_by_test_id("stSidebar").count():
        expect(page.get_by_test_id("stSidebarNavItems")).to_have_attribute("role", "none")
    page.evaluate(
        """async () => {
            await document.fonts.ready;
            await new Promise(requestAnimationFrame);
            const ends = one => Number.isFinite(one.effect.getComputedTiming().endTime);
            await Promise.allSettled(document.getAnimations().filter(ends).map(one => one.finished));
        }"""
    )
