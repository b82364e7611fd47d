"""Have many visitors upload and read at once, in Chromium: python tests/benchmarks/library_soak.py.

Each visitor uploads files of its own and files that others upload too on the Runs page, loads the page again,
and goes back to boards it made before. At the end every upload must be in the library once, no page may have
shown an error, and the server may have logged none. `--postgresql` starts a PostgreSQL server for it.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from playwright.async_api import Error, async_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
import library_writer
import postgresql
from chromium import find
from pages import SETTLED
from servers import TIESCOPE, free_port, running

from dashboard.library.store import Library
from metrics.runs import read

SHARED = 10
"""Files that every visitor uploads."""
PATIENCE = 300_000
"""Milliseconds until a page is given up."""
OPTIONS = ("--no-sandbox", "--disable-gpu", "--renderer-process-limit=4")
AMISS = re.compile(r"library|not kept|cannot be|no longer", re.IGNORECASE)
"""What an alert of the app says where something is amiss with what is kept."""


class Visitor:
    """One session of the app, and what it did and saw."""

    def __init__(self, page, number, tally):
        self.page, self.tally = page, tally
        self.own = count(1000 * (number + 1))
        self.shared = count(number)
        self.boards = []
        page.on("pageerror", lambda error: self.wrong(f"uncaught: {error}"))

    def wrong(self, message):
        self.tally["wrong"].append(message)

    async def visit(self, end):
        """Go on until the time is over."""
        try:
            for turn in count():
                if time.monotonic() > end:
                    return
                await self.upload(next(self.own) if turn % 2 == 0 else next(self.shared) % SHARED)
                await self.page.reload()
                await self.look("reloaded")
                await self.open(self.boards[turn // 2])
        except Error as error:
            self.wrong(f"{self.page.url}: {error}")

    async def open(self, address):
        await self.page.goto(address)
        await self.look("opened")

    async def upload(self, number):
        file, before = library_writer.file(number), self.page.url
        payload = {"name": file.name, "mimeType": "text/csv", "buffer": file.data}
        await self.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(payload)
        await self.page.wait_for_url(lambda url: "data=" in url and url != before, timeout=PATIENCE)
        await self.look("uploaded")
        self.tally["numbers"].add(number)
        self.boards.append(self.page.url)

    async def look(self, action):
        """Wait until the page is drawn, and read what it says is amiss."""
        await self.page.wait_for_function(SETTLED, timeout=PATIENCE)
        self.tally["done"][action] += 1
        if await self.page.get_by_test_id("stException").count():
            self.wrong(await self.page.get_by_test_id("stException").first.inner_text())
        alerts = await self.page.get_by_test_id("stAlert").all_inner_texts()
        for alert in filter(AMISS.search, alerts):
            self.wrong(alert)
        board_text = await self.page.get_by_role("combobox", name="Board").input_value()
        if action != "opened" and "1 run" not in board_text:
            self.wrong(f"{self.page.url} shows {board_text}")


async def visits(address, visitors, seconds):
    """What all visitors did and saw."""
    tally = {"numbers": set(), "wrong": [], "done": Counter()}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find(), args=OPTIONS)
        contexts = [await browser.new_context() for _ in range(visitors)]
        pages = [await context.new_page() for context in contexts]
        for page in pages:
            page.set_default_timeout(PATIENCE)
        everybody = [Visitor(page, at, tally) for at, page in enumerate(pages)]
        for visitor in everybody:
            await visitor.open(f"{address}/runs")
        end = time.monotonic() + seconds
        await asyncio.gather(*(one.visit(end) for one in everybody))
        await browser.close()
    return tally


def missing(library, home, numbers):
    """What is wrong with the uploads: those that are not there, not there once, or not whole."""
    files = {library_writer.file(number).sha256: library_writer.file(number) for number in numbers}
    upload_counts = Counter(one.sha256 for one in library.uploads())
    on_disk = Counter(path.stem for path in (home / "uploads").glob("*/*"))
    if upload_counts != Counter(files.keys()) or on_disk != upload_counts:
        yield f"{len(files)} were uploaded, {upload_counts.total()} are listed, {on_disk.total()} are on disk"
    for sha256 in files.keys() & upload_counts.keys():
        if not library.spec_of([sha256]).entries[0].read().table.equals(read(files[sha256]).table):
            yield f"{files[sha256].name} is not what was uploaded"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--postgresql", action="store_true")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        environment, url = {"TIESCOPE_HOME": str(folder), "TIESCOPE_DATABASE_URL": ""}, None
        if arguments.postgresql:
            url = stack.enter_context(postgresql.serving(postgresql.find())).url("postgres")
            environment["TIESCOPE_DATABASE_URL"] = url
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        command = (*TIESCOPE, "app", "--port", str(port))
        with running(command, f"{address}/_stcore/health", folder, environment):
            tally = asyncio.run(visits(address, arguments.visitors, arguments.seconds))
        library = Library(folder, url)
        wrong = [*tally["wrong"], *missing(library, folder, tally["numbers"])]
        log = (folder / "log").read_text()
        wrong += re.findall(r"Traceback.*(?:\n .*)*\n\S.*", log)
        print(f"{arguments.visitors} visitors, {arguments.seconds} s: {dict(tally['done'])} pages")
        library_counts = f"{len(library.uploads())} uploads and {len(library.boards())} boards kept"
        print(f"{len(tally['numbers'])} different files uploaded, {library_counts}; amiss: {len(wrong)}")
        library.close()
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
