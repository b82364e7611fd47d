"""The command `tiescope`."""

import os
import sys
from pathlib import Path

from tiescope import ROOT

_PACKAGES = ("metrics", "dashboard")


def main() -> None:
    """Run `tiescope`; a folder with a `metrics.py` of its own is searched last, and not by child processes."""
    sys.path.sort(key=_hides_ours)
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(folder for folder in folders if not _hides_ours(folder))
    from dashboard.cli import main as run  # noqa: PLC0415 the path is put in order first

    run()


def _hides_ours(entry: str) -> bool:
    """Tell whether a folder on Python's path has a module or package with the name of one of ours."""
    folder = Path(entry)
    files = [folder / name for package in _PACKAGES for name in (f"{package}.py", f"{package}/__init__.py")]
    return any(file.is_file() for file in files) and not folder.samefile(ROOT)


if __name__ == "__main__":
    main()
