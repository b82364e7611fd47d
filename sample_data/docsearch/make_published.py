"""Write `leaderboard.csv`, the docstring search as an example with mistakes: ties as the file lists them."""

from pathlib import Path

from metrics import evaluate, read_table
from metrics.studies.audit.published_table import MEASURES, example_table

FOLDER = Path(__file__).parent


def main() -> None:
    """Score the lists as the file orders them, and write the means with four digits."""
    evaluation = evaluate(read_table(FOLDER / "docsearch.parquet"), MEASURES, "input")
    (FOLDER / "leaderboard.csv").write_text(example_table(evaluation), encoding="utf-8")


if __name__ == "__main__":
    main()
