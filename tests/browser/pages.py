"""Ways of a visitor through the app."""

from contextlib import contextmanager

from playwright.sync_api import expect

from dashboard.charts.palette import theme_palette

PATIENCE = 60_000
"""Milliseconds that a slow machine beside other work may take for anything."""
DESK = {"width": 1440, "height": 1000}
LIGHT_RUNS = "/data?data=Sample%3A+simulated+rerankers"
"""The Runs page where it is quickly drawn: for tests of what is dropped there."""
SETTLED = """title => {
    const head = document.querySelector('h1'), app = document.querySelector('[data-testid=stApp]');
    return head?.checkVisibility() && (title === null || head.innerText === title)
        && app?.dataset.testScriptState === 'notRunning' && document.fonts.status === 'loaded'
        && !document.querySelector('[data-testid=stSkeleton]');
}"""
"""Asked as each picture is drawn; `expect` asks up to a second late."""
THEMED = """ground => [...document.querySelectorAll('[data-testid=stApp] style')]
    .some(style => style.textContent.includes(`--ground: ${ground}`))"""
"""Whether the app's own styles are those of the theme of that background."""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Wait until the page has been drawn: a table takes what is typed as it draws, and Enter what it took."""


@contextmanager
def opened_profile(browser, server):
    """A browser profile: it fetches the files of the app once, and its process stays."""
    with browser.new_context(viewport=DESK, reduced_motion="reduce") as context:
        context.set_default_timeout(PATIENCE)
        context.new_page().goto(f"{server}/_stcore/health")
        yield context


def settle(page, title=None):
    """Wait until the page, of that title where one is given, is drawn and nothing is running."""
    page.wait_for_function(SETTLED, arg=title)
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def set_scheme(page, scheme):
    """Prefer light or dark, and wait until the app is drawn in it."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(THEMED, arg=theme_palette(scheme).ground)
    settle(page)


def upload(page, paths):
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(paths)


def go(page, name):
    if name == "Present":  # Share leads there, the menu does not
        go(page, "Share")
        page.get_by_test_id("stMain").get_by_role("link", name=name).click()
        settle(page, name)
        return
    menu = page.get_by_test_id("stSidebarNav")
    if not menu.is_visible():
        page.keyboard.press("Escape")  # a presentation has no menu
    link = menu.get_by_role("link", name=name, exact=True)
    if link.bounding_box()["x"] < 0:  # a phone folds the menu away, out of where a mouse can reach
        link.dispatch_event("click")
    else:
        link.click()
    settle(page, name)


def retype(page, text):
    """Type over what the open cell of a table holds, and leave it."""
    field = page.locator("#portal").get_by_role("textbox")
    expect(field).to_be_focused()
    page.evaluate(TWO_FRAMES)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)
    expect(field).to_have_value(text)
    page.evaluate(TWO_FRAMES)
    page.keyboard.press("Enter")
    expect(field).to_have_count(0)
