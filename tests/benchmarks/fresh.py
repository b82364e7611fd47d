"""Processes that have done nothing yet, and what a piece of work costs them."""

import os
import resource
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

_WATCHED = """
import time
{setup}
begin, wall = time.process_time(), time.perf_counter()
{work}
cpu, wall = time.process_time() - begin, time.perf_counter() - wall
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
import sys
print(cpu, wall, peak / 1024, file=sys.stderr)
"""


class Cost(NamedTuple):
    """Seconds of CPU and of the clock, and the most megabytes of the process."""

    cpu: float
    wall: float
    megabytes: float


def environment():
    """That of a user: modules are compiled once, not each time."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def first_call(setup, work):
    """Cost of a piece of work in a process that has done nothing but the setup."""
    code = _WATCHED.format(setup=setup, work=work)
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    return Cost(*map(float, ended.stderr.splitlines()[-1].split()))


def cpu_seconds(work):
    """Seconds of CPU that a piece of work takes in this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def whole_process(code, *arguments):
    """Seconds of CPU of a process from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(measures, repeats):
    """Medians of what several functions return, called in turn after one round that is not counted."""
    for measure in measures:
        measure()
    rounds = [[measure() for measure in measures] for _ in range(repeats)]
    return [_median(column) for column in zip(*rounds, strict=True)]


def _median(figures):
    if isinstance(figures[0], Cost):
        return Cost(*map(statistics.median, zip(*figures, strict=True)))
    return statistics.median(figures)
