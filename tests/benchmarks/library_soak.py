"""Have people upload, read and share while all around goes wrong: python tests/benchmarks/library_soak.py.

For an hour, or `--minutes` of it, twenty people who signed in each upload files of their own and files that
others upload too, read what they kept, share it and read what others share; a quarter of them over a slow
network whose connections break. For two thirds of the time the server, its PostgreSQL and a worker of Dask are
killed in turn, the disk is full and the clock goes back; then it is calm. At the end every upload that somebody
was told is kept must be in the library once and whole, nothing may have been amiss but by a misfortune, the
server may have logged no traceback, and its memory must be flat in the calm. `--calm` has no misfortunes.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from threading import Thread

import httpx
import websockets

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
import chaos
import library_writer
import postgresql
from gated import prepare, provider
from libraries import stored
from raw_client import Client
from servers import free_port

from dashboard.library.store import Library
from metrics.runs import read

SHARED_FILES = 10
"""Files that every visitor uploads."""
PATIENCE = 120
"""Seconds until an answer is given up."""
FLAT = 1.15
"""The last quarter's memory at most, beside that of the second quarter of the calm."""
TRIES = 5
"""How often somebody signs in before giving up: the clock may go back meanwhile."""
SLOW_SHARE = 4
"""Of so many visitors one has a slow network."""
BROKEN = (OSError, httpx.HTTPError, websockets.exceptions.WebSocketException)
"""What a visitor sees of a server or network that is gone."""
GATE = "Sign in to TieScope"
KEPT, BY_LINK, SHARED = (
    "The link opens the board",
    "Anyone with the link can read the board",
    "Shared with you. You can read this board",
)
ALERTS = re.compile(
    r"[^\n]*(?:library|not kept|cannot be|no longer|in memory only|Traceback)[^\n]*", re.IGNORECASE
)
"""What the app writes where something is amiss with what is kept."""


class Tally:
    """What all visitors did and saw."""

    def __init__(self):
        self.done, self.uploads = Counter(), defaultdict(set)
        self.shared_boards, self.amiss = [], []


class Visitor:
    """Somebody who comes again and again; over a slow network, connections are expected to break."""

    def __init__(self, number, client, tally):
        self.person, self.client, self.tally = f"person{number}", client, tally
        self.own, self.shared = count(1000 * (number + 1)), count(number)
        self.boards = []

    def visit(self, calm, end):
        """Go on until the time is over; in the calm with files that are known, so that no cache grows."""
        for turn in count():
            if time.monotonic() > end:
                return
            try:
                is_new = turn % 2 == 0 and time.monotonic() < calm
                self.upload(next(self.own) if is_new else next(self.shared) % SHARED_FILES)
                self.read()
            except Exception as error:  # noqa: BLE001 whatever it is, it is told at the end
                is_expected = isinstance(error, BROKEN) and self.client.via != self.client.server
                self.tally.done["broken off"] += 1
                if not is_expected:
                    self.note(f"{type(error).__name__}: {error}")
                time.sleep(1)

    def note(self, message):
        self.tally.amiss.append((time.monotonic(), f"{self.person}: {message}"))

    @contextmanager
    def page(self, query=""):
        """The Data page, once signed in."""
        for _ in range(TRIES):
            with self.client.page(query, "data") as page:
                if GATE not in page.text:
                    yield page
                    return
            self.client.sign_in(self.person)
            self.tally.done["signed in"] += 1
        self.note(f"signed in {TRIES} times, and not in")

    def upload(self, number):
        """Keep a file, and share one in three."""
        with self.page() as page:
            file = library_writer.file(number)
            page.drop(file.name, file.data)
            if KEPT not in page.text:
                self.tally.done["refused"] += 1
                self.note(f"{file.name} is not stored: {alerts(page)}")
                return
            self.tally.uploads[f"{self.person}@example.org"].add(number)
            self.tally.done["uploaded"] += 1
            self.boards.append(page.board)
            if number % 3 == 0:
                page.choose("Access", BY_LINK)
                if ALERTS.search(page.text):
                    self.note(f"{page.query} is not shared: {alerts(page)}")
                    return
                self.tally.shared_boards.append(page.board)
                self.tally.done["shared"] += 1

    def read(self):
        """Look at a board of one's own, and at one that somebody shares."""
        for boards in filter(None, (self.boards, self.tally.shared_boards)):
            with self.page(f"data={random.choice(boards)}") as page:
                self.tally.done["read"] += 1
                if KEPT not in page.text and SHARED not in page.text:
                    self.note(f"{page.query} is not shown: {alerts(page)}")


