"""What goes wrong around a server: it is killed, its database and its workers too, disk, clock and network."""

import asyncio
import csv
import random
import re
import resource
import subprocess
import sys
import time
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from threading import Event, Thread

import psutil
from files import write
from servers import TIESCOPE, free_port

CLOCK = """
import time
from datetime import datetime
from pathlib import Path
clock, true = Path({file!r}), time.time
time.time = lambda: true() + int(clock.read_text() or 0)
from dashboard.library import schema
class Clock(datetime):
    @classmethod
    def now(cls, zone=None):
        return datetime.fromtimestamp(time.time(), zone)
schema.datetime = Clock
from dashboard.cli import main
main()
"""
"""A server whose clock is off by as many seconds as a file says."""
BACK = 90
"""Seconds; a provider's word is taken from a clock that is off by two minutes at most."""
BYTES_A_SECOND = 100_000
"""Of each connection of a slow network."""
CUT_SHARE = 0.02
"""Of its connections that break before they end."""
RECOVERY = 20
"""Seconds after a misfortune in which visitors may still feel it."""


class Server:
    """`tiescope app` as a process that can be killed and started again, and its log."""

    def __init__(self, folder, port, options, environment):
        self.clock = folder / "clock"
        self.clock.write_text("0")
        code = CLOCK.format(file=str(self.clock))
        self._command = [sys.executable, "-c", code, "app", "--port", str(port), *options]
        self._environment, self._log = environment, (folder / "log").open("ab")
        self.address = f"http://127.0.0.1:{port}"
        self.megabytes = []

    def start(self):
        """Start it; returns when it answers."""
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self._environment
        )
        Thread(target=self._copy_log, args=(self.process.stdout,), daemon=True).start()
        port = int(self.address.rpartition(":")[2])
        while not any(
            one.laddr.port == port for one in psutil.Process(self.process.pid).net_connections("tcp")
        ):
            if self.process.poll() is not None:
                raise SystemExit("The server did not start; its log says why.")
            time.sleep(0.1)

    def _copy_log(self, stream):
        """A pipe is never full of what a full disk cannot take."""
        for line in stream:
            self._log.write(line)
            self._log.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def look(self):
        """Note how much memory it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        self.megabytes.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1000 * 1.024)

    def fill_disk(self, *, is_full):
        """Have the system refuse to let any of its files grow, or no longer."""
        limit = 0 if is_full else resource.RLIM_INFINITY
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


class Misfortunes:
    """One after the other, in turn, until it is calm."""

    def __init__(self, server, database, folder):
        self._server, self._database, self._folder = server, database, folder
        self.times, self.names, self.wrong = [], [], []

    def happen(self, n_seconds):
        """Go through all of them again and again, as long as there is time."""
        end = time.monotonic() + n_seconds
        misfortunes = self._server_dies, self._database_dies, self._disk_fills, self._clock_goes_back
        for misfortune in cycle((*misfortunes, self._worker_dies)):
            time.sleep(random.uniform(2, 6))
            if time.monotonic() > end:
                return
            self._meet(misfortune)

    def _meet(self, misfortune):
        begin = time.monotonic()
        misfortune()
        self.times.append((begin, time.monotonic() + RECOVERY))
        self.names.append(misfortune.__name__.strip("_").replace("_", " "))

    def explain(self, moment):
        """Whether something was wrong at a moment, or just before."""
        return any(begin <= moment <= end for begin, end in self.times)

    def _server_dies(self):
        self._server.kill()
        self._server.start()

    def _database_dies(self):
        self._database.stop("immediate")
        time.sleep(3)
        self._database.start()

    def _disk_fills(self):
        self._server.fill_disk(is_full=True)
        time.sleep(5)
        self._server.fill_disk(is_full=False)

    def _clock_goes_back(self):
        self._server.clock.write_text(str(-BACK))
        time.sleep(8)
        self._server.clock.write_text("0")

    def _worker_dies(self):
        """A command scores on several workers, one is killed, and the values are those of one process."""
        run, qrels = write(self._folder, 20_000, 20)
        command = [sys.executable, *TIESCOPE, "evaluate", str(run), "--qrels", str(qrels), "--format", "csv"]
        expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        process = subprocess.Popen(
            [*command, "--engine", "dask"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        workers = []
        with suppress(psutil.NoSuchProcess):  # who ends before it is killed is none that dies
            while process.poll() is None and not workers:
                children = psutil.Process(process.pid).children(recursive=True)
                workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
                time.sleep(0.1)
            time.sleep(random.uniform(0, 2))
            for worker in workers[:1]:
                worker.kill()
        values, expected_values = _values(process.communicate()[0]), _values(expected)
        if values.keys() != expected_values.keys() or any(
            abs(values[key] - expected_values[key]) > 1e-12 for key in values
        ):
            self.wrong.append("a killed worker changed the values")


def _values(text):
    rows = csv.DictReader(text.splitlines())
    return {(row["measure"], row["ties"]): float(row["value"]) for row in rows}


def slow_network(port):
    """Return the address of a port by which another is reached slowly, by connections that may break."""
    entrance, ready = free_port(), Event()

    async def carry(reader, writer):
        try:
            while data := await reader.read(8192):
                await asyncio.sleep(len(data) / BYTES_A_SECOND)
                if random.random() < CUT_SHARE * len(data) / 65_536:
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def connect(reader, writer):
        try:
            there = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))

    async def serve():
        async with await asyncio.start_server(connect, "127.0.0.1", entrance):
            ready.set()
            await asyncio.Event().wait()

    Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
    ready.wait()
    return f"http://127.0.0.1:{entrance}"
