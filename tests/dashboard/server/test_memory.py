import ctypes
import os
import subprocess
import sys
from types import SimpleNamespace

from dashboard.cli import settle_memory

SERVER = """
import os, sys
from dashboard.cli import main
sys.argv[1:] = ["app", "--help"]
try:
    main()
except SystemExit:
    import pyarrow
    print(pyarrow.default_memory_pool().backend_name, os.environ["NUMPY_MADVISE_HUGEPAGE"])
"""


def test_a_server_takes_all_its_memory_from_the_system():
    chosen = {"ARROW_DEFAULT_MEMORY_POOL", "NUMPY_MADVISE_HUGEPAGE"}
    environment = {name: value for name, value in os.environ.items() if name not in chosen}
    command = [sys.executable, "-c", SERVER]
    said = subprocess.run(command, env=environment, capture_output=True, check=True)  # noqa: S603 our own
    assert said.stdout.split()[-2:] == [b"system", b"0"]


def test_server_threads_share_freed_memory_unless_configured(monkeypatch):
    calls = []
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=lambda *given: calls.append(given)))
    monkeypatch.setattr(os, "environ", {})
    settle_memory()
    assert calls == [(-8, 1), (-3, 2**24), (-1, 2**25)]
    os.environ["MALLOC_ARENA_MAX"] = "4"
    settle_memory()
    assert calls[3:] == [(-3, 2**24), (-1, 2**25)]


def test_a_server_starts_where_no_library_has_no_name_as_on_windows(monkeypatch):
    def load(name):
        raise TypeError(f"argument of type {type(name)} is not iterable")

    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr(os, "environ", {})
    settle_memory()
    assert os.environ["NUMPY_MADVISE_HUGEPAGE"] == "0"


def test_a_server_starts_where_the_allocator_has_no_options(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    monkeypatch.setattr(os, "environ", {})
    settle_memory()
    assert os.environ["NUMPY_MADVISE_HUGEPAGE"] == "0"
