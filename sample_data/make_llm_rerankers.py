"""Write `llm_rerankers.csv`, the second sample the app offers.

python sample_data/make_llm_rerankers.py
"""

from pathlib import Path

from pyarrow import csv

from metrics.simulation import long_table, notebook_llm_rerankers

TARGET = Path(__file__).parent / "llm_rerankers.csv"


def main() -> None:
    """Draw the notebook's rerankers again and write them as one long table."""
    csv.write_csv(long_table(notebook_llm_rerankers()), TARGET, csv.WriteOptions(quoting_style="needed"))


if __name__ == "__main__":
    main()
