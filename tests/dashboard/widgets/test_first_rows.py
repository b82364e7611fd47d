import pandas as pd

from dashboard.widgets.first_rows import search_rows


def test_a_search_finds_part_of_a_name_in_any_case():
    rows = pd.DataFrame({"tied": [0.3, 0.2, 0.1]}, index=["BM25", "rankgpt", "bm25-plus"])
    assert list(search_rows(rows, "Bm25").index) == ["BM25", "bm25-plus"]
    assert list(search_rows(rows, "").index) == list(rows.index)
