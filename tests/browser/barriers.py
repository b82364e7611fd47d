"""What keeps a reader out of a page, as axe-core finds it."""

from axe_playwright_python.base import AXE_SCRIPT
from pages import settle
from playwright.sync_api import expect

GRAVE = ("moderate", "serious", "critical")
VIOLATIONS = """([within, grave]) => {
    const mild = axe._audit.rules.filter(rule => rule.impact && !grave.includes(rule.impact));
    const rules = Object.fromEntries(mild.map(rule => [rule.id, {enabled: false}]));
    return axe.run(within ?? document, {resultTypes: ['violations'], preload: false, rules})
        .then(results => results.violations);
}"""
"""Rules whose impact is said to be mild find nothing grave. What is fetched before is for sounds and films."""


def barriers(page, place, within=None):
    """Return rule, element and problem of each moderate, serious or critical barrier.

    Axe judges colors only of what is inside the window: make it tall enough for the page before.

    Args:
        page: the page, in any state.
        place: what it is called in what is returned.
        within: selector of the part to judge; None judges the page.
    """
    _stand_still(page)
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    violations = page.evaluate(VIOLATIONS, [within, GRAVE])
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
            const ends = animation => Number.isFinite(animation.effect.getComputedTiming().endTime)
                && animation.effect.target.checkVisibility();  // what is folded away stands still for ever
            const ending = document.getAnimations().filter(ends);
            await Promise.allSettled(ending.map(animation => animation.finished));
        }"""
    )
