"""Find a Chromium for the browser tests, or get one: `python tests/browser/chromium.py`.

Looks on PATH and for one that Playwright fetched before. Where there is none, asks Debian's packages
(as root), then Playwright's own download.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    """Path of a Chromium or Chrome, None where there is none."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def get() -> None:
    """Install one; whether it worked, `find` tells."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(
                ["apt-get", "-qq", *command], env=environment, check=False, stdout=subprocess.DEVNULL
            )
    if find() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def main() -> int:
    if find() is None:
        print("No Chromium or Chrome on PATH; getting one ...", flush=True)
        get()
    if path := find():
        print(f"Browser tests use {path}")
        return 0
    print(
        "The browser tests need Chromium and could not get it. Install chromium or google-chrome so that it "
        "is on PATH (Debian: apt install chromium), or run: python -m playwright install --with-deps chromium",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
