"""What keeps a reader out of a page, as axe-core finds it."""

from axe_playwright_python.sync_playwright import Axe
from pages import settle
from playwright.sync_api import expect

GRAVE = ("serious", "critical")
OPTIONS = {"resultTypes": ["violations"], "rules": {"region": {"enabled": False}}}
"""The rule on regions takes an eighth of the time, and what it finds is moderate."""


def barriers(page, place, within=None):
    """Return rule, element and problem of each serious or critical barrier.

    Axe judges colors only of what is inside the window: make it tall enough for the page before.

    Args:
        page: the page, in any state.
        place: what it is called in what is returned.
        within: selector of the part to judge; None judges the page.
    """
    _stand_still(page)
    violations = Axe().run(page, within, OPTIONS).response["violations"]
    return [
        f"{place}: {rule['id']} ({rule['impact']}), {rule['help']}: {node['html']}: {node['failureSummary']}"
        for rule in violations
        if rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]


def _stand_still(page):
    """Wait until fonts are there and nothing moves or fades, so that colors are those that stay."""
    page.mouse.move(0, 0)
    if page.get_by_test_id("stApp").count():
        settle(page)
    if page.get_by_test_id("stSidebar").count():
        expect(page.get_by_test_id("stSidebarNavItems")).to_have_attribute("role", "none")
    page.evaluate(
        """async () => {
            await document.fonts.ready;
            await new Promise(requestAnimationFrame);
            const ends = animation => Number.isFinite(animation.effect.getComputedTiming().endTime);
            const ending = document.getAnimations().filter(ends);
            await Promise.allSettled(ending.map(animation => animation.finished));
        }"""
    )
