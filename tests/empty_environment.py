"""An environment that holds nothing but pip, and commands that run in it away from the repository."""

import os
import subprocess
import sys

import pytest


def empty_environment(folder):
    """Make one and return its interpreter; skip the test where no package index answers."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    download = [python, "-m", "pip", "download", "--no-deps", "--dest", folder, "hatchling"]
    if subprocess.run(download, check=False, capture_output=True).returncode:
        pytest.skip("no package index answers, and an empty environment needs one")
    return python


def output_of(command, folder, **variables):
    """What a command prints in a folder where nothing leads to the repository."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    ended = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return ended.stdout
