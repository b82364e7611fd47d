"""Find a PostgreSQL server for the tests, or get one: `python tests/postgresql.py`.

Looks on PATH and where Debian puts it. Where there is none, asks Debian's packages (as root). Nothing is
left running: the tests start a server of their own, in a folder that goes with it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ACCOUNT = "postgres"
"""Who a server runs as where we are root, which PostgreSQL refuses."""
_DEBIAN = Path("/usr/lib/postgresql")
_NEEDED = ("initdb", "pg_ctl", "postgres")
_NO_SERVICE = Path("/etc/postgresql-common/createcluster.d/tiescope-tests.conf")
_QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_wal_size=256MB"


def find() -> Path | None:
    """Folder of the programs of a PostgreSQL server, the newest; None where there is none."""
    newest = sorted(_DEBIAN.glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    on_path = shutil.which("pg_ctl")
    folders = [*([Path(on_path).resolve().parent] if on_path else []), *newest]
    return next((one for one in folders if all((one / name).exists() for name in _NEEDED)), None)


def get() -> None:
    """Install one; whether it worked, `find` tells."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    _NO_SERVICE.parent.mkdir(parents=True, exist_ok=True)
    _NO_SERVICE.write_text("create_main_cluster = false\n")
    for command in (["update"], ["install", "-y", "--no-install-recommends", "postgresql"]):
        subprocess.run(["apt-get", "-qq", *command], env=environment, check=False, stdout=subprocess.DEVNULL)
    _NO_SERVICE.unlink()


class Server:
    """A PostgreSQL server of its own, reached by a socket in its folder."""

    def __init__(self, programs: Path, folder: Path, *, is_durable: bool = False) -> None:
        self._programs, self._folder = programs, folder
        self._options = "" if is_durable else _QUICK
        self._user = ACCOUNT if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(folder, self._user)
        self._run("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "-U", ACCOUNT)

    def url(self, database: str) -> str:
        """Address of one of its databases."""
        return f"postgresql://{ACCOUNT}@/{database}?host={self._folder}"

    def start(self) -> None:
        """Start it; returns when it answers."""
        options = f"-k {self._folder} -c listen_addresses='' {self._options}"
        self._run("pg_ctl", "start", "--wait", "--silent", f"--log={self._folder / 'log'}", "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """End its processes, and whatever its visitors do; `immediate` is as if they were killed."""
        self._run("pg_ctl", "stop", "--wait", "--silent", f"--mode={mode}")

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._programs / program, f"--pgdata={self._folder / 'data'}", *arguments]
        log = self._folder / "commands"
        with log.open("w") as stream:
            finished = subprocess.run(
                command, user=self._user, cwd=self._folder, stdout=stream, stderr=stream, check=False
            )
        if finished.returncode:
            raise OSError(f"{program} failed: {log.read_text()}")


@contextmanager
def serving(programs: Path, *, is_durable: bool = False) -> Iterator[Server]:
    """A server of no data in a new folder; both are gone at the end. Killed, a durable one loses nothing."""
    folder = Path(tempfile.mkdtemp(prefix="tiescope-", dir="/tmp"))  # a socket's path must be short
    try:
        server = Server(programs, folder, is_durable=is_durable)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    if find() is None:
        print("No PostgreSQL server on PATH; getting one ...", flush=True)
        get()
    if path := find():
        print(f"Tests of the library use {path}")
        return 0
    print(
        "The tests of the library need a PostgreSQL server and could not get it. Install one so that pg_ctl "
        "is on PATH (Debian: apt install postgresql).",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
