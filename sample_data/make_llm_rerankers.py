"""Write `llm_rerankers.csv`, the data the app opens on.

python sample_data/make_llm_rerankers.py
"""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from metrics.simulation import notebook_llm_rerankers

TARGET = Path(__file__).parent / "llm_rerankers.csv"


def main() -> None:
    """Draw the notebook's rerankers again and write them as one long table."""
    tables = [
        table.add_column(0, "reranker", pa.array([name] * len(table)))
        for name, table in notebook_llm_rerankers().tables.items()
    ]
    table = pa.concat_tables(tables)
    grades = table["relevance"].cast(pa.int8())
    table = table.set_column(table.column_names.index("relevance"), "relevance", grades)
    csv.write_csv(table, TARGET, csv.WriteOptions(quoting_style="needed"))


if __name__ == "__main__":
    main()
