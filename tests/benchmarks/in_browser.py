"""Time the app as a visitor meets it, in Chromium: python tests/benchmarks/in_browser.py.

Prints a table of medians beside those of a bare Streamlit app with one chart, their ratios, and goals. What is
compared is done in turn, so that other work on the machine slows both; CPU is the ratio of the seconds that
server and browser computed together. A click is timed inside the page, from the press of the mouse to the frame
that shows the chart plotted with other content; a page switch, to the frame with all its charts. `--only` names
parts: start, sample, large, upload, memory, idle. `--repeats` says how often each is done.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from math import nan
from pathlib import Path
from typing import NamedTuple

import files
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
from chromium import find
from servers import free_port
from visitor import BARE, PAINTED, Server, quiet, redrawn, serving, switched, visiting

MEASURES = ("AP", "nDCG@10", "R@10", "Hits@10", "RR")
PAGES = ("Leaderboard", "Ties vs gap", "Rerankers", "Queries", "Compare", "Guide", "Data")
PARTS = ("start", "sample", "large", "upload", "memory", "idle")
FORGOTTEN = 25
"""Seconds after which a page that was closed is forgotten: see `disconnectedSessionTTL`."""
CLICKED = PAGES[:5]
"""Pages on which measures are clicked, one after the other."""


class Timings(NamedTuple):
    """What was measured of the app, and in turn with it of the bare one: pairs of seconds and CPU seconds."""

    ours: list[tuple[float, float]]
    bare: list[tuple[float, float]]

    def ratios(self):
        """Of the medians: of seconds, and of CPU seconds."""
        ours, bare = (list(map(statistics.median, zip(*pairs, strict=True))) for pairs in self)
        return [one / other if other else nan for one, other in zip(ours, bare, strict=True)]


class Visit(NamedTuple):
    """A page of a server, open in a browser."""

    page: Page
    server: Server

    def timed(self, action):
        """Seconds that `action` returns, and what server and browser computed in the meantime."""
        processes = self.page.context.browser.new_browser_cdp_session()

        def cpu_seconds():
            told = processes.send("SystemInfo.getProcessInfo")["processInfo"]
            return self.server.cpu_seconds() + sum(process["cpuTime"] for process in told)

        quiet(self.page)
        before = cpu_seconds()
        seconds = action(self.page)
        cpu = cpu_seconds() - before
        processes.detach()
        return seconds, cpu


def start(browser, repeats, script):
    """From the command to the first chart, of the app and of the bare one, in browsers that know them."""
    timings = Timings([], [])
    browsers = [(browser.new_context(), free_port()) for _ in timings]
    for turn in range(repeats + 1):
        for seconds, (context, port), path in zip(timings, browsers, (None, script), strict=True):
            begin = time.perf_counter()
            with serving(port=port, script=path) as server:
                page = context.new_page()
                page.goto(server.address)
                page.locator(PAINTED).first.wait_for()
                if turn:
                    seconds.append((time.perf_counter() - begin, server.cpu_seconds()))
                page.close()
    for context, _ in browsers:
        context.close()
    return timings


def clicks(ours, bare, repeats):
    """Timings of clicks, by page that has a chart of the data; for the first five, nothing was drawn before."""
    timings_by_page = {}
    switched(bare.page, "One")
    letters = cycle("bcdea")
    measures = cycle(MEASURES)  # not the last one again, which pages share: nothing would be drawn
    for name in CLICKED:
        switched(ours.page, name)
        if not ours.page.get_by_test_id("stPlotlyChart").count():
            continue
        timings = timings_by_page[name] = Timings([], [])
        for _ in range(repeats):
            measure = partial(ours.page.get_by_role, "radio", name=next(measures), exact=True)
            timings.ours.append(ours.timed(partial(redrawn, control=measure)))
            radio = partial(bare.page.locator("label").filter, has_text=re.compile(f"^{next(letters)}$"))
            timings.bare.append(bare.timed(partial(redrawn, control=radio)))
    return timings_by_page


def switches(ours, bare, repeats):
    """Timings of switches to each page, by page; all of them were visited before."""
    for name in PAGES:
        switched(ours.page, name)
    timings_by_page = {name: Timings([], []) for name in PAGES}
    bare_names = cycle(("Two", "One"))
    for _ in range(repeats):
        for name, timings in timings_by_page.items():
            timings.ours.append(ours.timed(partial(switched, name=name)))
            timings.bare.append(bare.timed(partial(switched, name=next(bare_names))))
    return timings_by_page


def idle(browser, seconds, pages=10):
    """Per cent of a core that the server uses while so many pages are open that nobody touches."""
    with serving() as server, ExitStack() as stack:
        for _ in range(pages):
            page = stack.enter_context(visiting(browser, server.address))
            page.locator(PAINTED).first.wait_for()
            quiet(page)
        before = server.cpu_seconds()
        time.sleep(seconds)
        return 100 * (server.cpu_seconds() - before) / seconds


def upload(browser, server, run, qrels, number):
    """From the drop of two files the server has never seen to their leaderboard."""
    other = run.with_name(f"dropped-{number}.trec")
    other.write_bytes(run.read_bytes().replace(b" bench\n", b" b%04d\n" % number))
    with visiting(browser, server.address, "/data") as page:
        page.get_by_test_id("stFileUploaderDropzoneInput").wait_for(state="attached")
        page.locator("[data-test-script-state=notRunning]").wait_for()
        begin = time.perf_counter()
        page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([other, qrels])
        page.get_by_text("Your data: 1 run").wait_for()
        seconds = time.perf_counter() - begin
    other.unlink()
    return seconds


def memory(browser, run, qrels, sessions):
    """Megabytes of the server after each session that opened the files, saw every page and left."""
    with serving() as server:
        for _ in range(sessions):
            with visiting(browser, server.address, "/data") as page:
                page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([run, qrels])
                page.get_by_text("Your data: 1 run").wait_for()
                for name in PAGES:
                    switched(page, name)
            yield server.megabytes()


def left_behind(browser, sessions):
    """Megabytes of the server more than after its first visitor, once others saw every page and left, too."""
    with serving() as server:
        figures = []
        for n_visitors in (1, sessions):
            for _ in range(n_visitors):
                with visiting(browser, server.address) as page:
                    for name in PAGES:
                        switched(page, name)
            time.sleep(FORGOTTEN)
            figures.append(server.megabytes())
    return figures[1] - figures[0]


def compared(label, timings_by_page, goal, worst_goal):
    """Rows of what was compared: the median of all pages' ratios, and each page."""
    ratios = [timings.ratios() for timings in timings_by_page.values()]
    seconds, cpu = (statistics.median(column) for column in zip(*ratios, strict=True))
    yield f"{label:44}{'':18}{seconds:9.2f}{goal:9.2f}{cpu:9.2f}"
    for name, timings in timings_by_page.items():
        yield pair(f"  {name}", timings, worst_goal)


