"""Ways of a visitor through the app."""

from playwright.sync_api import expect


def settle(page):
    """Wait until the page is drawn and nothing is running."""
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def quiet(page):
    """Wait until nothing has run for a second, as when all that follows a first drawing is over."""
    settle(page)
    page.evaluate(
        """() => new Promise(done => {
            let since = performance.now();
            const restart = () => { since = performance.now(); };
            const watch = new MutationObserver(restart);
            watch.observe(document.querySelector("[data-testid=stApp]"), { attributes: true });
            const look = () => {
                if (performance.now() - since < 1000) return requestAnimationFrame(look);
                watch.disconnect();
                done();
            };
            look();
        })"""
    )


def count_runs(page):
    """Count from now on how often the script runs, as `window.runs`."""
    page.evaluate(
        """() => {
            const app = document.querySelector("[data-testid=stApp]");
            window.runs = 0;
            new MutationObserver(() => {
                window.runs += app.getAttribute("data-test-script-state") === "running";
            }).observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
        }"""
    )


def upload(page, paths):
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(paths)


def go(page, name):
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
    expect(page.locator("h1")).to_have_text(name)
    settle(page)
