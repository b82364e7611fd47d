"""Servers of a test, each a process of its own on a free port of this machine."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress

import pytest

PATIENCE = 60
TIESCOPE = ("-c", "from dashboard.cli import main; main()")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(arguments, healthy, folder, environment=None):
    """Run Python from when an address answers; what it says goes to a log in the folder."""
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | (environment or {}),
        )
        try:
            _wait_until_healthy(healthy, process, log)
            yield
        finally:
            process.kill()  # it has nothing to lose, and takes seconds to say goodbye
            process.wait()


def _wait_until_healthy(address, process, log):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(address, timeout=PATIENCE):
            return  # a server that starts refuses, or is slow to answer
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)  # asked without a pause, it would lose the processor to the question
    log.seek(0)
    pytest.fail(f"the server did not start:\n{log.read()}")
