"""Time the app as a visitor meets it, in Chromium: python tests/benchmarks/in_browser.py.

Prints a table of medians and their targets. A click is timed inside the page, from the press of the mouse to
the frame that shows the chart plotted with other content; a page switch, to the frame with all its charts.
`--only` names parts: start, sample, large, upload, memory. `--repeats` says how often each is done.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import files
from playwright.sync_api import sync_playwright
from visitor import PAINTED, free_port, redrawn, serving, switched, visiting

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
from chromium import find

MEASURES = ("RR@10", "AP", "nDCG@10", "P@10", "R@10", "Hits@1", "Hits@3", "Hits@5", "Hits@10", "RR")
PAGES = ("Leaderboard", "Ties vs gap", "Rerankers", "Query explorer", "Trade-offs", "Guide", "Runs")
CLICKED = dict.fromkeys(PAGES[:4], MEASURES) | {"Trade-offs": ("10", "50", "5", "20")}
"""Pages, and what is clicked on each in turn: measures, or how deep targets are counted."""


def start(browser, repeats, *, reuse_browser):
    """From the command to the chart of the leaderboard, in a browser that knows the app or has nothing kept."""
    port = free_port()
    context = browser.new_context()
    for turn in range(repeats + reuse_browser):
        begin = time.perf_counter()
        with serving(port=port) as server:
            page = context.new_page()
            page.goto(server.address)
            page.locator(PAINTED).first.wait_for()
            if turn >= reuse_browser:
                yield time.perf_counter() - begin
            page.close()
        if not reuse_browser:
            context.close()
            context = browser.new_context()
    context.close()


def clicks(page, repeats):
    """Seconds of each click on a measure, by page; for the first ten, nothing was drawn before."""
    seconds_by_page = {}
    for name, options in CLICKED.items():
        switched(page, name)
        turns = islice(cycle(options), repeats)
        seconds_by_page[name] = [redrawn(page, partial(control, page, option)) for option in turns]
    return seconds_by_page


def control(page, option):
    """What is clicked to ask for an option."""
    if page.locator("h1").inner_text() != "Ties vs gap":
        return page.get_by_role("radio", name=option, exact=True).first
    page.get_by_role("combobox", name="First measure").click()
    return page.get_by_role("option", name=option, exact=True)


def switches(page, repeats):
    """Seconds of each switch to each page, by page; all of them were visited before."""
    for name in PAGES:
        switched(page, name)
    rounds = [[switched(page, name) for name in PAGES] for _ in range(repeats)]
    return dict(zip(PAGES, zip(*rounds, strict=True), strict=True))


def upload(browser, server, run, qrels, number):
    """From the drop of two files the server has never seen to their leaderboard."""
    other = run.with_name(f"dropped-{number}.trec")
    other.write_bytes(run.read_bytes().replace(b" bench\n", b" b%04d\n" % number))
    with visiting(browser, server.address, "/runs") as page:
        page.get_by_test_id("stFileUploaderDropzoneInput").wait_for(state="attached")
        page.locator("[data-test-script-state=notRunning]").wait_for()
        begin = time.perf_counter()
        page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([other, qrels])
        page.get_by_text("1 run and judgments").wait_for()
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Leaderboard").click()
        page.locator(PAINTED).first.wait_for()
        page.get_by_text("of 10,000", exact=False).first.wait_for()
        seconds = time.perf_counter() - begin
    other.unlink()
    return seconds


def memory(browser, run, qrels, sessions):
    """Megabytes of the server after each session that opened the files, saw every page and left."""
    with serving() as server:
        for _ in range(sessions):
            with visiting(browser, server.address, "/runs") as page:
                page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([run, qrels])
                page.get_by_text("1 run and judgments").wait_for()
                for name in PAGES:
                    switched(page, name)
            yield server.megabytes()


def by_page(label, seconds_by_page, target):
    """A row for all of it, and one for each page."""
    all_seconds = [one for seconds in seconds_by_page.values() for one in seconds]
    yield label, all_seconds, target
    for name, seconds in seconds_by_page.items():
        yield f"  {name}", seconds, target


def measured(browser, folder, arguments):
    """Rows of the table: what, figures, target."""
    if "start" in arguments.only:
        yield "command to leaderboard, s", list(start(browser, arguments.repeats, reuse_browser=True)), 2.5
        yield "  in a new browser, s", list(start(browser, arguments.repeats, reuse_browser=False)), 2.5
    if "sample" in arguments.only:
        with serving() as server, visiting(browser, server.address) as page:
            page.locator(PAINTED).first.wait_for()
            yield from by_page("click to chart, sample, s", clicks(page, arguments.repeats), 0.3)
            yield from by_page("page switch, sample, s", switches(page, arguments.repeats), 0.4)
    if not {"large", "upload", "memory"} & set(arguments.only):
        return
    run, qrels = files.write(folder, 10_000, 100)
    if "large" in arguments.only:
        with serving(str(run), "--qrels", str(qrels)) as server, visiting(browser, server.address) as page:
            page.locator(PAINTED).first.wait_for()
            yield from by_page("click to chart, 1,000,000 rows, s", clicks(page, arguments.repeats), 0.6)
            yield from by_page("page switch, 1,000,000 rows, s", switches(page, arguments.repeats), None)
    if "upload" in arguments.only:
        with serving() as server:
            seconds = [upload(browser, server, run, qrels, at) for at in range(arguments.repeats)]
        yield "upload of 1,000,000 rows to leaderboard, s", seconds, 4
    if "memory" in arguments.only:
        megabytes = list(memory(browser, run, qrels, 5))
        yield "server with it, after one session, MB", megabytes[:1], 700
        yield "  after five sessions", megabytes[-1:], 700
        yield "  more than after the third", [megabytes[-1] - megabytes[2]], 10


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=10)
    options.add_argument("--only", nargs="+", default=["start", "sample", "large", "upload", "memory"])
    arguments = options.parse_args()
    print(f"medians of {arguments.repeats}; load of the machine before: {os.getloadavg()[0]:.1f}")
    print(f"{'what':44}{'median':>9}{'worst':>9}{'target':>9}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["TIESCOPE_HOME"] = f"{folder}/home"  # never what a user keeps
        path = find()
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for label, figures, target in measured(browser, Path(folder), arguments):
            target_text = f"{target:9.2f}" if target else ""
            print(f"{label:44}{statistics.median(figures):9.3f}{max(figures):9.3f}{target_text}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