def pair(label, timings, goal):
    """A row: both medians in seconds, their ratio, the goal, and the ratio of CPU seconds."""
    ours, bare = (statistics.median(seconds for seconds, _ in pairs) for pairs in timings)
    ratio, cpu = timings.ratios()
    return f"{label:44}{ours:9.3f}{bare:9.3f}{ratio:9.2f}{goal:9.2f}{cpu:9.2f}"


def figure(label, value, goal):
    """A row of a figure that nothing bare is held against."""
    return f"{label:44}{value:9.3f}{'':18}{goal:9.2f}"


def visits(browser, script, opened, data, repeats, goals):
    """Rows of clicks and page switches on some data, in turn with those on a bare app."""
    with (
        serving(*opened) as server,
        serving(script=script) as bare_server,
        visiting(browser, server.address) as page,
        visiting(browser, bare_server.address) as bare_page,
    ):
        ours, bare = Visit(page, server), Visit(bare_page, bare_server)
        for visit in (ours, bare):
            visit.page.locator(PAINTED).first.wait_for()
        click_goals, switch_goals = goals
        yield from compared(f"click to chart, {data}", clicks(ours, bare, repeats), *click_goals)
        yield from compared(f"page switch, {data}", switches(ours, bare, repeats), *switch_goals)


def measured(browser, folder, arguments):
    """Rows of the table."""
    script = folder / "bare.py"
    script.write_text(BARE)
    if "start" in arguments.only:
        yield pair("command to first chart", start(browser, arguments.repeats, script), 1.1)
    if "sample" in arguments.only:
        yield from visits(browser, script, (), "sample", arguments.repeats, ((1.5, 2), (1.7, 2.5)))
    if "idle" in arguments.only:
        yield figure("ten open pages, idle server, % of a core", idle(browser, 30), 1)
    if not {"large", "upload", "memory"} & set(arguments.only):
        return
    run, qrels = files.write(folder, 10_000, 100)
    if "large" in arguments.only:
        opened = (str(run), "--qrels", str(qrels))
        yield from visits(browser, script, opened, "1,000,000 rows", arguments.repeats, ((2, 3), (2, 3)))
    if "upload" in arguments.only:
        with serving() as server:
            seconds = [upload(browser, server, run, qrels, turn) for turn in range(arguments.repeats)]
        yield figure("upload of 1,000,000 rows to leaderboard, s", statistics.median(seconds), 4)
    if "memory" in arguments.only:
        megabytes = list(memory(browser, run, qrels, 5))
        yield figure("server with it, after one session, MB", megabytes[0], 500)
        yield figure("  after five sessions", megabytes[-1], 500)
        yield figure("  more than after the third", megabytes[-1] - megabytes[2], 5)
        yield figure("sample, more after five sessions closed, MB", left_behind(browser, 5), 50)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    arguments = options.parse_args()
    print(f"medians of {arguments.repeats}; load of the machine before: {os.getloadavg()[0]:.1f}")
    print(f"{'what':44}{'ours':>9}{'bare':>9}{'ratio':>9}{'goal':>9}{'CPU':>9}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["TIESCOPE_HOME"] = f"{folder}/home"  # never what a user keeps
        path = find()
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for row in measured(browser, Path(folder), arguments):
            print(row, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