def alerts(page):
    """What a page says is amiss."""
    return ALERTS.findall(page.text)[:3] or page.text[-200:]


def visit_until(calm, end, server, slow_address, n_visitors):
    """Have all visitors come, each in a thread; returns these and what they saw."""
    tally, threads = Tally(), []
    for number in range(n_visitors):
        via = slow_address if number % SLOW_SHARE == 0 else None
        visitor = Visitor(number, Client(server.address, via, PATIENCE), tally)
        threads.append(Thread(target=visitor.visit, args=(calm, end), daemon=True))
        threads[-1].start()
    return threads, tally


def missing(library, uploads):
    """What is wrong with the uploads: one that was acknowledged is not there once, or is not whole."""
    on_boards = set()
    for owner in sorted(uploads):
        listed = Counter(upload.sha256 for upload in library.uploads(owner))
        on_boards |= listed.keys()
        for number in uploads[owner]:
            file = library_writer.file(number)
            if listed[file.sha256] != 1:
                yield f"{owner}: {file.name} was acknowledged and is listed {listed[file.sha256]} times"
            elif not library.spec_of([file.sha256], owner).entries[0].read().table.equals(read(file).table):
                yield f"{owner}: {file.name} is not what was uploaded"
    if set(stored(library)) != on_boards:
        yield f"{len(on_boards)} uploads are on boards, {len(stored(library))} are stored"


def growth(samples):
    """Memory in the second and in the last quarter of the calm, in MB: their medians."""
    quarter = len(samples) // 4
    return median(samples[quarter : 2 * quarter]), median(samples[-quarter:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--calm", action="store_true")
    arguments = parser.parse_args()
    seconds = 60 * arguments.minutes
    people = [f"person{number}" for number in range(arguments.visitors)]
    claims = [{"sub": who, "email": f"{who}@example.org", "email_verified": True} for who in people]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "provider").mkdir()
        database = stack.enter_context(postgresql.serving(postgresql.find(), is_durable=True))
        metadata = stack.enter_context(provider(folder / "provider", claims))
        port, url = free_port(), database.url("postgres")
        environment = (
            os.environ | prepare(folder, f"http://127.0.0.1:{port}", metadata) | {"TIESCOPE_DATABASE_URL": url}
        )
        options = ["--allow", "example.org", "--audit-log", str(folder / "audit.jsonl")]
        server = chaos.Server(folder, port, options, environment)
        server.start()
        stack.callback(server.kill)
        slow_address = chaos.slow_network(port)
        begin = time.monotonic()
        threads, tally = visit_until(
            begin + seconds * 2 / 3, begin + seconds, server, slow_address, arguments.visitors
        )
        misfortunes = chaos.Misfortunes(server, database, folder)
        if not arguments.calm:
            misfortunes.happen(seconds * 2 / 3)
        while any(thread.is_alive() for thread in threads):
            server.look()
            time.sleep(1)
        library = Library(folder / "home", url)
        log = re.sub(r"\x1b\[[0-9;]*m", "", (folder / "log").read_text())
        wrong = [message for moment, message in tally.amiss if not misfortunes.explain(moment)]
        wrong += [*misfortunes.wrong, *missing(library, tally.uploads)]
        wrong += re.findall(r"Traceback.*(?:\n .*|\n)*\n\S.*", log)
        library.close()
        before, after = growth(server.megabytes)
        n_uploads = sum(map(len, tally.uploads.values()))
        n_events = len((folder / "audit.jsonl").read_text().splitlines())
        if after > FLAT * before:
            wrong.append(f"memory is not flat: {before:,.0f} MB, then {after:,.0f} MB")
    print(f"{arguments.visitors} visitors, {time.monotonic() - begin:,.0f} s: {dict(tally.done)}")
    print(f"misfortunes: {dict(Counter(misfortunes.names))}; {len(tally.amiss)} times felt by a visitor")
    print(
        f"{n_uploads} uploads acknowledged, {n_events} events audited; memory {before:,.0f} → {after:,.0f} MB"
    )
    print(f"amiss: {len(wrong)}", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
