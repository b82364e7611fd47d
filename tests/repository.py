"""Where things are, seen from the tests."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "sample_data"
REAL_RUNS = ROOT.parent / "shared" / "data"
LOCKS = [ROOT / "requirements.txt", *sorted((ROOT / "requirements").glob("*.txt"))]
"""Files that pin every package with its hashes."""
